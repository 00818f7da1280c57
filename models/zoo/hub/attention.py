"""Provides the attention function that transformers calls, which sees all that a module's own computes.

transformers dispatches attention by name (`AttentionInterface`). Under our name stands a function that calls
the `eager_attention_forward` beside the module's class, so that every architecture keeps its own arithmetic:
grouped queries, soft caps, windows, sinks, T5's bias. Outside of a recorded pass it does nothing else.
"""

import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from ...engine.capture import SEEN, Observer, OpenCall

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


class AttentionCall(NamedTuple):
    """A call of attention: how much of what meets what, and what is done to the products of q and k.

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


LONG: ContextVar[Any] = ContextVar("long", default=None)
"""The `LongReader` that reads a long text in this thread, or None."""


def eager_of(module: nn.Module) -> Eager | None:
    """The eager attention beside a module's class or one that it inherits from; None where there is none."""
    for each in type(module).__mro__:
        function = getattr(sys.modules.get(each.__module__), EAGER, None)
        if function is not None:
            return function
    return None


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    **keywords: Any,
) -> tuple[Tensor, Tensor | None]:
    """What transformers calls: q [1, head, query, d_head]; k and v [1, key head, key, d_head].

    Returns z [1, query, head, d_head] and the weights [1, head, query, key], as its own functions do; of a
    long text no weights.
    """
    mask = attention_mask
    eager = eager_of(module)
    if eager is None:
        raise ValueError(f"{type(module).__name__} has no {EAGER} beside it; open another model")
    long = LONG.get()
    if long is not None:
        call, causal = _described(module, query, key, keywords), keywords.get("is_causal")
        causal = bool(getattr(module, "is_causal", True)) if causal is None else causal
        bias = keywords["position_bias"] if call.has_bias else None
        z: Tensor = long.keep(call, (query, key, value), mask, bias, causal=causal)
        return z, None
    observer = Observer.here()
    if isinstance(observer, AttentionObserver):
        return observer.attends(eager, module, (query, key, value), mask, keywords)
    return eager(module, query, key, value, mask, **keywords)


def _described(module: nn.Module, query: Tensor, key: Tensor, keywords: dict[str, Any]) -> AttentionCall:
    scale, cap = keywords.get("scaling"), keywords.get("softcap")
    (_, n_heads, n_queries, d_head), (_, n_key_heads, n_keys, _) = query.shape, key.shape
    scale = d_head**-0.5 if scale is None else float(scale)
    sinks = any("sink" in name for name, _ in module.named_parameters(recurse=False))
    return AttentionCall(
        module, n_heads, n_key_heads, d_head, n_queries, n_keys, scale, cap, _has_bias(keywords), sinks
    )


def _has_bias(keywords: dict[str, Any]) -> bool:
    bias = keywords.get("position_bias")
    return bias is not None and bool(bias.any())


def hidden(scores: Tensor) -> Tensor:
    """Where scores, or what is added to them, hide a key."""
    return (scores <= _highest_hidden(scores)) | (scores == INSTEAD)


def _highest_hidden(scores: Tensor) -> Tensor:
    """The scores up to which each row hides its keys."""
    least = max(HIDDEN * torch.finfo(scores.dtype).min, FAR_BELOW)
    beside = scores.amax(dim=-1, keepdim=True) - APART
    return torch.fmax(beside, beside.new_full((), least))


def infinite_where_hidden(scores: Tensor) -> Tensor:
    """A copy of scores in which those that hide a key are -inf."""
    low, high = _highest_hidden(scores).aminmax()
    # One threshold serves all rows where no score lies between theirs: that takes a third of the time.
    visible = functional.threshold(scores, float(low), torch.inf).amin()
    if visible > max(float(high), INSTEAD):
        return functional.threshold(scores, float(low), -torch.inf)
    return torch.where(hidden(scores), -torch.inf, scores)


