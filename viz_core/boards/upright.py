"""One upright axis of parallel coordinates: where values stand on it, and which a range of it holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz_core._checks import check_axes
from viz_core.boards.sheet import extent
from viz_core.numbers import short, tick

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
            shown = range(0, len(self.choices), max(1, -(-len(self.choices) // 8)))
            return [((at + 0.5) / len(self.choices), self.choices[at]) for at in shown]
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
        found = (self._on(max(each, _TINY) if self.log else each) for each in (low, high))
        below, above = (_within((float(each) - ends[0]) / (ends[1] - ends[0])) for each in found)
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

    def said(self, trial: int) -> str:
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
