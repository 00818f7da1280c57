"""The ranges that are chosen along the axes of a sweep: which trials they leave, how a link writes them."""

import math
import re
from collections.abc import Mapping, Sequence

from attention_lab.models.fields import Rule, checked, text
from attention_lab.models.limits import in_force
from attention_lab.models.sweeps import Spec, Trial
from attention_lab.pages.shared.training.settings import label_of
from attention_lab.pages.sweeps.board import axis_of, values_of, words
from attention_lab.viz_core.boards import Parallel
from attention_lab.viz_core.labels import short

VALUE = "*value"
"""Names the axis of what trials are compared by, as no setting is called."""
Ranges = Mapping[str, tuple[float, float]]
"""By the names of settings: the least and the largest value; of choices that are no numbers, their places."""
_NAME = re.compile(r"\*?[a-z][a-z0-9_]{0,60}")
_EXACT = 1e-5  # of a number: ranges are written with six digits


def read(raw: str) -> dict[str, tuple[float, float]]:
    """The ranges of a link, such as n_heads:1:4;norm:0:0. Raises ValueError for anything else."""
    ranges: dict[str, tuple[float, float]] = {}
    for part in filter(None, raw.split(";")):
        name, *ends = part.split(":")
        if not _NAME.fullmatch(name) or name in ranges or len(ends) != 2:
            raise ValueError(raw)
        low, high = map(float, ends)
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            raise ValueError(raw)
        ranges[name] = low, high
    return ranges


def written(ranges: Ranges) -> str:
    """The ranges as a link holds them."""
    return ";".join(f"{name}:{low:.6g}:{high:.6g}" for name, (low, high) in ranges.items())


def _checked(raw: str) -> str:
    read(raw)
    return checked(raw, lambda link_text: len(link_text) <= in_force().field_characters)


RULE: Rule = text("ranges of settings, such as n_heads:1:4;learning_rate:0.001:0.01", _checked)


def on_axes(spec: Spec, ranges: Ranges) -> list[tuple[float, float] | None]:
    """The ranges in the order of the figure's axes."""
    return [ranges.get(name) for name in (*spec.space, VALUE)]


def changed(spec: Spec, ranges: Ranges, panel: Parallel, axis: int, low: float, high: float) -> Ranges:
    """The ranges after a drag along an axis, from one height to another; of all of it there is none.

    Raises ValueError for an axis that is none, or heights that are no numbers.
    """
    names = (*spec.space, VALUE)
    if not (0 <= axis < len(names) == len(panel.axes) and math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"axis {axis} is none of {len(names)}")
    span = panel.axes[axis].range_at(low, high)
    others = {name: each for name, each in ranges.items() if name != names[axis]}
    return others if span is None else others | {names[axis]: span}


def within(spec: Spec, ranges: Ranges, trials: Sequence[Trial]) -> list[bool]:
    """Whether each trial is within all ranges [trial]; one without a value is in none."""
    inside = [True] * len(trials)
    for name, (low, high) in ranges.items():
        if name != VALUE and name not in spec.space:
            continue  # of another sweep
        values = values_of(trials) if name == VALUE else axis_of(spec, name, trials).values
        low, high = low - _EXACT * abs(low), high + _EXACT * abs(high)
        inside = [each and bool(low <= value <= high) for each, value in zip(inside, values, strict=True)]
    return inside


def in_words(spec: Spec, ranges: Ranges, trials: Sequence[Trial]) -> str:
    """The ranges in words; "" without any."""
    parts = []
    for name, (low, high) in ranges.items():
        if name == VALUE:
            parts.append(f"{spec.score or 'score'} {short(low)} to {short(high)}")
        elif name in spec.space:
            choices = axis_of(spec, name, trials).choices
            ends = dict.fromkeys(map(words, (low, high)))
            if choices:
                ends = dict.fromkeys(
                    choices[min(len(choices) - 1, max(0, round(end)))] for end in (low, high)
                )
            parts.append(f"{label_of(name)} {' to '.join(ends)}")
    return ", ".join(parts)