def _bias_in(mask: Tensor | None) -> Tensor | None:
    """What a mask adds to the scores where it hides nothing, as BEiT's positions do; None for none."""
    if mask is None or not mask.is_floating_point():
        return None
    bias = torch.where(hidden(mask), 0, mask)
    return bias if bool(bias.any()) else None


def _mask(*args: Any, **keywords: Any) -> Tensor | None:
    """The mask that transformers makes; of a long text, by its rule."""
    long = LONG.get()
    mask: Tensor | None = (eager_mask if long is None else long.mask_of)(*args, **keywords)
    return mask


AttentionInterface.register(NAME, attend)
# Without a mask function under the same name, transformers makes no mask for it, and Llama looks ahead.
AttentionMaskInterface.register(NAME, _mask)


# Attention that a module computes by itself: observed at the products and the softmax that it calls.
# `layout.Scout` finds, when a model is opened, which of a module's products make scores and weigh values.

_MATMUL = {torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm}
_ADDED = {torch.baddbmm, Tensor.baddbmm}
_PRODUCTS = {*_MATMUL, *_ADDED, torch.einsum}


class Place(NamedTuple):
    """An attention of a module. The numbers count the products and softmaxes of one call of the module: that
    of queries and keys, the softmax, and that of pattern and values.
    """

    module: nn.Module
    scores: int
    softmax: int
    values: int
    scale: float
    has_bias: bool

    def call_of(self, product: "Product") -> AttentionCall:
        """The attention whose scores are made of this product."""
        q, k = product.first.seen, product.second.seen
        n_heads, n_key_heads = max(q.shape[1], k.shape[1]), k.shape[1]
        sizes = (n_heads, n_key_heads, q.shape[-1], q.shape[2], k.shape[3])
        return AttentionCall(self.module, *sizes, self.scale, None, self.has_bias, False)


@dataclass(frozen=True)
class Part:
    """A tensor, and how it is seen: its axes in this order, all but the last two as one axis of heads."""

    whole: Tensor
    order: tuple[int, ...]

    @cached_property
    def seen(self) -> Tensor:
        """[1, head, row, column]."""
        x = self.whole.permute(self.order)
        return x.reshape(1, -1, *x.shape[-2:])

    def back(self, seen: Tensor) -> Tensor:
        """The tensor with this in the place of what is seen of it; itself where that is the same."""
        if seen is self.seen:
            return self.whole
        inverse = [self.order.index(at) for at in range(len(self.order))]
        return seen.reshape([self.whole.shape[at] for at in self.order]).permute(inverse)


def part_of(tensor: Tensor, order: tuple[int, ...] | None = None) -> Part | None:
    """The tensor, whose last axes in this order are rows and columns; None for a batch of many."""
    part = Part(tensor, tuple(range(tensor.ndim)) if order is None else order)
    n = len(part.order)
    return part if n == 3 or (n == 4 and tensor.shape[part.order[0]] == 1) else None


class Product(NamedTuple):
    """A product of two tensors. order: of the axes of its result; run: that of others in their place."""

    first: Part
    second: Part
    run: Callable[[Tensor, Tensor], Tensor]
    order: tuple[int, ...] | None
    scale: float


def operands_of(
    args: tuple[Any, ...], keywords: dict[str, Any], *names: str
) -> tuple[list[Any], dict[str, Any]]:
    """What a function is given without or by these names, in their order, and what else by name."""
    rest = {name: value for name, value in keywords.items() if name not in names}
    return [*args, *(keywords[name] for name in names if name in keywords)], rest


