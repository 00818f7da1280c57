"""The attention function that transformers calls for us: the module's own, with all that it computes seen.

transformers dispatches attention by name (`AttentionInterface`). Under our name stands a function that calls
the `eager_attention_forward` beside the module's class, so that every architecture keeps its own arithmetic:
grouped queries, soft caps, windows, sinks, T5's bias. Outside of a recorded pass it does nothing else.
"""

import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from ...engine.capture import ROUNDING, Observer, OpenCall

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


class LongReader(Protocol):
    """Whoever reads a long text with a model: what becomes of its attentions and of its masks."""

    def keep(
        self, module: nn.Module, qkv: tuple[Tensor, Tensor, Tensor], mask: Tensor | None, *, scale: float,
        cap: float | None, causal: bool, bias: Tensor | None,
    ) -> Tensor:  # fmt: skip
        """z [1, query, head, d_head] of an attention."""

    def mask_of(self, *args: Any, **keywords: Any) -> Tensor | None:
        """The mask that transformers asks for, by its rule."""


LONG: ContextVar[LongReader | None] = ContextVar("long", default=None)
"""Whoever reads a long text in this thread."""


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
        raise ValueError(
            f"{type(module).__name__} has no {EAGER} beside it, so its attention cannot be recorded; "
            "open another model"
        )
    long = LONG.get()
    if long is not None:
        own = _described(module, query, key, keywords)
        causal = keywords.get("is_causal")
        z = long.keep(
            module, (query, key, value), mask, scale=own.scale, cap=own.cap,
            causal=bool(getattr(module, "is_causal", True)) if causal is None else causal,
            bias=keywords["position_bias"] if own.has_bias else None,
        )  # fmt: skip
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
    least = max(HIDDEN * torch.finfo(scores.dtype).min, FAR_BELOW)
    beside = scores.amax(dim=-1, keepdim=True) - APART
    return (scores <= least) | (scores == INSTEAD) | (scores <= beside)


def _bias_in(mask: Tensor | None) -> Tensor | None:
    """What a mask adds to the scores where it hides nothing, as BEiT's positions do; None for none."""
    if mask is None or not mask.is_floating_point():
        return None
    bias = mask.masked_fill(hidden(mask), 0)
    return bias if bool(bias.any()) else None


def _mask(*args: Any, **keywords: Any) -> Tensor | None:
    """The mask that transformers makes; of a long text, by its rule."""
    long = LONG.get()
    return (eager_mask if long is None else long.mask_of)(*args, **keywords)


AttentionInterface.register(NAME, attend)
# Without a mask function under the same name, transformers makes no mask for it, and Llama looks ahead.
AttentionMaskInterface.register(NAME, _mask)


# Attention that a module computes by itself: observed at the products and the softmax that it calls.
# Many architectures do not dispatch their attention. A first pass finds, for every softmax over keys, the
# product that made its scores and the product of its pattern with values, and in which module they are
# called (`find_attentions`). Later passes count the same calls in that module, and observe what goes into
# them and out (`AttentionObserver`).

_MATMUL = {torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm}
_ADDED = {torch.baddbmm, Tensor.baddbmm}
_PRODUCTS = {*_MATMUL, *_ADDED, torch.einsum}
_TIMES = {torch.mul, Tensor.mul, Tensor.mul_, Tensor.__mul__, Tensor.__rmul__, Tensor.__imul__}
_OVER = {torch.div, Tensor.div, Tensor.div_, Tensor.__truediv__, Tensor.__itruediv__}
FACTORS = _TIMES | _OVER
_BENDING = {torch.tanh, Tensor.tanh, nn.functional.tanh, Tensor.clamp, torch.clamp}
BIAS = 1e-4
"""What scores have beside their products is a bias from this share of their size on, else rounding; or from
the rounding of the coarser format on.
"""


class Place(NamedTuple):
    """An attention of a module. The numbers count the products and softmaxes of one call of the module: that
    of queries and keys, the softmax, and that of pattern and values. scale: None where the scores are made of
    the products in another way than by a factor and a sum.
    """

    module: nn.Module
    scores: int
    softmax: int
    values: int
    scale: float | None
    has_bias: bool


class _View(NamedTuple):
    """How a tensor is seen as [1, head, row, column]."""

    order: tuple[int, ...]
    shape: tuple[int, ...]

    def of(self, tensor: Tensor) -> Tensor:
        return tensor.permute(self.order).reshape(1, -1, *self.shape[-2:])

    def back(self, part: Tensor) -> Tensor:
        inverse = [self.order.index(at) for at in range(len(self.order))]
        return part.reshape(self.shape).permute(inverse)


