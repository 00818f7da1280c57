"""Finds in one pass where the layers of a model of transformers are, how they attend and what they add.

While the model reads a few tokens, `Scout` follows numbers from function to function. Attention is heard in
two ways. One that is dispatched tells of itself (`attention.attend`). Any other is a softmax: the product
that its scores were made of multiplied queries and keys, and the product that its weights go into weighs
values. Every layer's stream is followed from what goes in to what comes out, through sums and the norms after
them. Later passes count the same products, softmaxes and sums, and see what goes in and out there: whole
experts with those that all tokens share, what a factor or a norm made of a projection, two branches side by
side.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from ...engine.capture import ROUNDING, OpenCall
from .attention import (
    NAME,
    SOFTMAX,
    AttentionCall,
    AttentionObserver,
    Part,
    Place,
    Product,
    hidden,
    part_of,
    product_of,
)
from .isolation import first_line

LINEAR = (nn.Linear, Conv1D)
_TIMES = {torch.mul, Tensor.mul, Tensor.mul_, Tensor.__mul__, Tensor.__rmul__, Tensor.__imul__}
_OVER = {torch.div, Tensor.div, Tensor.div_, Tensor.__truediv__, Tensor.__itruediv__}
_BENDING = {torch.tanh, Tensor.tanh, nn.functional.tanh, Tensor.clamp, torch.clamp}
_SUMS = {torch.add, Tensor.add, Tensor.add_, Tensor.__add__, Tensor.__radd__, Tensor.__iadd__}
BIAS = 1e-4
"""A difference between scores and products counts as a bias from this share of the scores' size on, or from
the rounding of the coarser format on; a smaller one is rounding.
"""

Key = tuple[int, int, int]


def key_of(tensor: Tensor) -> Key:
    """The same for every view of the same numbers, as long as these are kept and not written over."""
    try:
        return tensor.data_ptr(), tensor.numel(), tensor._version
    except RuntimeError:  # of a tensor without numbers, as inside of vmap
        return id(tensor), tensor.numel(), 0


class _Scores(NamedTuple):
    """The scores that a product of queries and keys has become.

    at counts the products of the pass; numbers counts them within each open call of a module. scale
    multiplies the product, and is None where a function bent the scores or scaled each by another number.
    whole keeps the numbers where they lie.
    """

    at: int
    product: Product
    numbers: dict[OpenCall, int]
    scale: float | None
    whole: Tensor


class _Softmax(NamedTuple):
    """A softmax, with its numbers in the calls around it, and what its scores were made of."""

    numbers: dict[OpenCall, int]
    scores: Tensor
    pattern: Tensor
    source: _Scores | None

    def weighs(self, product: Product) -> bool:
        """Says whether the product multiplies values by this softmax's pattern."""
        weights = product.first.whole
        alike = weights.shape[-2:] == self.pattern.shape[-2:] or product.order is not None
        if not alike or weights.numel() != self.pattern.numel():
            return False
        return torch.equal(product.first.seen.flatten(), self.pattern.to(weights.dtype).flatten())


class Site(NamedTuple):
    """A sum: the number of it among those that a module itself calls, and which operand is added."""

    module: nn.Module
    number: int
    operand: int


@dataclass(frozen=True)
class LayerSums:
    """What a layer adds to its stream, by "self", "cross" and "ff". plain: nothing but sums stands between
    what enters the layer and what leaves it, so that they differ by these parts. makers: the modules whose
    output a part is, inner ones first. ends: these, and those whose output a norm or factor made it of.
    """

    sites: dict[str, Site]
    plain: bool
    makers: dict[str, list[nn.Module]]
    ends: dict[str, list[nn.Module]]


class _Sum(NamedTuple):
    operands: tuple[Key, Key]
    site: Site