def product_of(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Product | None:
    """A call as the product of two tensors; None where it is no such product, or of a batch of many."""
    if function not in _PRODUCTS:
        return None
    first, second, result = None, None, None
    before: list[Any] = []
    if function is torch.einsum:
        before, operands, rest = [args[0]], list(args[1] if len(args) == 2 else args[1:]), keywords
        letters = _letters(args[0], operands)
        if letters is None:
            return None
        first, second, result = letters
    elif function in _ADDED:
        operands, rest = operands_of(args, keywords, "input", "batch1", "batch2")
        before, operands = operands[:1], operands[1:]
    else:
        operands, rest = operands_of(args, keywords, "input", "other", "mat2")
    if len(operands) != 2 or not all(isinstance(each, Tensor) for each in operands):
        return None
    parts = part_of(operands[0], first), part_of(operands[1], second)
    if parts[0] is None or parts[1] is None:
        return None
    run = partial(function, *before, **rest)
    return Product(parts[0], parts[1], run, result, float(rest.get("alpha", 1)))


def _letters(equation: Any, operands: list[Any]) -> tuple[tuple[int, ...], ...] | None:
    """The axes of an einsum's left, right and result, as heads, rows and columns; None for another sum."""
    if not isinstance(equation, str) or len(operands) != 2 or "." in equation or "->" not in equation:
        return None
    inputs, result = equation.replace(" ", "").split("->")
    rows_in, columns_in = inputs.split(",")
    shared = [x for x in result if x in rows_in and x in columns_in]
    summed = [x for x in rows_in if x in columns_in and x not in result]
    rows, columns = [x for x in result if x not in columns_in], [x for x in result if x not in rows_in]
    if not len(summed) == len(rows) == len(columns) == 1:
        return None
    orders = ((rows_in, shared + rows + summed), (columns_in, shared + summed + columns))
    if any(len(of) != len(order) for of, order in orders):
        return None
    return tuple(
        tuple(of.index(x) for x in order) for of, order in (*orders, (result, shared + rows + columns))
    )


@dataclass
class _Dispatched:
    """An attention that is being computed by a module's own function: what its softmax is taken for."""

    dtype: torch.dtype
    n_keys: int
    shows_scores: bool
    n_softmaxes: int = 0


class AttentionObserver(Observer):
    """Observes what the attentions of a pass compute: those that are dispatched, and those at `places`.

    A subclass is told of each by `begin`; what `observe` returns of a value is what the model goes on with.
    """

    def __init__(self, places: Iterable[Place] = ()) -> None:
        super().__init__()
        self.dispatched: _Dispatched | None = None
        self._roles: dict[tuple[int, int], tuple[str, Place]] = {}
        self._dots: Tensor | None = None
        for place in places:
            for role, number in zip(("scores", "softmax", "values"), place[1:4], strict=True):
                self._roles[id(place.module), number] = role, place

    def begin(self, call: AttentionCall) -> None:
        """An attention begins."""

    def observe(self, name: str, value: Tensor) -> Tensor:
        """A value of the attention that is computed; `name` is the last part of an address."""
        return value

    # An attention that is dispatched: its operands are given, its softmax is observed inside.

    def attends(
        self,
        eager: Eager,
        module: nn.Module,
        qkv: tuple[Tensor, Tensor, Tensor],
        mask: Tensor | None,
        keywords: dict[str, Any],
    ) -> tuple[Tensor, Tensor | None]:
        """What a module's own attention gives of these, all of it observed."""
        call, added = _described(module, *qkv[:2], keywords), _bias_in(mask)
        self.begin(call if added is None else call._replace(has_bias=True))
        query, key, value = (self.observe(name, tensor) for name, tensor in zip("qkv", qkv, strict=True))
        if _has_bias(keywords):
            keywords["position_bias"] = self.observe("bias", keywords["position_bias"])
        if mask is not None and added is not None:
            bias = self.observe("bias", added.expand(-1, call.n_heads, -1, -1))
            mask = torch.where(hidden(mask), mask, bias)
        if call.has_sinks:
            self._observe_unshifted(call, query, key, mask)
        self.dispatched = _Dispatched(query.dtype, key.shape[-2], not call.has_sinks)
        with SEEN():
            out, weights = eager(module, query, key, value, mask, **keywords)
        n_softmaxes, self.dispatched = self.dispatched.n_softmaxes, None
        if n_softmaxes != 1:
            raise ValueError(
                f"{type(module).__name__} computes {n_softmaxes} softmaxes in its attention, not one; "
                "open another model"
            )
        return self.observe("z", out.transpose(1, 2)).transpose(1, 2), weights

    def _observe_unshifted(
        self, call: AttentionCall, query: Tensor, key: Tensor, mask: Tensor | None
    ) -> None:
        """The scores beside sinks, which are shifted before the softmax that would show them."""
        shared = call.n_heads // call.n_key_heads
        scores = call.scale * query @ key.repeat_interleave(shared, dim=1).transpose(-2, -1)
        scores = scores if mask is None else scores + mask
        after = self.observe("scores", scores)
        if not torch.equal(torch.where(after.isinf(), scores, after), scores):
            raise ValueError("the scores of a model with sinks cannot be edited; edit its pattern")

    def _dispatched_softmax(
        self, inside: _Dispatched, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Tensor:
        """Takes the scores and returns the pattern.

        Where more columns than keys go in (sinks), the others belong to no key and are passed on as they are.
        """

        def observed(name: str, whole: Tensor) -> Tensor:
            part = whole[..., : inside.n_keys]
            after = self.observe(name, part)
            return whole if after is part else torch.cat([after, whole[..., inside.n_keys :]], dim=-1)

        inside.n_softmaxes += 1
        scores = observed("scores", args[0]) if inside.shows_scores else args[0]
        # Softmax may be computed in more bits than the values have; what they are weighted with has as many.
        return observed("pattern", function(scores, *args[1:], **keywords).to(inside.dtype))

    # An attention that a module computes by itself: its products and its softmax are counted.

    def computes(self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        is_softmax = function in SOFTMAX
        if self.dispatched is not None and is_softmax:
            return self._dispatched_softmax(self.dispatched, function, args, keywords)
        if self.dispatched is not None or not self._roles:
            return function(*args, **keywords)
        product = product_of(function, args, keywords)
        if product is None and not is_softmax:
            return function(*args, **keywords)
        known = (self._roles.get((id(call.module), number)) for call, number in reversed(self.counted()))
        role, place = next(filter(None, known), ("", None))
        if place is None:
            return function(*args, **keywords)
        if is_softmax != (role == "softmax"):
            raise ValueError(
                f"{type(place.module).__name__} computed its attention in another order than before; "
                "give a text of another length"
            )
        if product is None:
            return self._softmax(place, function, args, keywords)
        return self._scores(place, product) if role == "scores" else self._values(product)

    def counted(self) -> list[tuple[OpenCall, int]]:
        """Counts a product or a softmax in all open calls, outermost first: its number in each."""
        numbers = []
        for call in self.open:
            numbers.append((call, call.n_products))
            call.n_products += 1
        return numbers

    def _scores(self, place: Place, product: Product) -> Tensor:
        self.begin(place.call_of(product))
        q, k = product.first.seen, product.second.seen
        keys = k.mT
        new_q, new_keys = self.observe("q", q), self.observe("k", keys)
        new_k = k if new_keys is keys else new_keys.mT
        if place.has_bias:
            self._dots = new_q @ new_k
        return product.run(product.first.back(new_q), product.second.back(new_k))

    def _softmax(
        self, place: Place, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Tensor:
        (whole,), rest = operands_of(args[:1], keywords, "input")
        part = part_of(whole)
        assert part is not None
        scores = part.seen
        if place.has_bias and self._dots is not None:
            bias = (scores - place.scale * self._dots.to(scores)).masked_fill(hidden(scores), 0)
            after = self.observe("bias", bias)
            scores = scores if after is bias else scores + (after - bias.detach())
        changed = part.back(self.observe("scores", scores))
        return self._observed("pattern", part_of(function(changed, *args[1:], **rest)))

    def _values(self, product: Product) -> Tensor:
        v = self._observed("v", product.second)
        return self._observed("z", part_of(product.run(product.first.whole, v), product.order))

    def _observed(self, name: str, part: Part | None) -> Tensor:
        """A tensor of which a part is observed: itself, unless that is edited."""
        assert part is not None
        return part.back(self.observe(name, part.seen))
