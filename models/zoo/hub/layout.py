"""What each layer adds to the residual stream: found at the sums that it calls, whatever its modules are.

A first pass follows every layer's stream from what goes in to what comes out, through sums and the norms
after them (`find`). Later passes count the same sums, and hear what is added there (`hearing`): whole experts
with those that all tokens share, what a factor or a norm made of a projection, two branches side by side.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from models.zoo.hub.attention import FACTORS, Call, Key, Place, key_of, listening
from models.zoo.hub.attention import hearing_products as hearing_products

_SUMS = {torch.add, Tensor.add, Tensor.add_, Tensor.__add__, Tensor.__radd__, Tensor.__iadd__}


class Site(NamedTuple):
    """A sum: the number of it among those that a module itself calls, and which operand is added."""

    module: nn.Module
    number: int
    operand: int


@dataclass(frozen=True)
class Added:
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
    """What is known of one call of a layer while it is computed. attended: what attention made."""

    stream: Key
    n_cells: int
    sums: dict[Key, _Sum] = field(default_factory=dict)
    normed: dict[Key, Key] = field(default_factory=dict)
    same: dict[Key, Key] = field(default_factory=dict)
    attended: dict[Key, str] = field(default_factory=dict)
    factored: dict[Key, Key] = field(default_factory=dict)
    makers: dict[Key, list[nn.Module]] = field(default_factory=dict)
    n_attended: int = 0
    tensors: list[Tensor] = field(default_factory=list)

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


class _Following(TorchFunctionMode):
    """Follows the streams of all layers in one pass."""

    def __init__(self, layers: Sequence[nn.Module]) -> None:
        super().__init__()
        self.layers = {id(layer) for layer in layers}
        self.passes: list[tuple[nn.Module, Added | None]] = []
        self.now: _Pass | None = None
        self.open: list[tuple[nn.Module, int]] = []

    def begin(self, call: Call) -> None:
        pass

    def heard(self, name: str, value: Tensor) -> Tensor:
        if name == "z" and self.now is not None:
            kind = ("self", "cross", "third")[min(self.now.n_attended, 2)]
            self.now.n_attended += 1
            self._keep(self.now.attended, value, kind)
        return value

    def _keep(self, where: dict[Key, Any], tensor: Tensor, value: Any) -> None:
        assert self.now is not None
        self.now.tensors.append(tensor)  # or another would come to lie where it lay
        where[key_of(tensor)] = value

    def enter(self, module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        if id(module) in self.layers:
            stream = stream_of(given, named)
            self.now = _Pass(key_of(stream), stream.numel(), tensors=[stream])
        self.open.append((module, 0))

    def leave(self, module: nn.Module, given: tuple[Any, ...], named: dict[str, Any], made: Any) -> None:
        self.open.pop()
        out = (
            made
            if isinstance(made, Tensor)
            else next(iter(made.values() if isinstance(made, dict) else made))
        )
        if self.now is None or not isinstance(out, Tensor):
            return
        if id(module) in self.layers:
            self.passes.append((module, _of(self.now, key_of(out))))
            self.now = None
            return
        read = next((each for each in (*given, *named.values()) if isinstance(each, Tensor)), None)
        is_norm = not list(module.children()) and "norm" in type(module).__name__.lower()
        if is_norm and read is not None and key_of(read) != key_of(out):
            self._keep(self.now.normed, out, key_of(read))
        self.now.tensors.append(out)
        if (
            next(module.parameters(), None) is not None
        ):  # others, such as a dropout, may be called for all parts
            self.now.makers.setdefault(key_of(out), []).append(module)

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        now = self.now
        if now is None:
            return function(*args, **named)
        tensors = [each for each in _tensors((*args, *named.values())) if each.layout is torch.strided]
        keys = [key_of(each) for each in tensors]
        result = function(*args, **named)
        made = tensors[0] if result is None and tensors else result
        for out in _tensors(made if isinstance(made, tuple | list) else (made,)):
            self._follow(now, function, named, tensors, keys, out)
        return result

    def _follow(
        self,
        now: _Pass,
        function: Any,
        named: dict[str, Any],
        tensors: list[Tensor],
        keys: list[Key],
        out: Tensor,
    ) -> None:
        if out.layout is not torch.strided or key_of(out) in keys:
            return
        if _is_sum(function, tensors, named) and self.open:
            module, number = self.open[-1]
            self.open[-1] = (module, number + 1)
            if out.numel() == now.n_cells:
                self._keep(now.sums, out, _Sum((keys[0], keys[1]), Site(module, number, 0)))
                now.tensors += tensors
                return
        alike = [t for t in tensors if t.numel() == out.numel() == now.n_cells]
        if function in FACTORS and alike:
            self._keep(now.factored, out, key_of(alike[0]))
        known = [key for key in keys if now.first(key) in now.sums or now.first(key) == now.stream]
        if known and alike and key_of(alike[0]) in known and _equal(alike[0], out):
            self._keep(now.same, out, key_of(alike[0]))
            return
        kinds = {now.attended[key] for key in map(now.first, keys) if key in now.attended}
        summed = [now.kinds(key) for key in known if not now.streams(key)]
        kinds |= set().union(*summed) - {"ff"}
        if kinds:
            self._keep(now.attended, out, min(kinds))


def _is_sum(function: Any, operands: Sequence[Any], named: dict[str, Any]) -> bool:
    """Whether two tensors of one shape are added, neither of them times a number."""
    return (
        function in _SUMS
        and len(operands) == 2
        and all(isinstance(each, Tensor) for each in operands)
        and operands[0].shape == operands[1].shape
        and named.get("alpha", 1) == 1
    )


def stream_of(given: tuple[Any, ...], named: dict[str, Any]) -> Tensor:
    """What a layer is given as its stream: the first tensor."""
    return named["hidden_states"] if "hidden_states" in named else _tensors((*given, *named.values()))[0]


def _equal(a: Tensor, b: Tensor) -> bool:
    return torch.equal(a.flatten().float(), b.flatten().float())


def _tensors(given: Sequence[Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for each in given:
        if isinstance(each, Tensor):
            found.append(each)
        elif isinstance(each, tuple | list):
            found += [inner for inner in each if isinstance(inner, Tensor)]
    return found


def _of(now: _Pass, out: Key) -> Added | None:
    """What a layer added; None where its stream is lost on the way, or added to twice by one kind."""
    if not now.streams(out):
        return None
    parts, plain = now.added(out)
    kinds = [kind for kind, _, _ in parts]
    if len(set(kinds)) < len(kinds) or "third" in kinds:
        return None
    makers = {kind: now.makers.get(key, []) for kind, _, key in parts}
    ends = {kind: now.ends(key) for kind, _, key in parts}
    return Added({kind: site for kind, site, _ in parts}, plain, makers, ends)


def find_sums(
    net: nn.Module, layers: Sequence[nn.Module], places: list[Place], read: Callable[[], object]
) -> list[Added | None]:
    """What each call of a layer adds to its stream, in the order of calls; None where it is not known."""
    mode = _Following(layers)
    with ExitStack() as opened:
        for module in net.modules():
            opened.callback(module.register_forward_pre_hook(mode.enter, with_kwargs=True).remove)
            opened.callback(module.register_forward_hook(mode.leave, with_kwargs=True).remove)
        opened.enter_context(torch.no_grad())
        opened.enter_context(listening(mode))
        opened.enter_context(hearing_products(places, mode))
        opened.enter_context(mode)
        read()
    return [added for _, added in mode.passes]


class _Hearing(TorchFunctionMode):
    """Gives what is added at the sites to whoever records it, who may give something else in its place."""

    def __init__(
        self, added: Sequence[Added], recorded: Callable[[str, Tensor], Tensor], is_heard: Callable[[], bool]
    ) -> None:
        super().__init__()
        self.parts = {
            (id(site.module), site.number, site.operand): f"{kind}.out"
            for each in added
            for kind, site in each.sites.items()
        }
        self.modules = {id(site.module): site.module for each in added for site in each.sites.values()}
        self.recorded, self.is_heard = recorded, is_heard
        self.open: list[list[int]] = []

    def enter(self, module: nn.Module, given: Any) -> None:
        if self.is_heard():
            self.open.append([id(module), 0])

    def leave(self, module: nn.Module, given: Any, made: Any) -> None:
        if self.is_heard():
            self.open.pop()

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        operands = [*args, *(named[name] for name in ("input", "other") if name in named)]
        rest = {name: value for name, value in named.items() if name not in ("input", "other")}
        here = self.open[-1] if self.open else None
        if here is None or here[0] not in self.modules or not _is_sum(function, operands, named):
            return function(*args, **named)
        for at in (0, 1):
            name = self.parts.get((here[0], here[1], at))
            if name is not None:
                operands[at] = self.recorded(name, operands[at])
        here[1] += 1
        return function(*operands, **rest)


@contextmanager
def hearing_sums(
    added: Sequence[Added], recorded: Callable[[str, Tensor], Tensor], is_heard: Callable[[], bool]
) -> Iterator[None]:
    """Within it, what is added to the stream in one pass is given to `recorded`, with the end of its address.

    is_heard: whether what this thread computes is that pass.
    """
    mode = _Hearing(added, recorded, is_heard)
    with ExitStack() as opened:
        inside = {id(part): part for module in mode.modules.values() for part in module.modules()}
        for module in inside.values():
            opened.callback(module.register_forward_pre_hook(mode.enter).remove)
            opened.callback(module.register_forward_hook(mode.leave).remove)
        opened.enter_context(mode)
        yield


# Where the layers of a model of transformers are: found by letting it read a few tokens once.

LINEAR = (nn.Linear, Conv1D)


@dataclass(frozen=True)
class Layer:
    """One layer; `number` is its place among all layers of its stack, as its path has it.

    out: the output projection of its attention, by "self" and "cross"; ff: the last linear map of a
    feed-forward network that has one; added: what it adds to its stream. What was not found is missing.
    """

    module: nn.Module
    path: str
    stack: str
    number: int = 0
    calls: dict[str, Call] = field(default_factory=dict)
    out: dict[str, nn.Module] = field(default_factory=dict)
    ff: nn.Module | None = None
    added: Added | None = None

    @property
    def at(self) -> str:
        """How its addresses begin."""
        return f"{self.stack}.{self.number}"


class Layout(NamedTuple):
    """The modules of a model that a recorder listens to. stacks: the module of each stack by its name;
    places: its attentions, where they do not dispatch. ends: whether what stacks make is their last stream.
    """

    stacks: dict[str, nn.Module]
    layers: list[Layer]
    places: list[Place] = []  # noqa: RUF012 (nobody changes it)
    ends: bool = True

    def of(self, stack: str) -> list[Layer]:
        return [layer for layer in self.layers if layer.stack == stack]


class _Event(NamedTuple):
    """A linear map that was called with `value`, or, with a call, an attention whose z it is."""

    module: nn.Module
    value: Tensor
    made: tuple[int, ...]
    call: Call | None = None


class _Scout:
    """Writes down the order in which attentions and linear maps are called.

    finished: for every other module by its id, how many events there were each time that it had finished.
    """

    def __init__(self) -> None:
        self.events: list[_Event] = []
        self.finished: dict[int, list[int]] = {}

    def begin(self, call: Call) -> None:
        self.call = call

    def heard(self, name: str, value: Tensor) -> Tensor:
        if name == "z":
            flat = value.transpose(1, 2).flatten(2)
            self.events.append(_Event(self.call.module, flat, (), self.call))
        return value

    def linear(self, module: nn.Module, given: tuple[Tensor, ...], made: Tensor) -> None:
        if isinstance(made, Tensor):  # a router's map may make several
            self.events.append(_Event(module, given[0], tuple(made.shape)))

    def finish(self, module: nn.Module, given: object, made: object) -> None:
        self.finished.setdefault(id(module), []).append(len(self.events))

    def round(self, module: nn.Module, at: int) -> int:
        """How often a module had finished before an event: layers that share their weights are one module."""
        return bisect_right(self.finished.get(id(module), []), at)


def find_layout(
    model: PreTrainedModel,
    stacks: dict[str, nn.Module],
    read: Callable[[], object],
    places: list[Place],
) -> Layout:
    """The layout of a model, found while `read` lets it read something; places: what does not dispatch.

    Raises ValueError, with a sentence, for an architecture whose attention cannot be told apart.
    """
    scout = _Scout()
    with ExitStack() as opened:
        for module in model.modules():
            listened = scout.linear if isinstance(module, LINEAR) else scout.finish
            opened.callback(module.register_forward_hook(listened).remove)
        opened.enter_context(listening(scout))
        opened.enter_context(hearing_products(places, scout))
        opened.enter_context(torch.no_grad())
        read()
    names = {id(module): name for name, module in model.named_modules()}
    layers: dict[tuple[str, int], Layer] = {}
    for at, event in enumerate(scout.events):
        if event.call is not None:
            path = _layer_path(model, names[id(event.module)])
            module = model.get_submodule(path)
            key = (path, scout.round(module, at))
            if key not in layers:
                layers[key] = Layer(module, path, _stack_of(module, stacks))
            _add(layers[key], event, scout.events[at + 1 :])
    found = list(layers.values())
    _check(found, stacks, type(model).__name__)
    calls = find_sums(model, [layer.module for layer in found], places, read)
    added = calls if len(calls) == len(found) else [None] * len(found)
    found = [
        _with_feed_forward(replace(layer, number=number, added=part), scout.events)
        for layer, number, part in zip(found, _numbers(found), added, strict=True)
    ]
    called = {name: _called(model, name, whole, found, scout) for name, whole in stacks.items()}
    return Layout(called, found, places)


def _numbers(layers: list[Layer]) -> list[int]:
    """The number of each layer in its stack: that of its path, so that layers which attend otherwise count;
    or, where these do not rise, its place among those that attend.
    """
    numbers: dict[str, list[int]] = {}
    for stack in {layer.stack for layer in layers}:
        paths = [int(layer.path.rpartition(".")[2]) for layer in layers if layer.stack == stack]
        rising = all(a < b for a, b in pairwise(paths))
        numbers[stack] = paths if rising else list(range(len(paths)))
    left = {stack: iter(each) for stack, each in numbers.items()}
    return [next(left[layer.stack]) for layer in layers]


def _called(
    model: PreTrainedModel, stack: str, whole: nn.Module, layers: list[Layer], scout: _Scout
) -> nn.Module:
    """The module whose output is the stack's: what transformers names, or, where that is passed over, the
    owner of the list of layers.
    """
    if id(whole) in scout.finished:
        return whole
    path = next(layer.path for layer in layers if layer.stack == stack)
    return model.get_submodule(path.rsplit(".", 2)[0])


def _stack_of(module: nn.Module, stacks: dict[str, nn.Module]) -> str:
    return next(s for s, whole in stacks.items() if any(module is m for m in whole.modules()))


def _add(layer: Layer, event: _Event, later: list[_Event]) -> None:
    """Adds an attention to its layer."""
    assert event.call is not None
    kind = ("self", "cross", "third")[min(len(layer.calls), 2)]
    layer.calls[kind] = event.call
    inside = set(map(id, layer.module.modules()))
    for each in later:
        if each.call is not None:
            break
        if id(each.module) in inside and _is_same(each.value, event.value):
            layer.out[kind] = each.module
            break


def _layer_path(model: PreTrainedModel, name: str) -> str:
    """The path of the layer that holds a module: the element of the outermost list of modules around it."""
    paths = list(accumulate(name.split("."), lambda whole, part: f"{whole}.{part}"))
    for outer, path in zip(["", *paths], paths, strict=False):
        if isinstance(model.get_submodule(outer), nn.ModuleList):
            return path
    raise ValueError(
        f"{type(model).__name__} has an attention, {name[:100]}, outside of any list of layers, so it cannot "
        "be numbered; open another model"
    )


def _is_same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and torch.equal(a, b)


def _with_feed_forward(layer: Layer, events: list[_Event]) -> Layer:
    """The layer with the last of its linear maps, where its feed-forward network ends in that one."""
    if layer.added is None or "ff" not in layer.added.ends:
        return layer
    mine = {
        id(event.module)
        for event in events
        if event.call is None and event.made[-2:-1] == event.value.shape[-2:-1]
    }
    last = [module for module in layer.added.ends["ff"] if id(module) in mine]
    return replace(layer, ff=last[0] if last else None)


def _check(layers: list[Layer], wanted: Iterable[str], name: str) -> None:
    """Raises ValueError for layers that attend more often than ours, or differ in their numbers of heads."""
    stacks = {layer.stack for layer in layers}
    missing = [stack for stack in wanted if stack not in stacks]
    if missing:
        raise ValueError(f"the {missing[0]} of {name} computes no attention that can be recorded")
    for layer in layers:
        most = 2 if layer.stack == "decoder" and "encoder" in stacks else 1
        if len(layer.calls) > most:
            raise ValueError(
                f"{name} attends {len(layer.calls)} times in {layer.path[:100]}, where at most {most} are "
                "known how to show; open another model"
            )
    for stack in stacks:
        sizes = {
            (tuple(layer.calls), *((c.n_heads, c.n_key_heads, c.d_head) for c in layer.calls.values()))
            for layer in layers
            if layer.stack == stack
        }
        if len(sizes) > 1:
            raise ValueError(
                f"{name} has layers of different numbers or sizes of heads, {sorted(map(str, sizes))[:2]}, "
                "which the views cannot show beside each other; open another model"
            )
