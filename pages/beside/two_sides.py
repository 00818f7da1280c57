"""Two sides beside each other: every head of both on the same places, what comes out, how far they are
apart, and the work that computes it, by a thread of its own, one comparison after another, told and
stopped by the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

import attention_lab.models as _before_torch  # noqa: F401  (so that torch's idle threads sleep)
from attention_lab.models.byte_units import MB
from attention_lab.models.contrast import Aligned, Contrast, Side, contrast, knobs, match_sides
from attention_lab.models.contrast.comparison import on_places, variation
from attention_lab.models.contrast.matching import Matching
from attention_lab.models.data.tasks import Reading
from attention_lab.models.engine.address import Address, attention_at, sides_of
from attention_lab.models.engine.trace import Trace
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.models.zoo.model import Model
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.training import runs
from attention_lab.pages.shared.work import Job, Queue, check_price

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
class FramePair:
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
        queries, keys = sides_of(stack)
        return self.aligned[queries], self.aligned[keys]

    def laid(self, side: int, head: Head) -> np.ndarray:
        """The pattern of a head of side 0 or 1 on the places of both, NaN at gaps: [query, key]."""
        stack, layer, number = self.counterpart(head) if side else head
        pattern = self.patterns[side][attention_at(stack, layer)][[number]]
        return on_places(pattern, *self.places(stack), side)[0].numpy()

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
        moved = np.full(counts[0], np.nan)
        for layer in self.layers(0, stack):
            for head in range(counts[0][1]):
                _, other_layer, number = self.counterpart((stack, layer, head))
                moved[layer, head] = self.apart((stack, layer, head))[other_layer, number]
        return moved

    def apart(self, head: Head) -> np.ndarray:
        """How far each head of side 1 is from one of side 0, in the stack of that one: [layer, head]."""
        stack = head[0]
        queries, keys = self.places(stack)
        one = on_places(self.patterns[0][attention_at(stack, head[1])][[head[2]]], queries, keys, 0)
        distances = np.full(self.counts(1)[stack], np.nan, np.float32)
        one = one.expand(distances.shape[1], -1, -1)
        for layer in self.layers(1, stack):
            other = on_places(self.patterns[1][attention_at(stack, layer)], queries, keys, 1)
            distances[layer] = variation(one, other, queries).numpy()
        return distances

    def layers(self, side: int, stack: str) -> list[int]:
        """The numbers of a stack's layers that attend."""
        return [at.layer for at in map(Address.parse, self.patterns[side]) if at.family == stack]

    def counts(self, side: int) -> dict[str, tuple[int, int]]:
        """The number after its last layer's, and the heads, of each stack of a side whose tokens are aligned;
        layers between that do not attend count.
        """
        counts: dict[str, tuple[int, int]] = {}
        for where, pattern in self.patterns[side].items():
            at = Address.parse(where)
            if {*sides_of(at.family)} <= self.aligned.keys():
                counts[at.family] = (max(at.layer + 1, counts.get(at.family, (0, 0))[0]), len(pattern))
        return counts


@dataclass(frozen=True)
class Comparison:
    """What the page shows. names: of the frames, a knob's values; () where there is one frame alone; first:
    the place of the one to begin with. matches: for each head of the first side the one of the second that
    is its partner by likeness; note: by what they were matched.
    """

    frames: tuple[FramePair, ...]
    names: tuple[str, ...] = ()
    first: int = 0
    matches: Mapping[Head, Head] = field(default_factory=dict)
    note: str = ""

    @property
    def notes(self) -> list[str]:
        """By what heads were matched, and what cannot be compared, each sentence once."""
        notes = [self.note]
        for frame in self.frames:
            notes += [frame.note, frame.outputs.note if frame.outputs else ""]
        return list(dict.fromkeys(filter(None, notes)))

    @property
    def n_bytes(self) -> int:
        sides = [side for frame in self.frames for side in frame.patterns]
        patterns = {id(each): each for side in sides for each in side.values()}
        return sum(each.nbytes for each in patterns.values()) + 20_000


def frame_of(contrasted: Contrast, first: Patterns | None = None, *, recut: bool = False) -> FramePair:
    """A contrast without its models. first: the patterns of a, where they are at hand already."""
    patterns = tuple(_patterns(trace) for trace in contrasted.traces)
    moved = {stack: values.numpy() for stack, values in contrasted.moved.items()}
    both = (patterns[0] if first is None else first, patterns[1])
    return FramePair(both, contrasted.aligned, moved, _outputs(contrasted), contrasted.note, recut)