def _view(tensor: Tensor, order: tuple[int, ...] | None = None) -> _View | None:
    """The view of a tensor whose last axes, in this order, are rows and columns; None for a batch of many."""
    order = tuple(range(tensor.ndim)) if order is None else order
    shape = tuple(tensor.shape[at] for at in order)
    return _View(order, shape) if len(shape) == 3 or (len(shape) == 4 and shape[0] == 1) else None


@dataclass
class _Product:
    """A product of two tensors, each seen as [1, head, row, column]."""

    function: Callable[..., Tensor]
    before: tuple[Any, ...]
    named: dict[str, Any]
    operands: tuple[Tensor, Tensor]
    views: tuple[_View, _View]
    order: tuple[int, ...] | None = None
    scale: float = 1.0

    @property
    def parts(self) -> tuple[Tensor, Tensor]:
        return self.views[0].of(self.operands[0]), self.views[1].of(self.operands[1])

    def run(self, first: Tensor, second: Tensor) -> Tensor:
        """The product of these in place of its operands."""
        return self.function(*self.before, first, second, **self.named)

    def replaced(self, at: int, part: Tensor, new: Tensor) -> Tensor:
        return self.operands[at] if new is part else self.views[at].back(new)


def operands_of(
    args: tuple[Any, ...], keywords: dict[str, Any], *names: str
) -> tuple[list[Any], dict[str, Any]]:
    """What a function is given without or by these names, in their order, and what else by name."""
    rest = {name: value for name, value in keywords.items() if name not in names}
    return [*args, *(keywords[name] for name in names if name in keywords)], rest


