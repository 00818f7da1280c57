"""Two sides as they are shown: every head of both on the same places, what comes out, how far they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from models.contrast import Aligned, Contrast
from models.contrast.distance import laid, variation
from models.engine.trace import Trace

TOP = 12
"""The likeliest outputs of each side that are kept at a place."""
MOST_PLACES = 512
Patterns = Mapping[str, torch.Tensor]
Row = tuple[str, float | None, float | None]
Head = tuple[str, int, int]
"""A stack such as "encoder.self", a layer, a head."""


@dataclass(frozen=True)
class Outputs:
    """The likeliest outputs of both sides. tokens: of a and of b at each place; top: there, a name and its
    probability on each side; kl: KL(a || b) in nats; note: what cannot be compared, in a sentence.
    """

    tokens: tuple[tuple[str, str], ...]
    top: tuple[tuple[Row, ...], ...]
    kl: np.ndarray
    note: str = ""


@dataclass(frozen=True)
class Frame:
    """A pair of sides. patterns: [head, query, key] of each by address, such as "encoder.0.self". recut: both
    have the same matrices, so that a head of one stands where another number of them stand in the other.
    """

    patterns: tuple[Patterns, Patterns]
    aligned: Mapping[str, Aligned]
    moved: Mapping[str, np.ndarray]
    outputs: Outputs | None
    note: str = ""
    recut: bool = False

    def places(self, stack: str) -> tuple[Aligned, Aligned]:
        """The aligned tokens of a stack's queries and of its keys."""
        side, kind = stack.split(".")
        return self.aligned[side], self.aligned["encoder" if kind == "cross" else side]

    def laid(self, side: int, head: Head) -> np.ndarray:
        """The pattern of a head of side 0 or 1 on the places of both, NaN at gaps: [query, key]."""
        stack, layer, number = self.counterpart(head) if side else head
        pattern = self.patterns[side][address(stack, layer)][[number]]
        return laid(pattern, *self.places(stack), side)[0].numpy()

    def counterpart(self, head: Head) -> Head:
        """The head of side 1 of this number; where the same matrices are cut into more or fewer heads, the
        one in the same place.
        """
        stack, layer, number = head
        count, other = (self.counts(side)[stack][1] for side in (0, 1))
        return (stack, layer, number * other // count) if self.recut else head

    def distances(self, stack: str) -> np.ndarray:
        """How far each head of side 0 is from its counterpart: [layer, head]."""
        counts = [self.counts(side).get(stack) for side in (0, 1)]
        if not self.recut or counts[0] == counts[1] or counts[0] is None:
            return self.moved[stack]
        found = np.full(counts[0], np.nan)
        for layer in self.layers(0, stack):
            found[layer] = [self.apart_from((stack, layer, head)) for head in range(counts[0][1])]
        return found

    def apart_from(self, head: Head) -> float:
        """How far a head of side 0 is from its counterpart."""
        _, layer, number = self.counterpart(head)
        return float(self.apart(head)[layer, number])

    def apart(self, head: Head) -> np.ndarray:
        """How far each head of side 1 is from one of side 0, in the stack of that one: [layer, head]."""
        stack = head[0]
        queries, keys = self.places(stack)
        one = laid(self.patterns[0][address(stack, head[1])][[head[2]]], queries, keys, 0)
        found = np.full(self.counts(1)[stack], np.nan, np.float32)
        one = one.expand(found.shape[1], -1, -1)
        for layer in self.layers(1, stack):
            other = laid(self.patterns[1][address(stack, layer)], queries, keys, 1)
            found[layer] = variation(one, other, queries).numpy()
        return found

    def layers(self, side: int, stack: str) -> list[int]:
        """The numbers of a stack's layers that attend."""
        places = (where.split(".") for where in self.patterns[side])
        return [int(layer) for begin, layer, kind in places if f"{begin}.{kind}" == stack]

    def counts(self, side: int) -> dict[str, tuple[int, int]]:
        """The number after its last layer's, and the heads, of each stack of a side whose tokens are aligned;
        layers between that do not attend count.
        """
        found: dict[str, tuple[int, int]] = {}
        for where, pattern in self.patterns[side].items():
            begin, layer, kind = where.split(".")
            if begin in self.aligned and (kind != "cross" or "encoder" in self.aligned):
                stack = f"{begin}.{kind}"
                found[stack] = (max(int(layer) + 1, found.get(stack, (0, 0))[0]), len(pattern))
        return found


@dataclass(frozen=True)
class Seen:
    """What the page shows. names: of the frames, a knob's values; () where there is one frame alone; first:
    the place of the one to begin with. matches: for each head of the first side the one of the second that
    is its partner by likeness; note: by what they were matched.
    """

    frames: tuple[Frame, ...]
    names: tuple[str, ...] = ()
    first: int = 0
    matches: Mapping[Head, Head] = field(default_factory=dict)
    note: str = ""

    @property
    def n_bytes(self) -> int:
        kept = {id(each): each for frame in self.frames for side in frame.patterns for each in side.values()}
        return sum(each.nbytes for each in kept.values()) + 20_000


def address(stack: str, layer: int) -> str:
    side, kind = stack.split(".")
    return f"{side}.{layer}.{kind}"


def frame_of(found: Contrast, first: Patterns | None = None, *, recut: bool = False) -> Frame:
    """A contrast without its models. first: the patterns of a, where they are at hand already."""
    patterns = tuple(_patterns(trace) for trace in found.traces)
    moved = {stack: values.numpy() for stack, values in found.moved.items()}
    return Frame(
        (first if first is not None else patterns[0], patterns[1]), found.aligned, moved, _outputs(found),
        found.note, recut,
    )  # fmt: skip


def _patterns(trace: Trace) -> dict[str, torch.Tensor]:
    return {name.removesuffix(".pattern"): trace[name].float() for name in trace if name.endswith(".pattern")}


def _outputs(found: Contrast) -> Outputs | None:
    if found.outputs is None:
        return None
    aligned = found.outputs.aligned
    n = min(len(aligned), MOST_PLACES)
    tokens = tuple(zip(aligned.tokens_a, aligned.tokens_b, strict=True))
    sides = tuple(map(_Side, found.outputs.named, found.outputs.logs))
    top = tuple(_top(sides, pair) for pair in aligned.pairs[:n])
    return Outputs(tokens[:n], top, found.outputs.kl[:n].numpy(), found.outputs.note)


class _Side:
    """The probabilities of a side by name; outputs of one name are counted together."""

    def __init__(self, names: Sequence[str], logs: torch.Tensor) -> None:
        self.names = names or [str(number) for number in range(logs.shape[1])]
        self.logs, self.best = logs, logs.topk(min(TOP, logs.shape[1])).indices.tolist()
        self.columns: dict[str, list[int]] = {}
        for column, name in enumerate(self.names):
            self.columns.setdefault(name, []).append(column)

    def probability(self, at: int | None, name: str) -> float | None:
        columns = self.columns.get(name)
        return None if at is None or columns is None else float(self.logs[at, columns].exp().sum())


def _top(sides: Sequence[_Side], pair: Sequence[int | None]) -> tuple[Row, ...]:
    """The likeliest of side a and of side b at a place, with their probabilities on both."""
    best = [
        side.names[column]
        for side, at in zip(sides, pair, strict=True)
        if at is not None
        for column in side.best[at]
    ]
    a, b = (
        [side.probability(at, name) for name in dict.fromkeys(best)]
        for side, at in zip(sides, pair, strict=True)
    )
    return tuple(zip(dict.fromkeys(best), a, b, strict=True))