def _patterns(tensors: Trace | dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {
        name.removesuffix(".pattern"): tensors[name].float() for name in tensors if name.endswith(".pattern")
    }


def _outputs(contrasted: Contrast) -> Outputs | None:
    if contrasted.outputs is None:
        return None
    aligned = contrasted.outputs.aligned
    n = min(len(aligned), MOST_PLACES)
    tokens = tuple(zip(aligned.tokens_a, aligned.tokens_b, strict=True))
    top = tuple(tuple(contrasted.outputs.top(place, TOP)) for place in range(n))
    return Outputs(tokens[:n], top, contrasted.outputs.kl[:n].numpy(), contrasted.outputs.note)


MOST_STEPS = 8
"""The steps of a run that stand in its strip."""
NOTE = "A run keeps only the patterns of its own text, here “{text}”."


def run_of(name: str) -> runs.Run | None:
    """The run that a model comes from, where it is one whose folder is here."""
    _, begins, run_id = name.removesuffix("@best").partition("run:")
    return runs.find(run_id if begins else f"{runs.SHIPPED}{name}")


def steps_of(name: str) -> list[int]:
    """The steps of which the run of a model keeps patterns."""
    run = run_of(name)
    return run.folder.snapshots() if run else []


def nearest_step(step: str, steps: list[int]) -> int:
    """The step that is meant: the last where none is given, the nearest where a run has not kept it."""
    return min(steps, key=lambda each: abs(each - int(step))) if step else steps[-1]


def _distances(both: tuple[Patterns, Patterns], places: dict[str, Aligned]) -> dict[str, np.ndarray]:
    rows: dict[str, list[np.ndarray]] = {}
    for where in sorted(both[0], key=lambda each: Address.parse(each).layer):
        family = Address.parse(where).family
        queries, keys = (places[side] for side in sides_of(family))
        a, b = (on_places(each[where], queries, keys, at) for at, each in enumerate(both))
        rows.setdefault(family, []).append(variation(a, b, queries).numpy())
    return {stack: np.stack(rows) for stack, rows in rows.items()}


@dataclass(frozen=True)
class ComparisonRequest:
    """What a page wants compared. settings: with which the first side is read. differs: what the second side
    differs in, and other: how. stamps: of the weights of both.
    """

    model: str
    text: str
    settings: tuple[tuple[str, Any], ...]
    differs: str
    other: str
    stamps: tuple[int, int]
    matched: bool = False


Tell = Callable[[float], None]
ROOM = 64 * MB
"""What the patterns of all frames may take."""


def first_side(request: ComparisonRequest) -> Side:
    model = cache.model(request.model, dict(request.settings))
    return Side(model, filled(request.text, "first"), reading_settings(request.model, request.settings))


def reading_settings(name: str, settings: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """Those settings with which a model reads; the others make it."""
    offer = offer_of(name)
    building = {each.name for each in offer.settings if each.builds} if offer else set()
    return {key: value for key, value in settings if key not in building}


def settings_of(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings with which another model reads, too."""
    offer = offer_of(name)
    known = {each.name for each in offer.settings if not each.builds} if offer else set()
    return {key: value for key, value in settings.items() if key in known}


def filled(text: str, which: str) -> str:
    """A text that is there. Raises ValueError for an empty one."""
    if not text.strip():
        raise ValueError(f"The {which} text is empty; type one.")
    return text


def of_text(request: ComparisonRequest, tell: Tell) -> Comparison:
    """The same model on another text."""
    first = first_side(request)
    second = Side(first.model, filled(request.other, "second"), first.settings)
    return alone(first, second)


def of_model(request: ComparisonRequest, tell: Tell) -> Comparison:
    """Another model on the same text; heads may be matched by likeness."""
    first = first_side(request)
    other = cache.model(request.other)
    second = Side(other, first.text, settings_of(request.other, first.settings))
    pair = alone(first, second)
    return matched(pair, first, second, tell) if request.matched else pair


def matched(comparison: Comparison, first: Side, second: Side, tell: Tell) -> Comparison:
    """The same with each head of the first side beside its partner by likeness, over held-out texts, or over
    the text itself where the two models have none in common.
    """
    (frame,) = comparison.frames
    stacks = [stack for stack in frame.counts(0) if stack in frame.counts(1)]
    matches: dict[Head, Head] = {}
    moved: dict[str, np.ndarray] = {}
    for at, stack in enumerate(stacks):
        progress: Tell = lambda share, at=at: tell((at + share) / len(stacks))  # noqa: E731
        try:
            matching = match_sides(first, second, stack, progress=progress)
        except ValueError:  # no texts that both were made for
            matching = match_sides(first, second, stack, (first.text,), progress=progress)
        moved[stack] = np.full(frame.counts(0)[stack], np.nan)
        for one, other in _partners(matching, _heads_of(frame, 0, stack), _heads_of(frame, 1, stack)).items():
            matches[stack, *one] = (stack, *other)
            moved[stack][one] = frame.apart((stack, *one))[other]
    note = ""
    if stacks:
        over = len(matching.distances) > len(matching.pairs)
        remainder = " Those left over stand beside the head most like them." if over else ""
        on = f"{matching.n_texts} texts" if matching.n_texts > 1 else "this text alone"
        note = f"Heads are matched one to one by likeness, on {on}.{remainder}"
    return Comparison((replace(frame, moved=moved),), matches=matches, note=note)


def _heads_of(frame: FramePair, side: int, stack: str) -> list[tuple[int, int]]:
    """All heads of a stack, layer by layer."""
    count = frame.counts(side)[stack][1]
    return [(layer, head) for layer in frame.layers(side, stack) for head in range(count)]


def _partners(
    matching: Matching, heads: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, int]]:
    """For each head of the first side its partner; for one left over, as the second side has fewer heads, the
    head most like it.
    """
    nearest = matching.distances.argmin(dim=1).tolist()
    partners = {heads[at]: others[other] for at, other in enumerate(nearest)}
    for (layer, head), other, _ in matching.pairs:
        partners[layer, head] = (other.layer, other.head)
    return partners


def of_step(request: ComparisonRequest, tell: Tell) -> Comparison:
    """The patterns of a run's watched text at its steps, beside those of one. Raises ValueError for a model
    without steps.
    """
    run, steps = run_of(request.model), steps_of(request.model)
    if run is None or not steps:
        raise ValueError(
            f"{request.model!r} keeps no steps of its training; choose a run of Runs, or induction."
        )
    places = {
        side: Aligned(tuple(tokens), tuple(tokens), tuple((at, at) for at in range(len(tokens))))
        for side, tokens in run.folder.probe()["tokens"].items()
    }
    strip = [steps[at] for at in sorted(set(np.linspace(0, len(steps) - 1, MOST_STEPS).round().astype(int)))]
    first = _patterns(run.folder.snapshot(nearest_step(request.other, steps)))
    note = NOTE.format(text=" ".join(next(iter(places.values())).tokens_a))
    frames = []
    for count, at in enumerate(strip):
        tell(count / len(strip))
        both = (first, _patterns(run.folder.snapshot(at)))
        frames.append(FramePair(both, places, _distances(both, places), None, note))
    return Comparison(tuple(frames), tuple(f"{at:,}" for at in strip))


def of_head(request: ComparisonRequest, tell: Tell) -> Comparison:
    """One pass, whose heads are compared with each other."""
    first = first_side(request)
    return alone(first, first)


def alone(first: Side, second: Side) -> Comparison:
    """One pair of sides. Raises ValueError where it is too expensive."""
    for side in (first, second):
        check_cost(side.model, side.read(), passes=2)
    return Comparison((frame_of(contrast(first, second)),))


def of_knob(request: ComparisonRequest, tell: Tell) -> Comparison:
    """The same weights at every value of a knob."""
    first, knob = first_side(request), knobs()[request.differs]
    why_not = knob.why_not(first)
    if why_not:
        raise ValueError(why_not)
    own, chosen = knob.own(first.model), request.other.strip() and knob.read(request.other)
    values = list(dict.fromkeys([*knob.values(first.model), *([chosen] if chosen else [])]))
    check_cost(first.reader, first.read(), passes=1 + len(values))
    frames: dict[str, FramePair] = {}
    for at, value in enumerate(values):
        tell(at / len(values))
        before = next((each.patterns[0] for each in frames.values()), None)
        try:
            frames[value] = frame_of(contrast(first, knob.applied(first, value)), before, recut=True)
        except ValueError:  # such as a number of heads that does not divide this model's
            if value == chosen:
                raise
    if not frames:
        raise ValueError(f"{knob.title}: {request.model!r} can have no other value; choose another knob.")
    chosen = chosen or next((value for value in frames if value != own), next(iter(frames)))
    return Comparison(tuple(frames.values()), tuple(frames), list(frames).index(chosen))


def check_cost(model: Model, reading: Reading, *, passes: int) -> None:
    """Raises ValueError where the passes, or the patterns that they keep, are too many."""
    check_price(model, reading, "or a smaller model", passes=passes, waits=True)
    cells = 0
    for stack in model.stacks(tuple(reading.tokens)):
        about, (queries, keys) = model.attention(stack), (len(reading.tokens[of]) for of in sides_of(stack))
        cells += about.n_layers * about.n_heads * queries * keys
    if 4 * cells * passes > ROOM:
        raise ValueError(
            f"{passes} passes take {4 * cells * passes // MB:,} MB, more than {ROOM // MB:,} MB; "
            f"take a shorter text or a smaller model."
        )


DIFFERENCES: dict[str, Callable[[ComparisonRequest, Tell], Comparison]] = {
    "text": of_text, "model": of_model, "step": of_step, "head": of_head,
}  # fmt: skip
"""What computes each kind of difference; all others are knobs."""


def compute(job: Job) -> Comparison:
    """The comparison that was asked for. Raises ValueError, with a sentence, where it cannot be made."""
    request: ComparisonRequest = job.request
    return DIFFERENCES.get(request.differs, of_knob)(request, job.tell)


queue = Queue(
    "comparisons", compute, doing="compares", smaller="take a shorter text or a smaller model",
    results=cache.results, size=lambda comparison: comparison.n_bytes,
)  # fmt: skip