@dataclass
class _Pass:
    """What is known of one call of a layer while it is computed. attended: what attention made. weighed: z of
    the last attention, heads side by side, with its kind.
    """

    module: nn.Module
    stream: Key
    n_cells: int
    calls: dict[str, AttentionCall] = field(default_factory=dict)
    out: dict[str, nn.Module] = field(default_factory=dict)
    weighed: tuple[str, Tensor] | None = None
    sums: dict[Key, _Sum] = field(default_factory=dict)
    normed: dict[Key, Key] = field(default_factory=dict)
    same: dict[Key, Key] = field(default_factory=dict)
    attended: dict[Key, str] = field(default_factory=dict)
    factored: dict[Key, Key] = field(default_factory=dict)
    makers: dict[Key, list[nn.Module]] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)
    whole: LayerSums | None = None

    def first(self, key: Key) -> Key:
        while key in self.same:
            key = self.same[key]
        return key

    def streams(self, key: Key) -> bool:
        """Whether the layer's stream is in what this is a sum, or the norm of a sum, of."""
        key = self.first(key)
        if key == self.stream:
            return True
        if key in self.normed:
            return self.streams(self.normed[key])
        return key in self.sums and any(self.streams(each) for each in self.sums[key].operands)

    def kinds(self, key: Key) -> set[str]:
        """What this is a sum of, where the stream is not in it."""
        key = self.first(key)
        if key in self.sums:
            return set().union(*(self.kinds(each) for each in self.sums[key].operands))
        return {self.attended.get(key, "ff")}

    def added(self, key: Key) -> tuple[list[tuple[str, Site, Key]], bool]:
        """All that is added to the stream on the way to this, and whether sums alone are on the way."""
        key = self.first(key)
        if key == self.stream:
            return [], True
        if key in self.normed:
            return self.added(self.normed[key])[0], False
        parts: list[tuple[str, Site, Key]] = []
        plain = True
        for at, operand in enumerate(self.sums[key].operands):
            site = self.sums[key].site._replace(operand=at)
            if self.streams(operand):
                before, plain = self.added(operand)
                parts = [*before, *parts]
            else:
                parts += self._parts(operand, site)
        return parts, plain

    def ends(self, key: Key) -> list[nn.Module]:
        """The modules whose output this is, or a norm or factor has made it of."""
        key = self.first(key)
        before = self.normed.get(key) or self.factored.get(key)
        return [*self.makers.get(key, ()), *(self.ends(before) if before else ())]

    def finish(self, out: Key) -> None:
        """Notes what the layer added, unless its stream is lost on the way, or added to twice by a kind."""
        if not self.streams(out):
            return
        parts, plain = self.added(out)
        kinds = [kind for kind, _, _ in parts]
        if len(set(kinds)) == len(kinds) and "third" not in kinds:
            makers = {kind: self.makers.get(key, []) for kind, _, key in parts}
            ends = {kind: self.ends(key) for kind, _, key in parts}
            self.whole = LayerSums({kind: site for kind, site, _ in parts}, plain, makers, ends)

    def _parts(self, key: Key, site: Site) -> list[tuple[str, Site, Key]]:
        key, kinds = self.first(key), self.kinds(key)
        if len(kinds) == 1:
            return [(next(iter(kinds)), site, key)]
        inner = self.sums[key]
        return [
            part
            for at, operand in enumerate(inner.operands)
            for part in self._parts(operand, inner.site._replace(operand=at))
        ]


