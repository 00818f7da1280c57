"""Attention of any torch module: its own output, and a trace of all that attends in it."""

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from models.engine.trace import Scope, Trace, record

# One call of PyTorch's attention, computed again step by step.

# How far a sum may lie from another of the same numbers in another order, as a share of the largest.
ROUNDING = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}


@dataclass(frozen=True)
class Call:
    """What `scaled_dot_product_attention` is given, by its own names."""

    query: Tensor
    key: Tensor
    value: Tensor
    attn_mask: Tensor | None = None
    dropout_p: float = 0.0
    is_causal: bool = False
    scale: float | None = None
    enable_gqa: bool = False

    def check(self, place: str) -> None:
        """Raises ValueError where no trace can hold this call."""
        if any(tensor.is_nested for tensor in (self.query, self.key, self.value)):
            raise ValueError(
                f"{place} attends in nested tensors, which have no matrix of queries and keys; "
                "pad the input, or pass one sequence"
            )
        if self.dropout_p:
            raise ValueError(
                f"{place} drops weights with dropout_p={self.dropout_p:g}, so no two passes are alike; "
                "call module.eval(), or pass 0 for it"
            )
        batch = max(math.prod(tensor.shape[:-3]) for tensor in (self.query, self.key, self.value))
        if batch != 1:
            raise ValueError(
                f"{place} attends with a batch of {batch}, but a trace holds one prompt; "
                "pass inputs with a batch of 1, like x[i : i + 1]"
            )

    def record(self, trace: Trace, place: str, ran: Tensor) -> None:
        """Records q, k, v, scores, pattern and z; raises ValueError if that z is not what ran.

        Tensors of two axes are one head, those of three [head, position, d_head]. Where query heads share
        keys (grouped queries), k and v have fewer heads than q, each for as many neighbouring ones.
        """
        scope = Scope(trace, place)
        for name, tensor in (("q", self.query), ("k", self.key), ("v", self.value)):
            record(scope, name, _kept(tensor))
        q, k, v = (_precise(_one_prompt(tensor)) for tensor in (self.query, self.key, self.value))
        k, v = _for_each(k, q.shape[1]), _for_each(v, q.shape[1])
        scale = 1 / math.sqrt(q.shape[-1]) if self.scale is None else self.scale
        scores = record(scope, "scores", self._masked((q * scale) @ k.mT))  # [1, head, query, key]
        pattern = record(scope, "pattern", _softmax(scores))
        z = pattern @ v  # [1, head, query, d_head]
        if not near(z, ran.reshape(z.shape)):
            raise ValueError(
                f"{place} gave another result than softmax(scores) v, so its pattern is not known; "
                "please tell us how it attends"
            )
        record(scope, "z", _kept(ran))

    def _masked(self, scores: Tensor) -> Tensor:
        if self.is_causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
            scores = scores.masked_fill(later, -torch.inf)
        if self.attn_mask is None:
            return scores
        mask = self.attn_mask
        mask = mask.reshape(-1, *mask.shape[-2:]) if mask.dim() > 2 else mask  # [1 or head, query, key]
        return scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask


