"""Attention of any torch module: its own output, and a trace of all that attends in it."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from .trace import Scope, Trace, record

Editing = Callable[[str, Tensor], Tensor]

# One call of PyTorch's attention, computed again step by step.

# How far a sum may lie from another of the same numbers in another order, as a share of the largest.
ROUNDING = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}


@dataclass(frozen=True)
class DotProducts:
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

    def record(self, trace: Trace, place: str, ran: Tensor) -> Tensor:
        """Records q, k, v, scores, pattern and z, and returns the z that goes on: what ran, or what an edit
        makes of it. Raises ValueError if that z is not what ran without edits.

        Tensors of two axes are one head, those of three [head, position, d_head]. Where query heads share
        keys (grouped queries), k and v have fewer heads than q, each for as many neighbouring ones.
        """
        scope = Scope(trace, place)
        given = (("q", self.query), ("k", self.key), ("v", self.value))
        q, k, v = (_precise(record(scope, name, _kept(tensor))) for name, tensor in given)
        k, v = (shared.repeat_interleave(q.shape[1] // shared.shape[1], dim=1) for shared in (k, v))
        scale = 1 / math.sqrt(q.shape[-1]) if self.scale is None else self.scale
        scores = record(scope, "scores", self._masked((q * scale) @ k.mT))  # [1, head, query, key]
        pattern = record(scope, "pattern", _softmax(scores))
        z = pattern @ v  # [1, head, query, d_head]
        if trace.edits:
            return record(scope, "z", z.to(ran)).reshape(ran.shape)
        _check_same(place, z, ran.reshape(z.shape))
        record(scope, "z", _kept(ran))
        return ran

    def _masked(self, scores: Tensor) -> Tensor:
        if self.is_causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
            scores = scores.masked_fill(later, -torch.inf)
        if self.attn_mask is None:
            return scores
        mask = self.attn_mask
        mask = mask.reshape(-1, *mask.shape[-2:]) if mask.dim() > 2 else mask  # [1 or head, query, key]
        return scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask


def _check_same(place: str, computed: Tensor, ran: Tensor) -> None:
    if not near(computed, ran):
        raise ValueError(
            f"{place} gave another result than softmax(scores) v, so its pattern is not known; "
            "please tell us how it attends"
        )


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


def leaves(value: Any) -> Iterator[Any]:
    """All that is in tuples, lists, dicts and dataclasses, however deep: tensors, and what else there is."""
    if isinstance(value, Mapping):
        parts = list(value.values())
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, tuple | list):
        parts = list(value)
    else:
        yield value
        return
    for part in parts:
        yield from leaves(part)


def _kept(tensor: Tensor) -> Tensor:
    """A copy [1, head, position, channel], for the module may go on and change its own in place."""
    return tensor.detach().reshape(1, -1, *tensor.shape[-2:]).clone()


def _precise(tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def _softmax(scores: Tensor) -> Tensor:
    """Softmax over keys; zeros, not NaN, where a row is all -inf."""
    empty = scores.isneginf().all(dim=-1, keepdim=True)
    return scores.masked_fill(empty, 0.0).softmax(dim=-1).masked_fill(empty, 0.0)


# One pass, observed: the one mechanism beneath every recorder.


@dataclass(eq=False)
class OpenCall:
    """A call of a module that is being computed, and how many sums and products were counted in it. guard:
    says whether functions are seen in it, and is left with it.
    """

    module: nn.Module
    guard: Any
    n_sums: int = 0
    n_products: int = 0


SEEN: Any = torch._C._EnableTorchFunction
UNSEEN: Any = torch._C.DisableTorchFunction
"""Within these, an observer sees the functions that are called, or passes them by, which is quicker."""
_OBSERVER: ContextVar[Observer | None] = ContextVar("observer", default=None)


class Observer(TorchFunctionMode):
    """Sees one pass in this thread: which calls of modules are open, innermost last, and what they compute.

    A subclass says what becomes of a module that is entered or left, and of a function that is called.
    """

    def __init__(self) -> None:
        super().__init__()
        self.open: list[OpenCall] = []

    @staticmethod
    def here() -> Observer | None:
        """Whoever observes what this thread computes now."""
        return _OBSERVER.get()

    @contextmanager
    def observing(self, modules: Iterable[nn.Module]) -> Iterator[None]:
        """Within it, one pass is observed; other threads may call the same modules meanwhile."""
        token = _OBSERVER.set(self)
        try:
            with ExitStack() as hooks:
                for module in {id(module): module for module in modules}.values():
                    hooks.callback(module.register_forward_pre_hook(self._enter, with_kwargs=True).remove)
                    hooks.callback(module.register_forward_hook(self._leave, with_kwargs=True).remove)
                with self:
                    yield
        finally:
            self._close(None)
            _OBSERVER.reset(token)

    def watches(self, module: nn.Module) -> bool:
        """Says whether the observer follows the functions that this module calls itself."""
        return True

    def _close(self, module: nn.Module | None) -> None:
        """Leaves the call of a module, and those inside of it that an error ended; all for None."""
        while self.open:
            call = self.open.pop()
            call.guard.__exit__(None, None, None)
            if call.module is module:
                break

    def _enter(self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if _OBSERVER.get() is not self:
            return None
        self.open.append(OpenCall(module, SEEN() if self.watches(module) else UNSEEN()))
        self.open[-1].guard.__enter__()
        return self.enters(module, args, keywords)

    def _leave(self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any], output: Any) -> Any:
        if _OBSERVER.get() is not self:
            return None
        self._close(module)
        return self.leaves(module, args, keywords, output)

    def enters(self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What a module is called with in the place of this; None for the same."""
        return None

    def leaves(self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any], output: Any) -> Any:
        """What goes on in the place of a module's output; None for the same."""
        return None

    def computes(self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What a function of torch gives."""
        return function(*args, **keywords)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        return self.computes(func, args, dict(kwargs or {}))


# Where in a module an attention happens, as an address begins.

STACKS = {"encoder": nn.TransformerEncoderLayer, "decoder": nn.TransformerDecoderLayer}
KINDS = {"self_attn": "self", "multihead_attn": "cross"}
NUMBERED = re.compile(r"(?P<before>(?:.*\D)?)(?P<layer>\d+)")


def _parts(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """All parts by their paths, without the name of what torch.compile puts around them."""
    for path, part in module.named_modules():
        yield ".".join(name for name in path.split(".") if name != "_orig_mod"), part


def _known_places(module: nn.Module) -> dict[str, str]:
    """Path of an attention in torch's own layers -> its address; those of stacks that are there once."""
    known: dict[str, str] = {}
    for stack, layer_type in STACKS.items():
        paths = [path for path, part in _parts(module) if isinstance(part, layer_type)]
        for path, number in _numbers(paths).items():
            for attribute, kind in KINDS.items():
                known[f"{path}.{attribute}".removeprefix(".")] = f"{stack}.{number}.{kind}"
    return known


def _numbers(paths: list[str]) -> dict[str, str]:
    """The number of each layer, if they are one stack or one layer; else nothing."""
    matches = {path: NUMBERED.fullmatch(path) for path in paths}
    numbers = {path: match["layer"] for path, match in matches.items() if match}
    if len(numbers) == len(paths) and len({match["before"] for match in matches.values() if match}) == 1:
        return numbers
    return {paths[0]: "0"} if len(paths) == 1 else {}


def edited_output(edit: Editing, address: str, output: Any) -> Any:
    """What a module gave, its first tensor as an edit makes it; None where it is left alone.

    The edit sees it as [position, channel], or without its batch. Raises ValueError where there is no tensor.
    """
    whole: Any = output if isinstance(output, Tensor) else next(iter(leaves(output)), None)
    if isinstance(output, tuple) and whole is not output[0]:
        whole = None
    if not isinstance(whole, Tensor) or not whole.ndim:
        raise ValueError(f"{address} gives {type(whole).__name__} and no tensor; choose another module")
    is_flat = whole.ndim == 3 and whole.shape[1] == 1  # [position, 1, channel]
    rows = whole.reshape(-1, whole.shape[-1]) if is_flat or whole.ndim == 2 else whole
    rows = rows[None] if rows.ndim == 2 or len(rows) != 1 else rows
    after = Trace(lambda at, value: None, edit=edit).record(address, rows)
    if after is rows:
        return None
    new = after.reshape(whole.shape)
    if isinstance(output, Tensor):
        return new
    if isinstance(output, dict):
        output[next(iter(output))] = new
        return output
    return type(output)((new, *output[1:]))


# A mode that sees every attention which PyTorch computes while it is open, and records it.

SDPA = F.scaled_dot_product_attention
PRODUCTS = {"matmul", "__matmul__", "__rmatmul__", "bmm", "baddbmm", "mm", "addmm", "einsum", "tensordot"}
FUSED = re.compile(r"_.*(attention|transformer)")
"""The names of torch's own functions that attend in one piece, without anything to see in between: its layers
call them where nobody looks, and so may a module by itself."""


class Watching(Observer):
    """Records into `trace` what attends in a module, each at an address; results stay what they are.

    The attentions of torch's own layers are at `encoder.0.self` or `decoder.0.cross`, as in our models, where
    the module holds one stack of them, or one layer alone. Any other is at the path of the part that computes
    it, like `blocks.3.attn`, or at `attention` for the module itself. A second attention at the same place is
    at `blocks.3.attn.2`, a third at `blocks.3.attn.3`.

    unrecorded: the paths of the parts in which weights of a softmax went into a matrix product without
    PyTorch's attention, so that no trace has them: attention that is written out, also over channels or
    clusters.
    """

    def __init__(self, trace: Trace, module: nn.Module, edit: Editing | None = None) -> None:
        super().__init__()
        self._trace = trace
        self._edit = edit
        self._paths = {id(part): path for path, part in _parts(module)}
        self._known = _known_places(module)
        self._n_at: Counter[str] = Counter()
        self._weights = WeakIdKeyDictionary()  # what a softmax gave, also once dropped out, cast or reshaped
        self.unrecorded: dict[str, None] = {}

    def leaves(self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any], output: Any) -> Any:
        path = self._paths[id(module)]
        return edited_output(self._edit, f'module "{path}"', output) if self._edit and path else None

    @property
    def _path(self) -> str:
        """The path of the part that is being computed; "" for the module itself."""
        return self._paths[id(self.open[-1].module)] if self.open else ""

    def _next_place(self) -> str:
        """The address of the next attention of the part that is being computed."""
        place = self._known.get(self._path, self._path or "attention")
        self._n_at[place] += 1
        return place if self._n_at[place] == 1 else f"{place}.{self._n_at[place]}"

    def computes(self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        name = getattr(function, "__name__", "")
        if FUSED.match(name):
            raise ValueError(
                f"the module calls torch.{name} by itself, which shows no pattern; "
                "call nn.MultiheadAttention or scaled_dot_product_attention"
            )
        if function is SDPA:
            place, products = self._next_place(), DotProducts(*args, **keywords)
            products.check(place)
            output: Any = products.record(self._trace, place, function(*args, **keywords))
        elif function is F.multi_head_attention_forward:
            place, products = self._next_place(), _of_heads(*args, **keywords)
            products.check(place)
            output = function(*args, **keywords)
            z = SDPA(products.query, products.key, products.value, products.attn_mask)
            z = products.record(self._trace, place, z)
            whole = output[0].detach()  # what is made of z: [query, 1, d_model] or [query, d_model]
            whole = whole.reshape(1, whole.shape[0], whole.shape[-1])
            made = F.linear(z.transpose(1, 2).flatten(2), *args[11:13])
            if not self._trace.edits:
                _check_same(place, made, whole)
                made = whole.clone()
            out = record(Scope(self._trace, place), "out", made)
            if self._trace.edits:
                output = (out.reshape(output[0].shape), *output[1:])
        else:
            output = function(*args, **keywords)
            self._follow(name, list(leaves((args, keywords))), output)
        return output

    def _follow(self, name: str, inputs: list[Any], output: Any) -> None:
        """Notes where weights of a softmax are made, and where they weigh something in a matrix product."""
        weights = [each for each in inputs if isinstance(each, Tensor) and each in self._weights]
        if weights and name in PRODUCTS:
            self.unrecorded[self._path] = None
        elif isinstance(output, Tensor) and (
            ("softmax" in name and "log" not in name)
            or any(output.numel() == each.numel() for each in weights)
        ):
            self._weights[output] = True


def _of_heads(
    query: Tensor, key: Tensor, value: Tensor, width: int, n_heads: int, in_weight: Tensor | None,
    in_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool,
    dropout_p: float, out_weight: Tensor, out_bias: Tensor | None, *, training: bool = True,
    key_padding_mask: Tensor | None = None, attn_mask: Tensor | None = None,
    q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None,
    **others: Any,
) -> DotProducts:  # fmt: skip
    """The dot products of `F.multi_head_attention_forward`, by its own arguments."""
    own: Any = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = own if in_weight is None else in_weight.chunk(3)
    biases = (None, None, None) if in_bias is None else in_bias.chunk(3)
    batched = [each[:, None] if each.dim() == 2 else each for each in (query, key, value)]
    q, k, v = (F.linear(*each) for each in zip(batched, weights, biases, strict=True))
    n_batch = q.shape[1]
    if bias_k is not None and bias_v is not None:
        k, v = (torch.cat([x, more.expand(1, n_batch, -1)]) for x, more in ((k, bias_k), (v, bias_v)))
    q, k, v = (each.unflatten(-1, (n_heads, -1)).permute(1, 2, 0, 3) for each in (q, k, v))
    k = k if static_k is None else static_k.unflatten(0, (n_batch, n_heads))
    v = v if static_v is None else static_v.unflatten(0, (n_batch, n_heads))
    if add_zero_attn:
        k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
    mask: Tensor | None = None
    if attn_mask is not None:
        mask = attn_mask.unflatten(0, (n_batch, n_heads)) if attn_mask.dim() == 3 else attn_mask[None, None]
        mask = _additive(mask, q.dtype)
    if key_padding_mask is not None:
        hidden = _additive(key_padding_mask.reshape(n_batch, 1, 1, -1), q.dtype)
        mask = hidden.expand(-1, -1, q.shape[2], -1) if mask is None else mask + hidden
    if mask is not None:
        mask = F.pad(mask, (0, k.shape[2] - mask.shape[3]))  # what biases and zeros add is never hidden
    return DotProducts(q, k, v, mask, dropout_p if training else 0.0)


def _additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """What is added to scores: -inf where a mask of multi-head attention is True."""
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -torch.inf)