class Scout(AttentionObserver):
    """Follows products, softmaxes and the streams of all layers in one pass.

    passes: of the layers that attend, in the order of their calls. places: the attentions that are not
    dispatched. maps: linear maps that make a vector of each. called: all modules.
    """

    def __init__(self, paths: dict[int, str]) -> None:
        super().__init__()
        self.paths = paths
        self.passes: list[_Pass] = []
        self.now: _Pass | None = None
        self.places: dict[tuple[int, int], Place] = {}
        self.made_by: dict[Key, _Scores] = {}
        self.order = count()
        self.softmaxes: list[_Softmax] = []
        self.maps: set[int] = set()
        self.called: set[int] = set()

    @property
    def n_others(self) -> int:
        """The softmaxes of [1, head, query, column] that weigh more than values, as with sinks."""
        shapes = (each.pattern.shape for each in self.softmaxes)
        return sum(len(shape) == 4 and shape[0] == 1 and shape[-2] > 1 for shape in shapes)

    def begin(self, call: AttentionCall) -> None:
        if self.now is None:
            raise OutsideError(call.module)
        self.call = call

    def observe(self, name: str, value: Tensor) -> Tensor:
        if name == "z" and self.now is not None:
            kind = ("self", "cross", "third")[min(len(self.now.calls), 2)]
            self.now.calls[kind] = self.call
            self.now.weighed = kind, value.transpose(1, 2).flatten(2)
            self._keep(self.now.attended, value, kind)
        return value

    def _keep(self, where: dict[Key, Any], tensor: Tensor, value: Any) -> None:
        assert self.now is not None
        self.now.tensors.append(tensor)  # or another would come to lie where it lay
        where[key_of(tensor)] = value

    def enters(self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        if id(module) in self.paths and self.now is None and _tensors((*args, *keywords.values())):
            stream = stream_of(args, keywords)
            self.now = _Pass(module, key_of(stream), stream.numel(), tensors=[stream])

    def leaves(self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any], output: Any) -> None:
        self.called.add(id(module))
        now = self.now
        read = next((each for each in (*args, *keywords.values()) if isinstance(each, Tensor)), None)
        if isinstance(module, LINEAR) and isinstance(output, Tensor) and read is not None:
            if output.shape[-2:-1] == read.shape[-2:-1]:
                self.maps.add(id(module))
            if now is not None and now.weighed is not None and torch.equal(read, now.weighed[1]):
                now.out.setdefault(now.weighed[0], module)
        if now is None:
            return
        out = output
        if isinstance(output, dict | tuple | list):
            out = next(iter(output.values() if isinstance(output, dict) else output), None)
        if module is now.module:
            self.now = None
            if now.calls and not isinstance(out, Tensor):
                raise ValueError(f"its {type(module).__name__} attends, but makes no stream")
            if now.calls:
                now.finish(key_of(out))
                self.passes.append(now)
            return
        if not isinstance(out, Tensor):
            return
        is_norm = not list(module.children()) and "norm" in type(module).__name__.lower()
        if is_norm and read is not None and key_of(read) != key_of(out):
            self._keep(now.normed, out, key_of(read))
        now.tensors.append(out)
        if next(module.parameters(), None) is not None:  # others, such as a dropout, may serve all parts
            now.makers.setdefault(key_of(out), []).append(module)

    def computes(self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        now, dispatched = self.now, self.dispatched
        tensors = [each for each in _tensors((*args, *keywords.values())) if each.layout is torch.strided]
        keys = [key_of(each) for each in tensors]
        if dispatched is not None:
            result = super().computes(function, args, keywords)
        else:
            result = self._attend(function, args, keywords, keys)
        if now is None:
            return result
        output = tensors[0] if result is None and tensors else result
        for out in _tensors(output if isinstance(output, tuple | list) else (output,)):
            if out.layout is torch.strided and key_of(out) not in keys:
                self._follow(now, function, keywords, tensors, keys, out)
        return result

    def _attend(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any], keys: list[Key]) -> Any:
        """Returns what a function returns, and notes what it did to scores and patterns of attention."""
        product, is_softmax = product_of(function, args, keywords), function in SOFTMAX
        numbers = dict(self.counted()) if product or is_softmax else {}
        sources = [self.made_by[key] for key in keys if key in self.made_by]
        source = min(sources, default=None, key=lambda each: each.at)
        scores = (args[0] if args else keywords["input"]).clone() if is_softmax else None
        result = function(*args, **keywords)
        if scores is not None:
            self.softmaxes.append(_Softmax(numbers, scores, result, source))
        elif product is not None:
            softmax = next((each for each in self.softmaxes if each.weighs(product)), None)
            if softmax is not None:
                self.softmaxes = [each for each in self.softmaxes if each is not softmax]
                self._weigh(softmax, numbers, part_of(result, product.order))
            made = _Scores(next(self.order), product, numbers, product.scale, result)
            self.made_by[key_of(result)] = made
        elif source is not None and isinstance(result, Tensor) and result.numel() == source.whole.numel():
            scale = _scaled(function, args, source.scale)
            self.made_by[key_of(result)] = source._replace(scale=scale, whole=result)
        return result

    def _weigh(self, softmax: _Softmax, values: dict[OpenCall, int], z: Part | None) -> None:
        """Notes an attention that is not dispatched, whose product with values has these numbers."""
        source = softmax.source
        numbers = (softmax.numbers if source is None else source.numbers, softmax.numbers, values)
        # the innermost call of a module in which all of these happen, and which of its events they are
        owner = next(call for call in reversed(values) if all(call in each for each in numbers))
        module, name = owner.module, type(owner.module).__name__
        if source is None or source.scale is None or z is None:
            raise ValueError(f"the scores of its {name} are no scaled products of queries and keys")
        biased = _is_biased(softmax.scores, source)
        first, middle, last = (each[owner] for each in numbers)
        place = Place(module, first, middle, last, source.scale, biased)
        known = self.places.setdefault((id(module), place.softmax), place)
        if known[1:5] != place[1:5]:
            raise ValueError(f"its {name} attends in another way at each call")
        if biased:
            self.places[id(module), place.softmax] = place
        self.begin(place.call_of(source.product))
        self.observe("z", z.seen)

    def _follow(
        self,
        now: _Pass,
        function: Any,
        keywords: dict[str, Any],
        tensors: list[Tensor],
        keys: list[Key],
        out: Tensor,
    ) -> None:
        if is_sum(function, tensors, keywords) and self.open:
            here = self.open[-1]
            here.n_sums += 1
            if out.numel() == now.n_cells:
                self._keep(now.sums, out, _Sum((keys[0], keys[1]), Site(here.module, here.n_sums - 1, 0)))
                now.tensors += tensors
                return
        alike = [t for t in tensors if t.numel() == out.numel() == now.n_cells]
        if function in _TIMES | _OVER and alike:
            self._keep(now.factored, out, key_of(alike[0]))
        known = [key for key in keys if now.first(key) in now.sums or now.first(key) == now.stream]
        if known and alike and key_of(alike[0]) in known and _equal(alike[0], out):
            self._keep(now.same, out, key_of(alike[0]))
            return
        kinds = {now.attended[key] for key in map(now.first, keys) if key in now.attended}
        kinds |= set().union(*(now.kinds(key) for key in known if not now.streams(key))) - {"ff"}
        if kinds:
            self._keep(now.attended, out, min(kinds))


