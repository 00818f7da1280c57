"""A mode that sees every attention which PyTorch computes while it is open, and records it."""

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from models.engine.capture.attention import Call
from models.engine.capture.places import Places
from models.engine.trace import Scope, Trace, record

SDPA = F.scaled_dot_product_attention
# What torch's layers call instead, where nobody looks: all in one, without anything to see in between.
PRODUCTS = {"matmul", "__matmul__", "__rmatmul__", "bmm", "baddbmm", "mm", "addmm", "einsum", "tensordot"}
FAST_PATHS = {torch._native_multi_head_attention, torch._transformer_encoder_layer_fwd}
# The body of this function, which calls SDPA where no weights are asked for, but does not hand itself over
# to a mode first: a copy with a name of its own for that question, so that nothing of PyTorch is changed.
_IN_THE_OPEN = FunctionType(
    F.multi_head_attention_forward.__code__,
    {**F.__dict__, "has_torch_function": lambda _tensors: False},
    argdefs=F.multi_head_attention_forward.__defaults__,
)


class Watching(TorchFunctionMode):
    """Records into `trace` what attends, at the address that `places` gives; results stay what they are.

    unheard: the paths of the parts in which weights of a softmax went into a matrix product without PyTorch's
    attention, so that no trace has them: attention that is written out, also over channels or clusters.
    """

    def __init__(self, trace: Trace, places: Places) -> None:
        super().__init__()
        self._trace = trace
        self._places = places
        self._place: str | None = None  # while a multi-head attention shows its inner call
        self._weights = WeakIdKeyDictionary()  # what a softmax gave, also once dropped out, cast or reshaped
        self.unheard: dict[str, None] = {}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = dict(kwargs or {})
        if func in FAST_PATHS:
            raise ValueError(
                f"the module calls torch.{func.__name__} by itself, which shows no pattern; "
                "call nn.MultiheadAttention or scaled_dot_product_attention"
            )
        if func is F.multi_head_attention_forward:
            return self._multi_head(args, named)
        if func is SDPA:
            return self._attend(args, named)
        made = func(*args, **named)
        self._follow(getattr(func, "__name__", ""), tree_leaves((args, named)), made)
        return made

    def _follow(self, name: str, given: list[Any], made: Any) -> None:
        """Notes where weights of a softmax are made, and where they weigh something in a matrix product."""
        weights = [each for each in given if isinstance(each, Tensor) and each in self._weights]
        if weights and name in PRODUCTS:
            self.unheard[self._places.here] = None
        elif isinstance(made, Tensor) and (
            ("softmax" in name and "log" not in name) or any(made.numel() == each.numel() for each in weights)
        ):
            self._weights[made] = True

    def _attend(self, args: tuple[Any, ...], named: dict[str, Any]) -> Tensor:
        place = self._place or self._places.take()
        call = Call(*args, **named)
        call.check(place)
        ran = SDPA(*args, **named)
        call.record(self._trace, place, ran)
        return ran

    def _multi_head(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Lets it run as it is; then once more without weights, where its q, k, v and mask come by."""
        self._place = self._places.take()
        try:
            with self:
                _IN_THE_OPEN(*args, **{**named, "need_weights": False})
        finally:
            place, self._place = self._place, None
        ran = F.multi_head_attention_forward(*args, **named)
        record(Scope(self._trace, place), "out", _one_prompt(ran[0]))
        return ran


def _one_prompt(out: Tensor) -> Tensor:
    """[query, 1, d_model] or [query, d_model] as [1, query, d_model]."""
    return out.detach().reshape(1, out.shape[0], out.shape[-1]).clone()