def near(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors of one shape are equal but for rounding; NaN equals NaN."""
    if not (first.is_floating_point() and second.is_floating_point()):
        return torch.equal(first, second)
    coarser = first if first.element_size() < second.element_size() else second
    share = ROUNDING.get(coarser.dtype, 0.0)
    first, second = _precise(first), _precise(second)
    finite = second[second.isfinite()]
    reach = float(finite.abs().max()) if finite.numel() else 0.0
    return torch.allclose(first.to(second.dtype), second, rtol=0, atol=share * reach, equal_nan=True)


def _one_prompt(tensor: Tensor) -> Tensor:
    """[..., position, channel] as [1, head, position, channel]."""
    return tensor.reshape(1, -1, *tensor.shape[-2:])


def _kept(tensor: Tensor) -> Tensor:
    """A copy, for the module may go on and change its own in place."""
    return _one_prompt(tensor.detach()).clone()


def _for_each(shared: Tensor, n_heads: int) -> Tensor:
    return shared.repeat_interleave(n_heads // shared.shape[1], dim=1)


def _precise(tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def _softmax(scores: Tensor) -> Tensor:
    """Softmax over keys; zeros, not NaN, where a row is all -inf."""
    empty = scores.isneginf().all(dim=-1, keepdim=True)
    return scores.masked_fill(empty, 0.0).softmax(dim=-1).masked_fill(empty, 0.0)


# Where in a module an attention happens, as an address begins.

STACKS = {"encoder": nn.TransformerEncoderLayer, "decoder": nn.TransformerDecoderLayer}
KINDS = {"self_attn": "self", "multihead_attn": "cross"}
NUMBERED = re.compile(r"(?P<before>.*?)(?P<layer>\d+)")


class Places:
    """Knows which part of a module is being computed while `following` is open.

    The attentions of torch's own layers are at `encoder.0.self` or `decoder.0.cross`, as in our models, where
    the module holds one stack of them, or one layer alone. Any other is at the path of the part that computes
    it, like `blocks.3.attn`, or at `attention` for the module itself. A second attention at the same place is
    at `blocks.3.attn.2`, a third at `blocks.3.attn.3`.
    """

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._known = _known_places(module)
        self._open: list[str] = []
        self._taken: Counter[str] = Counter()

    @contextmanager
    def following(self) -> Iterator[None]:
        """Hooks that tell when each part begins and ends; they are taken away again, whatever happens."""
        handles = []
        try:
            for path, part in _parts(self._module):
                handles.append(part.register_forward_pre_hook(self._entering(path)))
                handles.append(part.register_forward_hook(self._leaving))
            yield
        finally:
            for handle in handles:
                handle.remove()
            self._open.clear()

    @property
    def here(self) -> str:
        """The path of the part that is being computed; "" for the module itself."""
        return self._open[-1] if self._open else ""

    def take(self) -> str:
        """The address of the next attention at the present place."""
        path = self.here
        place = self._known.get(path, path or "attention")
        self._taken[place] += 1
        times = self._taken[place]
        return place if times == 1 else f"{place}.{times}"

    def _entering(self, path: str) -> Callable[[nn.Module, Any], None]:
        def enter(_module: nn.Module, _inputs: Any) -> None:
            self._open.append(path)

        return enter

    def _leaving(self, _module: nn.Module, _inputs: Any, _output: Any) -> None:
        self._open.pop()


def _parts(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """All parts by their paths, without the name of what torch.compile puts around them."""
    for path, part in module.named_modules():
        yield ".".join(name for name in path.split(".") if name != "_orig_mod"), part


def _known_places(module: nn.Module) -> dict[str, str]:
    """Path of an attention in torch's own layers -> its address; those of stacks that are there once."""
    found: dict[str, str] = {}
    for stack, layer_type in STACKS.items():
        paths = [path for path, part in _parts(module) if isinstance(part, layer_type)]
        for path, number in _numbers(paths).items():
            for attribute, kind in KINDS.items():
                found[f"{path}.{attribute}".removeprefix(".")] = f"{stack}.{number}.{kind}"
    return found


def _numbers(paths: list[str]) -> dict[str, str]:
    """The number of each layer, if they are one stack or one layer; else nothing."""
    matches = {path: NUMBERED.fullmatch(path) for path in paths}
    numbers = {path: match["layer"] for path, match in matches.items() if match}
    if len(numbers) == len(paths) and len({match["before"] for match in matches.values() if match}) == 1:
        return numbers
    return {paths[0]: "0"} if len(paths) == 1 else {}


# A mode that sees every attention which PyTorch computes while it is open, and records it.

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
        record(Scope(self._trace, place), "out", _one_prompt_watching(ran[0]))
        return ran


def _one_prompt_watching(out: Tensor) -> Tensor:
    """[query, 1, d_model] or [query, d_model] as [1, query, d_model]."""
    return out.detach().reshape(1, out.shape[0], out.shape[-1]).clone()


_NAMED = 4
"""Parts that a sentence names; of more, it says how many."""


def capture(module: nn.Module, *inputs: Any, **keywords: Any) -> tuple[Any, Trace]:
    """`module(*inputs, **keywords)` as it is, and a trace of every attention in it.

    Seen is what nn.MultiheadAttention, nn.Transformer and its layers, and F.scaled_dot_product_attention
    compute: q, k, v, scores, pattern and z, with `out` of multi-head attention. Torch's own layers have our
    addresses (`encoder.0.self.pattern`, `decoder.1.cross.q`), all others begin with the path of the part
    that computes them (`blocks.3.attn.pattern`; `attention.pattern` for the module itself; a second one
    there is `blocks.3.attn.2.pattern`). Where query heads share keys, k and v have fewer heads than q.
    Tensors of three axes are read as [head, position, d_head], of two as one head.

    What is written out, a softmax and then a matrix product, is not seen, as in XCiT, whose channels attend:
    a warning names the parts that do so, and `trace.notes` keeps its sentence.

    The module runs twice: first as it is, and that output is returned; then watched, without gradients,
    compiler and fast paths, from the same random state and buffers. Both outputs must be equal but for
    rounding. Raises ValueError where they are not, for a batch of more than one, for dropout in training,
    for nested tensors, for scripted modules, and where nothing attends.
    """
    _check_module(module)
    _check_dropout(module)
    buffers = {name: buffer.detach().clone() for name, buffer in module.named_buffers()}
    random = torch.random.get_rng_state()
    own = module(*inputs, **keywords)
    trace, places = Trace(), Places(module)
    with torch.random.fork_rng(), torch.no_grad(), _as_written(module), places.following():
        torch.random.set_rng_state(random)
        with Watching(trace, places) as watching:
            watched = functional_call(module, buffers, inputs, keywords)
    unheard = [path or type(module).__name__ for path in watching.unheard]
    _check_seen(module, trace, unheard)
    _check_alike(module, own, watched)
    if unheard:
        trace.notes.append(
            f"this trace lacks what is weighed by a softmax in {_listed(unheard)}, outside of PyTorch's "
            "attention; if that attends from token to token, let it call F.scaled_dot_product_attention"
        )
        warnings.warn(trace.notes[-1], stacklevel=2)
    return own, trace


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _NAMED} more parts" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more