def _scaled(function: Any, args: tuple[Any, ...], scale: float | None) -> float | None:
    """The scale of products after a function; None where it bends them, or scales each by another number."""
    if scale is None or function in _BENDING:
        return None
    if function not in _TIMES | _OVER or len(args) != 2:
        return scale
    by = args[1] if isinstance(args[0], Tensor) and args[0].numel() > 1 else args[0]
    if isinstance(by, Tensor) and by.numel() != 1:
        return scale if bool(((by == 0) | (by == 1)).all()) else None  # a mask leaves products, or hides them
    return scale * float(by) if function in _TIMES else scale / float(by)


def _is_biased(logits: Tensor, source: _Scores) -> bool:
    """Tells whether the model adds a bias to the scaled products of queries and keys that hides none."""
    part = part_of(logits)
    if part is None:
        raise ValueError(f"it attends in a batch of the shape {tuple(logits.shape)}, not to one text")
    scores, product = part.seen, source.product
    left, right = (each.seen.to(scores) for each in (product.first, product.second))
    unseen = hidden(scores) | scores.isinf()
    assert source.scale is not None
    rest = (scores - source.scale * left @ right).masked_fill(unseen, 0)
    least = max(BIAS, ROUNDING[product.first.whole.dtype], ROUNDING[scores.dtype])
    return bool(rest.abs().max() > least * scores.masked_fill(unseen, 0).abs().max())


def is_sum(function: Any, operands: Sequence[Any], keywords: dict[str, Any]) -> bool:
    """Whether two tensors of one shape are added, neither of them times a number."""
    return (
        function in _SUMS
        and len(operands) == 2
        and all(isinstance(each, Tensor) for each in operands)
        and operands[0].shape == operands[1].shape
        and keywords.get("alpha", 1) == 1
    )


def stream_of(args: tuple[Any, ...], keywords: dict[str, Any]) -> Tensor:
    """What a layer is given as its stream: the first tensor."""
    named = keywords.get("hidden_states")
    return _tensors((*args, *keywords.values()))[0] if named is None else named


def _equal(a: Tensor, b: Tensor) -> bool:
    real = a.is_floating_point() and b.is_floating_point()
    return real and torch.equal(a.flatten().float(), b.flatten().float())


def _tensors(values: Sequence[Any]) -> list[Tensor]:
    tensors: list[Tensor] = []
    for each in values:
        if isinstance(each, Tensor):
            tensors.append(each)
        elif isinstance(each, tuple | list):
            tensors += [inner for inner in each if isinstance(inner, Tensor)]
    return tensors


@dataclass(frozen=True)
class LayerModules:
    """One layer; `number` is its place among all layers of its stack, as its path has it.

    out: the output projection of its attention, by "self" and "cross"; ff: the last linear map of a
    feed-forward network that has one; added: what it adds to its stream. What was not found is missing.
    """

    module: nn.Module
    path: str
    stack: str
    number: int = 0
    calls: dict[str, AttentionCall] = field(default_factory=dict)
    out: dict[str, nn.Module] = field(default_factory=dict)
    ff: nn.Module | None = None
    added: LayerSums | None = None

    @property
    def at(self) -> str:
        """How its addresses begin."""
        return f"{self.stack}.{self.number}"


class Layout(NamedTuple):
    """The modules of a model that a recorder listens to. stacks: the module of each stack by its name;
    places: its attentions, where they do not dispatch. ends: whether what stacks make is their last stream.
    """

    stacks: dict[str, nn.Module]
    layers: list[LayerModules]
    places: list[Place] = []  # noqa: RUF012 (nobody changes it)
    ends: bool = True

    def of(self, stack: str) -> list[LayerModules]:
        return [layer for layer in self.layers if layer.stack == stack]


