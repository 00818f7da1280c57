"""The attention function that transformers calls for us: the module's own, with all that it computes seen.

transformers dispatches attention by name (`AttentionInterface`). Under our name stands a function that calls
the `eager_attention_forward` beside the module's class, so that every architecture keeps its own arithmetic:
grouped queries, soft caps, windows, sinks, T5's bias. Outside of a recorded pass it does nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from models.zoo.hub.long_reading import READING, keep, mask_of

NAME = "attention-lab"
EAGER = "eager_attention_forward"
HIDDEN = 0.9
"""A score below this share of the smallest number of its format is hidden: transformers adds that number."""
FAR_BELOW, INSTEAD, APART = -5e8, -1e4, 1e4
"""And so is one below the first, which is the second, or lies so far below the largest of its row: older
architectures add -1e9, write -10,000 in its place, or add 16 bits' smallest number to scores of 32.
"""
SOFTMAX = {torch.softmax, nn.functional.softmax, Tensor.softmax}

Eager = Callable[..., tuple[Tensor, Tensor]]


class Call(NamedTuple):
    """One call of attention: how much of what meets what, and what is done to the products of q and k.

    cap: scores are cap * tanh(scale * q . k / cap) where it is given (Gemma 2). has_bias: positions add to
    the scores. has_sinks: a learnt score without a key takes part of each row's softmax.
    """

    module: nn.Module
    n_heads: int
    n_key_heads: int
    d_head: int
    n_queries: int
    n_keys: int
    scale: float
    cap: float | None
    has_bias: bool
    has_sinks: bool


@runtime_checkable
class Listener(Protocol):
    """Whoever hears of a call of attention; `name` is the last part of an address."""

    def begin(self, call: Call) -> None: ...
    def heard(self, name: str, value: Tensor) -> Tensor: ...


_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within it, `listener` hears of every attention that is computed in this thread under our name."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def heard_by(listener: Listener) -> bool:
    """Whether what this thread computes now is heard by this listener."""
    return _LISTENER.get() is listener


def eager_of(module: nn.Module) -> Eager | None:
    """The eager attention beside a module's class or one that it inherits from; None where there is none."""
    for each in type(module).__mro__:
        found = getattr(sys.modules.get(each.__module__), EAGER, None)
        if found is not None:
            return found
    return None


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    **given: Any,
) -> tuple[Tensor, Tensor | None]:
    """What transformers calls: q [1, head, query, d_head]; k and v [1, key head, key, d_head].

    Returns z [1, query, head, d_head] and the weights [1, head, query, key], as its own functions do; of a
    long text no weights.
    """
    mask = attention_mask
    eager = eager_of(module)
    if eager is None:
        raise ValueError(
            f"{type(module).__name__} has no {EAGER} beside it, so its attention cannot be recorded; "
            "open another model"
        )
    long = READING.get()
    if long is not None:
        own = _call(module, query, key, given)
        causal = given.get("is_causal")
        z = keep(
            long, module, (query, key, value), mask, scale=own.scale, cap=own.cap,
            causal=bool(getattr(module, "is_causal", True)) if causal is None else causal,
            bias=given["position_bias"] if own.has_bias else None,
        )  # fmt: skip
        return z, None
    listener = _LISTENER.get()
    if listener is None:
        return eager(module, query, key, value, mask, **given)
    call = _call(module, query, key, given)
    added = _bias_in(mask)
    call = call if added is None else call._replace(has_bias=True)
    listener.begin(call)
    query, key, value = (
        listener.heard(name, tensor) for name, tensor in zip("qkv", (query, key, value), strict=True)
    )
    if _has_bias(given):
        given["position_bias"] = listener.heard("bias", given["position_bias"])
    if mask is not None and added is not None:
        heard = listener.heard("bias", added.expand(-1, call.n_heads, -1, -1))
        mask = torch.where(hidden(mask), mask, heard)
    if call.has_sinks:
        _hear_scores(listener, call, query, key, mask)
    with _Softmax(listener, query.dtype, key.shape[-2], hears_scores=not call.has_sinks) as inside:
        out, weights = eager(module, query, key, value, mask, **given)
    if inside.n_seen != 1:
        raise ValueError(
            f"{type(module).__name__} computes {inside.n_seen} softmaxes in its attention, where one is "
            "known how to record; open another model"
        )
    return listener.heard("z", out.transpose(1, 2)).transpose(1, 2), weights