_NAMED = 4
"""Parts that a sentence names; of more, it says how many."""


def capture(
    module: nn.Module, *inputs: Any, editing: Callable[[Trace], Editing] | None = None, **keywords: Any
) -> tuple[Any, Trace]:
    """`module(*inputs, **keywords)` as it is, and a trace of every attention in it.

    editing: given that trace, what changes a further pass, whose output and trace are returned instead; it is
    called at each address, and with what each part gives at such as 'module "blocks.3"'.

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

    def watch(trace: Trace, edit: Editing | None = None) -> tuple[Any, Watching]:
        watching = Watching(trace, module, edit)
        own_buffers = {name: buffer.clone() for name, buffer in buffers.items()}
        with (
            torch.random.fork_rng(),
            torch.no_grad(),
            _as_written(module),
            watching.observing(module.modules()),
        ):
            torch.random.set_rng_state(random)
            return functional_call(module, own_buffers, inputs, keywords), watching

    trace = Trace()
    watched, watching = watch(trace)
    unrecorded = [path or type(module).__name__ for path in watching.unrecorded]
    if not trace.keys():
        by_hand = f" (a softmax of its own weighs in {_listed(unrecorded)})" if unrecorded else ""
        raise ValueError(
            f"{type(module).__name__} called neither nn.MultiheadAttention nor scaled_dot_product_attention, "
            f"so no attention was seen{by_hand}; let its attention call F.scaled_dot_product_attention "
            '(models of transformers do with attn_implementation="sdpa")'
        )
    _check_alike(module, own, watched)
    if editing is not None:
        edit = editing(trace)
        trace = Trace(edit=edit)
        own, _ = watch(trace, edit)
    if unrecorded:
        trace.notes.append(
            f"this trace lacks what is weighed by a softmax in {_listed(unrecorded)}, outside of PyTorch's "
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


def _check_alike(module: nn.Module, own: Any, watched: Any) -> None:
    """Raises ValueError unless all tensors of both outputs are equal but for rounding."""
    firsts, seconds = list(leaves(own)), list(leaves(watched))
    encoders = [part for part in module.modules() if isinstance(part, nn.TransformerEncoder)]
    padded = any(part.use_nested_tensor for part in encoders)
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