class OutsideError(Exception):
    """An attention, a module, that is computed in no layer."""


def find_layout(model: PreTrainedModel, stacks: dict[str, nn.Module], read: Callable[[], object]) -> Layout:
    """The layout of a model, found while `read` lets it read something: with what it dispatches, or, where
    that is not all that it computes, with its products and sums alone.

    Raises ValueError, with a sentence, for an architecture whose attention cannot be told apart.
    """
    why: Exception | None = None
    for implementation in (NAME, "eager"):
        try:
            model.set_attn_implementation(implementation)
            return _scouted(model, stacks, read)
        except Exception as error:  # an architecture may fail in any way where it is heard
            why = error
    raise ValueError(first_line(why or ValueError()))


def _scouted(model: PreTrainedModel, stacks: dict[str, nn.Module], read: Callable[[], object]) -> Layout:
    paths = _layer_paths(model)
    scout = Scout(paths)
    try:
        with torch.no_grad(), scout.observing(model.modules()):
            read()
    except OutsideError as error:
        path = next(path for path, module in model.named_modules() if module is error.args[0])
        raise ValueError(
            f"{type(model).__name__} has an attention, {path[:100]}, outside its layers; open another model"
        ) from None
    if scout.places and scout.n_others:
        raise ValueError(f"{scout.n_others} of its softmaxes weigh more than values")
    at = [(each, paths[id(each.module)], _stack_of(each.module, stacks)) for each in scout.passes]
    numbers = {stack: iter(_numbers([path for _, path, own in at if own == stack])) for stack in stacks}
    layers = []
    for each, path, stack in at:
        ends = each.whole.ends.get("ff", ()) if each.whole else ()
        ff = next((module for module in ends if id(module) in scout.maps), None)
        layers.append(
            LayerModules(each.module, path, stack, next(numbers[stack]), each.calls, each.out, ff, each.whole)
        )
    _check(layers, stacks, type(model).__name__)
    # A stack's output is that of what transformers names, or, where it is passed over, of its layers' owner.
    owners = {layer.stack: layer.path.rsplit(".", 2)[0] for layer in reversed(layers)}
    outputs = {
        name: whole if id(whole) in scout.called else model.get_submodule(owners[name])
        for name, whole in stacks.items()
    }
    return Layout(outputs, layers, list(scout.places.values()))


def _layer_paths(model: PreTrainedModel) -> dict[int, str]:
    """The paths of the elements of lists of modules that are inside of no other, which layers are, by id."""
    paths: dict[int, str] = {}
    for path, each in model.named_modules():
        if isinstance(each, nn.ModuleList) and not any(path.startswith(f"{x}.") for x in paths.values()):
            elements = {id(one): f"{path}.{at}" for at, one in enumerate(each)}
            paths |= {id(one): elements[id(one)] for one in each if not isinstance(one, nn.ModuleList)}
    return paths


def _numbers(paths: list[str]) -> list[int]:
    """The number of each layer of a stack: that of its path, so that layers which attend otherwise count; or,
    where these do not rise, its place among those that attend.
    """
    numbers = [int(path.rpartition(".")[2]) for path in paths]
    return numbers if all(a < b for a, b in pairwise(numbers)) else list(range(len(numbers)))


def _stack_of(module: nn.Module, stacks: dict[str, nn.Module]) -> str:
    return next(s for s, whole in stacks.items() if any(module is m for m in whole.modules()))


def _check(layers: list[LayerModules], expected: Iterable[str], name: str) -> None:
    """Raises ValueError for layers that attend more often than ours, or differ in their numbers of heads."""
    stacks = {layer.stack for layer in layers}
    missing = [stack for stack in expected if stack not in stacks]
    if missing:
        raise ValueError(f"the {missing[0]} of {name} computes no attention that can be recorded")
    for layer in layers:
        most = 2 if layer.stack == "decoder" and "encoder" in stacks else 1
        if len(layer.calls) > most:
            raise ValueError(
                f"{name} attends {len(layer.calls)} times in {layer.path[:100]}, more than the {most} that "
                "can be shown; open another model"
            )
    for stack in stacks:
        sizes = {
            (tuple(layer.calls), *((c.n_heads, c.n_key_heads, c.d_head) for c in layer.calls.values()))
            for layer in layers
            if layer.stack == stack
        }
        if len(sizes) > 1:
            raise ValueError(
                f"the layers of {name} differ in the number or size of their heads, "
                f"{sorted(map(str, sizes))[:2]}; open another model"
            )