def _hear_scores(listener: Listener, call: Call, query: Tensor, key: Tensor, mask: Tensor | None) -> None:
    """Records the scores beside sinks, which are shifted before the softmax that would show them."""
    shared = call.n_heads // call.n_key_heads
    scores = call.scale * query @ key.repeat_interleave(shared, dim=1).transpose(-2, -1)
    scores = scores if mask is None else scores + mask
    heard = listener.heard("scores", scores)
    if not torch.equal(torch.where(heard.isinf(), scores, heard), scores):
        raise ValueError(
            "the scores of a model with sinks cannot be edited, since it shifts them; edit its pattern"
        )


def _call(module: nn.Module, query: Tensor, key: Tensor, given: dict[str, Any]) -> Call:
    scale, cap = given.get("scaling"), given.get("softcap")
    (_, n_heads, n_queries, d_head), (_, n_key_heads, n_keys, _) = query.shape, key.shape
    scale = d_head**-0.5 if scale is None else float(scale)
    sinks = any("sink" in name for name, _ in module.named_parameters(recurse=False))
    return Call(
        module, n_heads, n_key_heads, d_head, n_queries, n_keys, scale, cap, _has_bias(given), sinks
    )  # fmt: skip


def _has_bias(given: dict[str, Any]) -> bool:
    bias = given.get("position_bias")
    return bias is not None and bool(bias.any())


def hidden(scores: Tensor) -> Tensor:
    """Where scores, or what is added to them, hide a key."""
    least = max(HIDDEN * torch.finfo(scores.dtype).min, FAR_BELOW)
    beside = scores.amax(dim=-1, keepdim=True) - APART
    return (scores <= least) | (scores == INSTEAD) | (scores <= beside)


def _bias_in(mask: Tensor | None) -> Tensor | None:
    """What a mask adds to the scores where it hides nothing, as BEiT's positions do; None for none."""
    if mask is None or not mask.is_floating_point():
        return None
    bias = mask.masked_fill(hidden(mask), 0)
    return bias if bool(bias.any()) else None


class _Softmax(TorchFunctionMode):
    """Sees the softmax inside of an attention: what goes in are its scores, what comes out its pattern.

    Where more columns than keys go in (sinks), the others belong to no key and are passed on as they are.
    """

    def __init__(self, listener: Listener, dtype: torch.dtype, n_keys: int, *, hears_scores: bool) -> None:
        super().__init__()
        self.dtype = dtype
        self.hears_scores = hears_scores
        self.listener = listener
        self.n_keys = n_keys
        self.n_seen = 0

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function not in SOFTMAX:
            return function(*args, **(kwargs or {}))
        self.n_seen += 1
        scores = self._heard("scores", args[0]) if self.hears_scores else args[0]
        # Softmax may be computed in more bits than the values have; what they are weighted with has as many.
        return self._heard("pattern", function(scores, *args[1:], **(kwargs or {})).to(self.dtype))

    def _heard(self, name: str, whole: Tensor) -> Tensor:
        part = whole[..., : self.n_keys]
        after = self.listener.heard(name, part)
        if after is part:
            return whole
        return torch.cat([after, whole[..., self.n_keys :]], dim=-1)


def _mask(*given: Any, **named: Any) -> Tensor | None:
    """The mask that transformers makes; of a long text, by its rule."""
    return (eager_mask if READING.get() is None else mask_of)(*given, **named)


AttentionInterface.register(NAME, attend)
# Without a mask function under the same name, transformers makes no mask for it, and Llama looks ahead.
AttentionMaskInterface.register(NAME, _mask)
