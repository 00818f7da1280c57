"""Where the layers of a model of transformers are: found by letting it read a few tokens once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from models.zoo.hub import stream
from models.zoo.hub.attention import Call, listening
from models.zoo.hub.products import Place, hearing
from models.zoo.hub.stream import Added

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


def find(
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
        opened.enter_context(hearing(places, scout))
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
    calls = stream.find(model, [layer.module for layer in found], places, read)
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