def _product(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> _Product | None:
    """A call as the product of two tensors; None where it is no such product, or of a batch of many."""
    order: list[tuple[int, ...] | None] = [None, None, None]
    scale, rest = 1.0, keywords
    before: tuple[Any, ...] = ()
    if function in _ADDED:
        operands, rest = operands_of(args, keywords, "input", "batch1", "batch2")
        if len(operands) != 3:
            return None
        before, operands, scale = (operands[0],), operands[1:], float(rest.get("alpha", 1))
    elif function is torch.einsum:
        operands = list(args[1]) if len(args) == 2 else list(args[1:])
        letters = _letters(args[0], operands)
        if letters is None:
            return None
        before, order = (args[0],), list(letters)
    else:
        operands, rest = operands_of(args, keywords, "input", "other", "mat2")
    if len(operands) != 2 or not all(isinstance(each, Tensor) for each in operands):
        return None
    views = _view(operands[0], order[0]), _view(operands[1], order[1])
    if views[0] is None or views[1] is None:
        return None
    return _Product(function, before, rest, (operands[0], operands[1]), (views[0], views[1]), order[2], scale)


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


class _Event(NamedTuple):
    """A product or a softmax. calls: the calls of modules that it happens in, outermost first."""

    calls: tuple[OpenCall, ...]
    product: _Product | None
    result: Tensor
    scores: Tensor | None = None
    made_by: tuple[int, float | None] | None = None


Key = tuple[int, int, int]


def key_of(tensor: Tensor) -> Key:
    """The same for every view of the same numbers, as long as these are kept and not written over."""
    try:
        return tensor.data_ptr(), tensor.numel(), tensor._version
    except RuntimeError:  # of a tensor without numbers, as inside of vmap
        return id(tensor), tensor.numel(), 0


class _ProductScout(Observer):
    """Writes down products and softmaxes, and which product each softmax's scores were made of."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[_Event] = []
        self.made_by: dict[Key, tuple[int, float | None, Tensor]] = {}

    def computes(self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        tensors = [each for each in (*args, *keywords.values()) if isinstance(each, Tensor)]
        sources = [self.made_by[key] for each in tensors if (key := key_of(each)) in self.made_by]
        result = function(*args, **keywords)
        if function in _PRODUCTS:
            product = _product(function, args, keywords)
            if product is not None:
                self.made_by[key_of(result)] = (len(self.events), product.scale, result)
                self.events.append(_Event(tuple(self.open), product, result))
        elif function in SOFTMAX:
            source = min(sources, default=None, key=lambda each: each[0])
            made_by = None if source is None else source[:2]
            scores = args[0].clone() if args else keywords["input"].clone()
            self.events.append(_Event(tuple(self.open), None, result, scores, made_by))
        elif sources and isinstance(result, Tensor):
            at, scale, product_result = min(sources, key=lambda each: each[0])
            if result.numel() == product_result.numel():
                scale = _scaled(function, args, scale)
                self.made_by[key_of(result)] = (at, scale, result)
        return result


def _scaled(function: Any, args: tuple[Any, ...], scale: float | None) -> float | None:
    """The scale of products after a function; None where it bends them, or scales each by another number."""
    if scale is None or function in _BENDING:
        return None
    if function not in FACTORS or len(args) != 2:
        return scale
    by = args[1] if isinstance(args[0], Tensor) and args[0].numel() > 1 else args[0]
    if isinstance(by, Tensor) and by.numel() > 1:
        return scale if bool(((by == 0) | (by == 1)).all()) else None  # a mask leaves products, or hides them
    return scale * float(by) if function in _TIMES else scale / float(by)


class PassAttentions(NamedTuple):
    """What a pass computes. places: its attentions, in the order of calls. n_others: softmaxes of [1, head,
    query, column] that weigh more than values, as with sinks. is_causal: whether no query weighs a later key;
    None without a square pattern.
    """

    places: list[Place]
    n_others: int
    is_causal: bool | None


def find_attentions(net: nn.Module, read: Callable[[], object]) -> PassAttentions:
    """The attentions of a network that compute a pattern of queries by keys.

    read: lets it read a few tokens. Raises ValueError for one that attends in another way at each call.
    """
    scout = _ProductScout()
    with torch.no_grad(), scout.observing(net.modules()):
        read()
    places: dict[tuple[int, int], Place] = {}
    n_others, squares = 0, []
    for at, event in enumerate(scout.events):
        if event.scores is None:
            continue
        weighed = _weighed(scout.events, at)
        if weighed is None:
            n_others += event.result.ndim == 4 and len(event.result) == 1 and event.result.shape[-2] > 1
            continue
        if event.result.shape[-1] == event.result.shape[-2]:
            squares.append(float(event.result.triu(1).abs().max()) == 0)
        first, scale = event.made_by or (at, None)
        numbers = (first, at, weighed)
        # the innermost call of a module in which all of these happen, and which of its events they are
        calls, *others = (scout.events[number].calls for number in numbers)
        owner = next(call for call in reversed(calls) if all(call in of_other for of_other in others))
        module = owner.module
        scores, softmax, values = (sum(owner in e.calls for e in scout.events[:n]) for n in numbers)
        biased = scale is not None and _is_biased(event.scores, scout.events[first].product, scale)
        place = Place(module, scores, softmax, values, scale, biased)
        known = places.setdefault((id(module), softmax), place)
        if known[1:4] != place[1:4]:
            raise ValueError(f"its {type(module).__name__} attends in another way at each call")
        if biased and not known.has_bias:
            places[id(module), softmax] = place
    return PassAttentions(list(places.values()), n_others, all(squares) if squares else None)


def _is_biased(logits: Tensor, product: _Product | None, scale: float) -> bool:
    """Whether something is added to the scaled products of queries and keys that hides none of them."""
    assert product is not None
    view = _view(logits)
    if view is None:
        raise ValueError(
            f"it attends in a batch of the shape {tuple(logits.shape)}, where one text was given"
        )
    scores = view.of(logits)
    left, right = (each.to(scores) for each in product.parts)
    unseen = hidden(scores) | scores.isinf()
    rest = (scores - scale * left @ right).masked_fill(unseen, 0)
    least = max(BIAS, ROUNDING[product.operands[0].dtype], ROUNDING[scores.dtype])
    return bool(rest.abs().max() > least * scores.masked_fill(unseen, 0).abs().max())


def _weighed(events: list[_Event], at: int) -> int | None:
    """The number of the product of a softmax's result with values; None where there is none."""
    pattern = events[at].result
    for later in range(at + 1, len(events)):
        product = events[later].product
        if product is None or product.operands[0].numel() != pattern.numel():
            continue
        weights = product.operands[0]
        alike = weights.shape[-2:] == pattern.shape[-2:] or product.order is not None
        if alike and torch.equal(product.parts[0].flatten(), pattern.to(weights.dtype).flatten()):
            return later
    return None


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
    Raises ValueError for a place whose scores cannot be told.
    """

    def __init__(self, places: Sequence[Place] = ()) -> None:
        super().__init__()
        self._roles: dict[int, dict[int, tuple[str, Place]]] = {}
        self._dispatched: _Dispatched | None = None
        self._dots: Tensor | None = None
        for place in places:
            if place.scale is None:
                raise ValueError(
                    f"the scores of its {type(place.module).__name__} are no scaled products of queries and "
                    "keys"
                )
            own = self._roles.setdefault(id(place.module), {})
            own |= {place.scores: ("scores", place), place.softmax: ("softmax", place)}
            own[place.values] = ("values", place)

    def begin(self, call: AttentionCall) -> None:
        """An attention begins."""

    def observe(self, name: str, value: Tensor) -> Tensor:
        """A value of the attention that is computed; `name` is the last part of an address."""
        return value

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
        self._dispatched = _Dispatched(query.dtype, key.shape[-2], not call.has_sinks)
        out, weights = eager(module, query, key, value, mask, **keywords)
        n_softmaxes, self._dispatched = self._dispatched.n_softmaxes, None
        if n_softmaxes != 1:
            raise ValueError(
                f"{type(module).__name__} computes {n_softmaxes} softmaxes in its attention, where one is "
                "known how to record; open another model"
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
            raise ValueError(
                "the scores of a model with sinks cannot be edited, since it shifts them; edit its pattern"
            )

    def computes(self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        is_softmax = function in SOFTMAX
        if is_softmax and self._dispatched is not None:
            return self._dispatched_softmax(self._dispatched, function, args, keywords)
        product = _product(function, args, keywords) if self._roles and function in _PRODUCTS else None
        role, place = self._role() if is_softmax or product is not None else ("", None)
        if place is None:
            return function(*args, **keywords)
        if product is None and role == "softmax":
            return self._softmax(place, function, args, keywords)
        if product is None or role == "softmax":
            raise ValueError(
                f"{type(place.module).__name__} computed its attention in another order than when the model "
                "was opened; give a text of another length"
            )
        return self._scores(place, product) if role == "scores" else self._values(product)

    def _dispatched_softmax(
        self, inside: _Dispatched, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Tensor:
        """The softmax of a dispatched attention: what goes in are its scores, what comes out its pattern.

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

    def _role(self) -> tuple[str, Place | None]:
        """What the next call is to the innermost place that counts it; all open modules count it."""
        innermost: tuple[str, Place | None] = ("", None)
        for call in self.open:
            innermost = self._roles.get(id(call.module), {}).get(call.n_products, innermost)
            call.n_products += 1
        return innermost

    def _scores(self, place: Place, product: _Product) -> Tensor:
        q, k = product.parts
        n_heads = max(q.shape[1], k.shape[1])
        self.begin(
            AttentionCall(
                place.module, n_heads, k.shape[1], q.shape[-1], q.shape[2], k.shape[3], place.scale or 1.0,
                None, place.has_bias, False,
            )
        )  # fmt: skip
        keys = k.mT
        new_q, new_keys = self.observe("q", q), self.observe("k", keys)
        new_k = k if new_keys is keys else new_keys.mT
        if place.has_bias:
            self._dots = new_q @ new_k
        return product.run(product.replaced(0, q, new_q), product.replaced(1, k, new_k))

    def _softmax(
        self, place: Place, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Tensor:
        (whole,), rest = operands_of(args[:1], keywords, "input")
        view = _view(whole)
        assert view is not None
        scores = view.of(whole)
        if place.has_bias and self._dots is not None:
            bias = (scores - (place.scale or 1.0) * self._dots.to(scores)).masked_fill(hidden(scores), 0)
            after = self.observe("bias", bias)
            scores = scores if after is bias else scores + (after - bias.detach())
        after = self.observe("scores", scores)
        changed = whole if after is scores and scores.data_ptr() == whole.data_ptr() else view.back(after)
        return self._observed("pattern", view, function(changed, *args[1:], **rest))

    def _values(self, product: _Product) -> Tensor:
        v = self._observed("v", product.views[1], product.operands[1])
        result = product.run(product.operands[0], v)
        return self._observed("z", _view(result, product.order), result)

    def _observed(self, name: str, view: _View | None, whole: Tensor) -> Tensor:
        """A tensor whose view is observed: itself, unless that is edited."""
        assert view is not None
        part = view.of(whole)
        after = self.observe(name, part)
        return whole if after is part else view.back(after)
