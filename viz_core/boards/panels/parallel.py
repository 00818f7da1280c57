"""Parallel coordinates: an upright axis for every setting, and a line through them for every trial."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._checks import check_axes, check_length
from ...labels import short, tick
from ..chart import Chart, ChartPanel, Paint
from ..panel import CAPTION, CHART, SMALL, NumberRow, Room, extent, word
from .points import TOLD

_TICKS = 5
_APART = 0.1  # of an axis: numbers that are closer would cover each other
_TINY = 1e-300  # a range of a logarithmic axis begins above 0
_EDGE = 1e-6  # of a choice: a range that ends at its edge does not take it in


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One upright axis. values [trial]: numbers, NaN where a trial has none; of choices, the place in them.

    log: equal ratios are equally far apart.
    """

    name: str
    values: np.ndarray
    choices: Sequence[str] = ()
    log: bool = False

    def __post_init__(self) -> None:
        if self.values.ndim != 1:
            check_axes(f"values of {self.name!r}", self.values, "trial")
        known = self.values[np.isfinite(self.values)]
        if self.choices and known.size and not (known.min() >= 0 and known.max() < len(self.choices)):
            raise ValueError(
                f"values of {self.name!r} are within {known.min():g} to {known.max():g}, but there are "
                f"{len(self.choices)} choices; give places from 0 to {len(self.choices) - 1}"
            )
        if self.log and (known <= 0).any():
            raise ValueError(
                f"{self.name!r} has the value {known.min():g}, which has no place on a logarithmic axis; "
                "leave log out"
            )

    def heights(self) -> np.ndarray:
        """Where each trial crosses the axis, 0 at its lower and 1 at its upper end [trial]."""
        if self.choices:
            return (self.values + 0.5) / len(self.choices)
        low, high = self._ends()
        return np.full(len(self.values), 0.5) if low == high else (self._on(self.values) - low) / (high - low)

    def ticks(self) -> list[tuple[float, str]]:
        """Heights and texts of the numbers beside the axis."""
        if self.choices:
            numbers = range(0, len(self.choices), max(1, -(-len(self.choices) // 8)))
            return [((at + 0.5) / len(self.choices), self.choices[at]) for at in numbers]
        low, high = self._ends()
        if low == high:
            return [(0.5, self._tick(low))]
        known = np.unique(self.values[np.isfinite(self.values)])
        places = [(float(self._on(value)) - low) / (high - low) for value in known[: _TICKS + 1]]
        if len(known) <= _TICKS and min(np.diff(places)) >= _APART:  # such as 1, 2, 4 and 8 heads
            return [(place, tick(value)) for place, value in zip(places, known, strict=True)]
        return [(place, self._tick(low + place * (high - low))) for place in np.linspace(0, 1, _TICKS)]

    def span(self, low: float, high: float) -> tuple[float, float]:
        """The heights of a range of values; of choices, with both of their outer edges."""
        if self.choices:
            n = len(self.choices)
            return _within(low / n), _within((high + 1) / n)
        ends = self._ends()
        if ends[0] == ends[1]:
            return 0.0, 1.0
        ends_on_axis = (self._on(max(each, _TINY) if self.log else each) for each in (low, high))
        below, above = (_within((float(each) - ends[0]) / (ends[1] - ends[0])) for each in ends_on_axis)
        return below, above

    def range_at(self, low: float, high: float) -> tuple[float, float] | None:
        """The range of values between two heights, to six digits: the inverse of `span`. None of all.

        Of choices it takes in each that it touches, as their places.
        """
        below, above = sorted((_within(low), _within(high)))
        if below <= 0 and above >= 1:
            return None
        if self.choices:
            n = len(self.choices)
            first = min(n - 1, int(below * n + _EDGE))
            last = max(first, -int(-(above * n - _EDGE) // 1) - 1)
            return None if (first, last) == (0, n - 1) else (float(first), float(last))
        ends = self._ends()
        at = (ends[0] + each * (ends[1] - ends[0]) for each in (below, above))
        first_value, last_value = (float(f"{10**each if self.log else each:.6g}") for each in at)
        return first_value, last_value

    def stops(self) -> tuple[list[float], list[str]]:
        """Where an end of a range may stand, and the words for it: the heights of all values there are; of
        choices their edges, one more than there are words.
        """
        if self.choices:
            n = len(self.choices)
            return [at / n for at in range(n + 1)], list(self.choices)
        known, first = np.unique(self.values[np.isfinite(self.values)], return_index=True)
        places = np.flatnonzero(np.isfinite(self.values))[first]
        heights = self.heights()
        return [float(heights[at]) for at in places], [short(value) for value in known]

    def value_in_words(self, trial: int) -> str:
        """The value of a trial in words."""
        value = self.values[trial]
        if not np.isfinite(value):
            return "–"
        return self.choices[int(value)] if self.choices else short(value)

    def _on(self, values: Any) -> Any:
        return np.log10(values) if self.log else values

    def _ends(self) -> tuple[float, float]:
        low, high = extent(self._on(self.values))
        return float(low), float(high)

    def _tick(self, at: float) -> str:
        return short(10**at if self.log else at)


def _within(height: float) -> float:
    return min(1.0, max(0.0, height))


SHADES = 6
"""Strengths of colour that tell values apart; lines of one strength are one trace, which is drawn fast."""
_FAINTEST = 0.3
_BESIDE = 0.03  # from an axis to its numbers, where the next axis is at 1
_BEST = 1  # a head's colour: orange, which no reader confuses with the blue of the others


@dataclass(frozen=True, kw_only=True)
class Parallel(ChartPanel):
    """A line for every trial through the axes of its settings, to its value on the last axis.

    The better the value, the stronger the line; the best is drawn last, in a colour of its own. A trial
    without a value ends before the last axis, in grey. names [trial]. lower_is_better: of the value.
    shown [trial]: which trials stand out; the others are thin and grey. ranges [axis]: the values that are
    chosen on each axis, None for all; on the page, given ranges can be changed by dragging along the axes.
    """

    axes: Sequence[Axis]
    names: Sequence[str]
    lower_is_better: bool = False
    shown: np.ndarray | None = None
    ranges: Sequence[tuple[float, float] | None] = ()
    title: str = ""

    def __post_init__(self) -> None:
        if len(self.axes) < 2:
            raise ValueError(f"{len(self.axes)} axes have no lines between them; give at least 2")
        for axis in self.axes:
            check_length(f"values of {axis.name!r}", axis.values.tolist(), len(self.names), needed=True)
        if self.shown is not None:
            check_length("shown", self.shown.tolist(), len(self.names), needed=True)
        check_length("ranges", list(self.ranges), len(self.axes))

    def message(self) -> dict[str, Any]:
        """The chart, and its numbers in rows, the value first; and where it can be brushed, what is chosen on
        each axis and where a range may end.
        """
        message = super().message() | {"told": self._told()}
        message.pop("ranges")
        if not self.ranges:
            return message
        uprights = []
        for axis, chosen in zip(self.axes, self.ranges, strict=True):
            stops, words = axis.stops()
            heights = None if chosen is None else axis.span(*chosen)
            uprights.append({"name": axis.name, "range": heights, "stops": stops, "said": words})
        return message | {"uprights": uprights, "drawn_by": "parallel"}

    @property
    def best(self) -> int | None:
        """The place of the best trial among those that stand out; None where none has a value."""
        value = np.where(self._standing_out(), self.axes[-1].values, np.nan)
        if not np.isfinite(value).any():
            return None
        return int(np.nanargmin(value) if self.lower_is_better else np.nanargmax(value))

    def room(self, cell: int) -> Room:
        chart = CHART | {"width": max(300, 110 * len(self.axes)), "stretch": 1080, "height": 300, "left": 20}
        return Room(above=8 + CAPTION * bool(self.title), **{**chart, "right": 70})

    def describe(self) -> Chart:
        heights = np.stack([axis.heights() for axis in self.axes], -1)  # [trial, axis]
        has_value = np.isfinite(self.axes[-1].values)
        lit = self._standing_out() & has_value
        shades = self._shades(lit)
        rest = np.flatnonzero(~lit)
        traces = [self._uprights(), self._lines(heights, rest, Paint("muted", 0.35), 1)]
        for shade in range(SHADES):
            alpha = _FAINTEST + (1 - _FAINTEST) * shade / (SHADES - 1)
            chosen = np.flatnonzero(lit & (shades == shade))
            traces.append(self._lines(heights, chosen, Paint("accent", alpha), 1.5 + shade / 3))
        best = [] if self.best is None else [self.best]
        traces.append(self._lines(heights, np.array(best, dtype=int), Paint(_BEST), 3.5))
        last = len(self.axes) - 1
        hidden = {"showgrid": False, "zeroline": False}
        return Chart(
            traces=[*traces, self._ticks(), self._names()],
            x={"showticklabels": False, "range": [-0.35, last + 0.5], **hidden},
            y={"showticklabels": False, "range": [-0.06, 1.2], **hidden},
        )

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        for at, name in enumerate(self.names):
            for place, axis in enumerate(self.axes):
                text = axis.value_in_words(at) if axis.choices else None
                yield at, name, place, axis.name, None, axis.values[at], None, None, text

    def _standing_out(self) -> np.ndarray:
        return np.ones(len(self.names), dtype=bool) if self.shown is None else self.shown.astype(bool)

    def _shades(self, lit: np.ndarray) -> np.ndarray:
        """How strong each line is, by its value's rank: 0 for the worst, SHADES - 1 for the best [trial]."""
        value = -self.axes[-1].values if self.lower_is_better else self.axes[-1].values
        order = np.argsort(np.argsort(np.where(lit, value, -np.inf), kind="stable"), kind="stable")
        first = len(lit) - int(lit.sum())
        share = (order - first) / max(1, int(lit.sum()) - 1)
        return np.clip(np.rint(share * (SHADES - 1)), 0, SHADES - 1).astype(int)

    def _lines(
        self, heights: np.ndarray, trials: np.ndarray, colour: Paint, width: int | float
    ) -> dict[str, Any]:
        """The lines of some trials as one trace, with a gap after each."""
        n_axes = len(self.axes)
        gap = np.full((len(trials), 1), np.nan)
        x = np.concatenate([np.tile(np.arange(n_axes, dtype=np.float64), (len(trials), 1)), gap], -1)
        y = np.concatenate([heights[trials], gap], -1)
        texts = [word(self._said(int(trial)), 400) for trial in trials for _ in range(n_axes + 1)]
        return dict(
            type="scatter",
            x=x.ravel(),
            y=y.ravel(),
            mode="lines+markers",
            line={"color": colour, "width": width},
            marker={"size": 5, "color": colour, "line": {"width": 0}},
            customdata=texts,
            hovertemplate="%{customdata}<extra></extra>",
            meta=TOLD,
            showlegend=False,
        )

    def _said(self, trial: int) -> str:
        parts = [f"{axis.name} {axis.value_in_words(trial)}" for axis in self.axes]
        return f"{self.names[trial]}: {', '.join(parts)}"

    def _told(self) -> dict[str, Any]:
        """The numbers as the page reads them out: JSON knows none that is not finite."""
        axes = [self.axes[-1], *self.axes[:-1]]
        columns = [
            [axis.value_in_words(at) if axis.choices or not np.isfinite(value) else float(value)
             for at, value in enumerate(axis.values)]
            for axis in axes
        ]  # fmt: skip
        cells = [list(row) for row in zip(*columns, strict=True)]
        return {"columns": [axis.name for axis in axes], "rows": list(self.names), "cells": cells}

    def _uprights(self) -> dict[str, Any]:
        """The axes themselves."""
        places = np.arange(len(self.axes), dtype=np.float64)
        x = np.stack([places, places, np.full_like(places, np.nan)], -1).ravel()
        y = np.tile([0.0, 1.0, np.nan], len(self.axes))
        line = {"color": Paint("muted"), "width": 1.5}
        return dict(type="scatter", x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)

    def _ticks(self) -> dict[str, Any]:
        """The numbers and names beside the axes: where no line is beside the first and the last."""
        ticks = [
            (place, height, text) for place, axis in enumerate(self.axes) for height, text in axis.ticks()
        ]
        return dict(
            type="scatter",
            x=np.array([place + (_BESIDE if place else -_BESIDE) for place, _, _ in ticks], dtype=np.float64),
            y=np.array([height for _, height, _ in ticks], dtype=np.float64),
            mode="text",
            text=[word(text, 14) for _, _, text in ticks],
            textposition=[f"middle {'right' if place else 'left'}" for place, _, _ in ticks],
            textfont={"size": SMALL, "color": Paint("ink")},
            cliponaxis=False,
            hoverinfo="skip",
            showlegend=False,
        )

    def _names(self) -> dict[str, Any]:
        """What the axes are called, above them: below, long names would be cut."""
        return dict(
            type="scatter",
            x=np.arange(len(self.axes), dtype=np.float64),
            y=np.full(len(self.axes), 1.07),
            mode="text",
            text=[f"<b>{word(axis.name, 24)}</b>" for axis in self.axes],
            textposition="top center",
            textfont={"size": SMALL, "color": Paint("ink")},
            cliponaxis=False,
            hoverinfo="skip",
            showlegend=False,
        )
