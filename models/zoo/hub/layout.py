"""Where the layers of a model of transformers are: found by letting it read a few tokens once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from models.zoo.hub.attention import Call, listening

LINEAR = (nn.Linear, Conv1D)


@dataclass(frozen=True)
class Layer:
    """One layer. out: the output projection of its attention, by "self" and "cross"; ff: the last linear map
    of its feed-forward network. Either is missing where it was not found.
    """

    module: nn.Module
    path: str
    stack: str
    calls: dict[str, Call] = field(default_factory=dict)
    out: dict[str, nn.Module] = field(default_factory=dict)
    ff: nn.Module | None = None


class Layout(NamedTuple):
    """The modules of a model that a recorder listens to. stacks: the module of each stack by its name."""

    stacks: dict[str, nn.Module]
    layers: list[Layer]

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
        self.events.append(_Event(module, given[0], tuple(made.shape)))

    def finish(self, module: nn.Module, given: object, made: object) -> None:
        self.finished.setdefault(id(module), []).append(len(self.events))

    def round(self, module: nn.Module, at: int) -> int:
        """How often a module had finished before an event: layers that share their weights are one module."""
        return bisect_right(self.finished.get(id(module), []), at)


def find(model: PreTrainedModel, stacks: dict[str, nn.Module], read: Callable[[], object]) -> Layout:
    """The layout of a model, found while `read` lets it read something.

    Raises ValueError, with a sentence, for an architecture whose attention cannot be told apart.
    """
    scout = _Scout()
    with ExitStack() as opened:
        for module in model.modules():
            listened = scout.linear if isinstance(module, LINEAR) else scout.finish
            opened.callback(module.register_forward_hook(listened).remove)
        opened.enter_context(listening(scout))
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
    found = [_with_feed_forward(layer, names, scout.events) for layer in layers.values()]
    _check(found, type(model).__name__)
    return Layout({name: _called(model, name, whole, found, scout) for name, whole in stacks.items()}, found)


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


def _with_feed_forward(layer: Layer, names: dict[int, str], events: list[_Event]) -> Layer:
    """The layer with the last of its linear maps, if that makes one vector a position, as its ff.out is."""
    inside = set(map(id, layer.module.modules()))
    mine = [event for event in events if id(event.module) in inside]
    attended = max(at for at, event in enumerate(mine) if event.call is not None)
    outs = {id(module) for module in layer.out.values()}
    after = [event for event in mine[attended + 1 :] if id(event.module) not in outs]
    if not after:
        return layer
    width = next((m.made[-1] for m in mine if id(m.module) in outs), after[-1].made[-1])
    n_positions = layer.calls["self"].n_queries
    fits = after[-1].made in ((1, n_positions, width), (n_positions, width))
    return replace(layer, ff=after[-1].module if fits else None)


def _check(layers: list[Layer], name: str) -> None:
    """Raises ValueError for layers that attend more often than ours, or differ in their numbers of heads."""
    if not layers:
        raise ValueError(f"{name} computed no attention that can be recorded; open another model")
    for layer in layers:
        most = 2 if "cross" in layer.calls and layer.stack == "decoder" else 1
        if len(layer.calls) > most:
            raise ValueError(
                f"{name} attends {len(layer.calls)} times in {layer.path[:100]}, where at most {most} are "
                "known how to show; open another model"
            )
    for stack in {layer.stack for layer in layers}:
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
