"""What a comparison computes: the two sides that were asked for, traced and laid beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from models.byte_units import MB
from models.contrast import Side, contrast, knobs, match_sides
from models.contrast.matched import Matching
from models.data.tasks import Reading
from models.limits import in_force
from models.zoo.model import Model
from models.zoo.offers import offer_of
from pages.beside import steps, working
from pages.beside.seen import Frame, Head, Seen, frame_of
from pages.shared import affordable, cache

Tell = Callable[[float], None]
ROOM = min(128, in_force().trace_mb) * MB
"""What the patterns of all frames may take."""


def seen_of(asked: working.Asked, tell: Tell) -> Seen:
    """The comparison that was asked for. Raises ValueError, with a sentence, where it cannot be made."""
    make = DIFFERENCES.get(asked.differs, of_knob)
    return make(asked, tell)


def first_side(asked: working.Asked) -> Side:
    model = cache.model(asked.model, dict(asked.settings))
    return Side(model, filled(asked.text, "first"), reading_settings(asked.model, asked.settings))


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
        raise ValueError(f"The {which} text is empty; type one, so that there are two sides to compare.")
    return text


def of_text(asked: working.Asked, tell: Tell) -> Seen:
    """The same model on another text."""
    first = first_side(asked)
    second = Side(first.model, filled(asked.other, "second"), first.settings)
    return alone(first, second)


def of_model(asked: working.Asked, tell: Tell) -> Seen:
    """Another model on the same text; heads may be matched by likeness."""
    first = first_side(asked)
    other = cache.model(asked.other)
    second = Side(other, first.text, settings_of(asked.other, first.settings))
    found = alone(first, second)
    return matched(found, first, second, tell) if asked.matched else found


def matched(seen: Seen, first: Side, second: Side, tell: Tell) -> Seen:
    """The same with each head of the first side beside its partner by likeness, over held-out texts, or over
    the text itself where the two models have none in common.
    """
    (frame,) = seen.frames
    stacks = [stack for stack in frame.counts(0) if stack in frame.counts(1)]
    matches: dict[Head, Head] = {}
    moved: dict[str, np.ndarray] = {}
    for at, stack in enumerate(stacks):
        found = _matching(first, second, stack, lambda share, at=at: tell((at + share) / len(stacks)))
        moved[stack] = np.full(frame.counts(0)[stack], np.nan)
        for one, other in _partners(found, _heads(frame, 0, stack), _heads(frame, 1, stack)).items():
            matches[stack, *one] = (stack, *other)
            moved[stack][one] = frame.apart((stack, *one))[other]
    return Seen((replace(frame, moved=moved),), matches=matches, note=_matched_on(found) if stacks else "")


def _heads(frame: Frame, side: int, stack: str) -> list[tuple[int, int]]:
    """All heads of a stack, layer by layer."""
    count = frame.counts(side)[stack][1]
    return [(layer, head) for layer in frame.layers(side, stack) for head in range(count)]


def _partners(
    found: Matching, heads: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, int]]:
    """For each head of the first side its partner; for one left over, as the second side has fewer heads, the
    head most like it.
    """
    nearest = found.distances.argmin(dim=1).tolist()
    partners = {heads[at]: others[other] for at, other in enumerate(nearest)}
    for (layer, head), other, _ in found.pairs:
        partners[layer, head] = (other.layer, other.head)
    return partners


def _matched_on(found: Matching) -> str:
    """By what heads were matched, in a sentence or two."""
    over = len(found.distances) > len(found.pairs)
    left = " Those left over stand beside the head most like them." if over else ""
    on = f"{found.n_texts} texts" if found.n_texts > 1 else "this text alone"
    return f"Heads are matched one to one by likeness, on {on}.{left}"


def _matching(first: Side, second: Side, stack: str, told: Tell) -> Matching:
    try:
        return match_sides(first, second, stack, told=told)
    except ValueError:  # no texts that both were made for
        return match_sides(first, second, stack, (first.text,), told=told)


def of_step(asked: working.Asked, tell: Tell) -> Seen:
    """The patterns of a run's watched text at its steps, beside those of one."""
    return steps.seen_at(asked.model, asked.other, tell)


def of_head(asked: working.Asked, tell: Tell) -> Seen:
    """One pass, whose heads are compared with each other."""
    first = first_side(asked)
    return alone(first, first)


def alone(first: Side, second: Side) -> Seen:
    """One pair of sides. Raises ValueError where it is too expensive."""
    for side in (first, second):
        check(side.model, side.read(), passes=2)
    return Seen((frame_of(contrast(first, second)),))


def of_knob(asked: working.Asked, tell: Tell) -> Seen:
    """The same weights at every value of a knob."""
    first, knob = first_side(asked), knobs()[asked.differs]
    why_not = knob.why_not(first)
    if why_not:
        raise ValueError(why_not)
    own, chosen = knob.own(first.model), asked.other.strip() and knob.read(asked.other)
    values = list(dict.fromkeys([*knob.values(first.model), *([chosen] if chosen else [])]))
    check(first.reader, first.read(), passes=1 + len(values))
    frames: dict[str, Frame] = {}
    for at, value in enumerate(values):
        tell(at / len(values))
        before = next((each.patterns[0] for each in frames.values()), None)
        try:
            frames[value] = frame_of(contrast(first, knob.applied(first, value)), before, recut=True)
        except ValueError:  # such as a number of heads that does not divide this model's
            if value == chosen:
                raise
    if not frames:
        raise ValueError(f"{knob.title}: {asked.model!r} can have no other value; choose another knob.")
    chosen = chosen or next((value for value in frames if value != own), next(iter(frames)))
    return Seen(tuple(frames.values()), tuple(frames), list(frames).index(chosen))


def check(model: Model, reading: Reading, *, passes: int) -> None:
    """Raises ValueError where the passes, or the patterns that they keep, are too many."""
    affordable.check(model, reading, "or a smaller model", passes=passes, waits=True)
    cells = 0
    for stack in model.stacks(tuple(reading.tokens)):
        about, (side, kind) = model.attention(stack), stack.split(".")
        n_keys = len(reading.tokens["encoder" if kind == "cross" else side])
        cells += about.n_layers * about.n_heads * len(reading.tokens[side]) * n_keys
    if 4 * cells * passes > ROOM:
        raise ValueError(
            f"The patterns of {passes} passes take {4 * cells * passes // MB:,} MB; at most "
            f"{ROOM // MB:,} MB are compared; take a shorter text or a smaller model."
        )


DIFFERENCES: dict[str, Callable[[working.Asked, Tell], Seen]] = {
    "text": of_text, "model": of_model, "step": of_step, "head": of_head,
}  # fmt: skip
"""What computes each kind of difference; all others are knobs."""