def _check_module(module: nn.Module) -> None:
    if not isinstance(module, nn.Module):
        raise ValueError(
            f"{type(module).__name__} is no torch.nn.Module, so its parts cannot be told apart; "
            "make it the forward of one"
        )
    for part in module.modules():
        if isinstance(part, torch.jit.ScriptModule | nn.DataParallel):
            raise ValueError(
                f"{type(part).__name__} runs what cannot be watched; pass the module that it was made from"
            )


def _check_dropout(module: nn.Module) -> None:
    for path, part in module.named_modules():
        share = getattr(part, "dropout" if isinstance(part, nn.MultiheadAttention) else "p", 0.0)
        drops = isinstance(part, nn.MultiheadAttention | nn.modules.dropout._DropoutNd)
        if drops and part.training and share > 0:
            raise ValueError(
                f"{path or type(part).__name__} is in training with a dropout of {share:g}, so no two passes "
                "are alike; call module.eval() first"
            )


def _check_seen(module: nn.Module, trace: Trace, unheard: list[str]) -> None:
    if not trace.keys():
        by_hand = f" (a softmax of its own weighs in {_listed(unheard)})" if unheard else ""
        raise ValueError(
            f"{type(module).__name__} called neither nn.MultiheadAttention nor scaled_dot_product_attention, "
            f"so no attention was seen{by_hand}; let its attention call F.scaled_dot_product_attention "
            '(models of transformers do with attn_implementation="sdpa")'
        )


def _check_alike(module: nn.Module, own: Any, watched: Any) -> None:
    """Raises ValueError unless all tensors of both outputs are equal but for rounding."""
    firsts, seconds = tree_leaves(own), tree_leaves(watched)
    padded = any(
        isinstance(part, nn.TransformerEncoder) and part.use_nested_tensor for part in module.modules()
    )
    if len(firsts) != len(seconds) or not all(map(partial(_alike, padded), firsts, seconds)):
        raise ValueError(
            "the module's output was another when it was watched, so the trace may not be of what ran; if it "
            "keeps something from call to call, pass a fresh cache, or none; if it pads, pass all its masks"
        )


def _alike(padded: bool, own: Any, watched: Any) -> bool:
    if not isinstance(own, Tensor):
        return True
    if not isinstance(watched, Tensor) or own.is_nested or own.shape != watched.shape:
        return False
    own = own.detach()
    if padded and own.dim() > 1:
        # The fast path of nn.TransformerEncoder leaves padded positions out and writes zeros there.
        watched = watched.masked_fill((own == 0).all(dim=-1, keepdim=True), 0)
    return near(own, watched)


@contextmanager
def _as_written(module: nn.Module) -> Iterator[None]:
    """Each part runs as its code says: on no fast path of torch's layers, and not compiled."""
    parts = list(module.modules())
    compiled = any(hasattr(part, "_orig_mod") or part._compiled_call_impl is not None for part in parts)
    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.compiler.set_stance("force_eager") if compiled else nullcontext():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)
