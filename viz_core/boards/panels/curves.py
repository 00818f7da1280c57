"""Curves over numbers, with bands around them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._checks import check_axes, check_frames
from ..chart import Chart, LegendPanel, Moving, Paint, Written, scale, span
from ..panel import Colour, Framed, NumberRow, Pair, at_frame, axis_title, word


@dataclass(frozen=True)
class Line:
    """One curve: y [*frame, point]; low and high [*frame, point] bound a band around it.

    faint: it stands behind the others, thin and pale. listed: whether the legend names it. smooth: what it
    shows is a wave, of which x has only some points.
    """

    y: np.ndarray
    name: str
    colour: Colour = "accent"
    dashed: bool = False
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    faint: bool = False
    listed: bool = True
    smooth: bool = False

    @property
    def arrays(self) -> list[np.ndarray]:
        """y, and the bounds of its band if it has one."""
        return [array for array in (self.y, self.low, self.high) if array is not None]


@dataclass(frozen=True, kw_only=True)
class Curves(LegendPanel):
    """Lines over x [point]; `at` [frame] is the x of each frame, drawn as a vertical line.

    marks: places on the x axis where something changed, each with what: a dashed vertical line there.
    """

    x: np.ndarray
    lines: Sequence[Line]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    y_range: tuple[int | float, int | float] | None = None
    at: np.ndarray | None = None
    marks: Sequence[tuple[float, str]] = ()

    def __post_init__(self) -> None:
        check_axes("x", self.x, "point")
        if self.at is not None:
            check_axes("at", self.at, "frame")
        for line in self.lines:
            if (line.low is None) != (line.high is None):
                raise ValueError(f"line {line.name!r} has one bound of a band; give both, low and high")
            for array in line.arrays:
                check_frames(f"line {line.name!r}", array, "point")
                if array.shape[-1] != len(self.x):
                    raise ValueError(
                        f"line {line.name!r} has {array.shape[-1]} points, x has {len(self.x)}; give as many"
                    )

    def framed(self) -> list[Framed]:
        arrays = [(line.name, array, 1) for line in self.lines for array in line.arrays]
        return [*arrays, ("at", self.at, 0)] if self.at is not None else arrays

    def describe(self) -> Chart:
        places = self.x if self.at is None else np.concatenate([self.x, self.at])
        x_range = span(places, self.log_x)
        heights = np.concatenate([array.ravel() for line in self.lines for array in line.arrays])
        y_range = self.y_range or span(heights, self.log_y, room=0.02)
        traces = []
        for line in self.lines:
            if line.low is not None and line.high is not None:
                floor = y_range[0] if self.log_y else None
                traces.append(
                    _band(self.x, line.low, line.high, floor) | {"fillcolor": Paint(line.colour, 0.18)}
                )
            traces.append(self._curve(line))
        traces += [self._mark(x, words, y_range) for x, words in self.marks if x_range[0] <= x <= x_range[1]]
        if self.at is not None:
            traces += self._uprights(y_range)
        return Chart(
            traces=traces,
            x={
                "title": axis_title(self.x_label),
                "showline": True,
                "linecolor": Paint("muted"),
                **scale(x_range, self.log_x),
            },
            y={"title": axis_title(self.y_label), **scale(y_range, self.log_y)},
        )

    def _curve(self, line: Line) -> dict[str, Any]:
        return dict(
            type="scatter",
            x=self.x,
            y=line.y if line.y.ndim == 1 else Moving(line.y),
            mode="lines",
            name=word(line.name, 80),
            line={
                "color": Paint(line.colour, 0.35 if line.faint else 1.0),
                "width": 1.25 if line.faint else 2.5,
                "dash": "7px,5px" if line.dashed else "solid",
                "shape": "spline" if line.smooth else "linear",
            },
            customdata=Written(line.y if line.y.ndim == 1 else Moving(line.y)),
            hovertemplate=f"{word(self.x_label, 80)} %{{x:,.6~r}}<br><b>%{{customdata}}</b>",
            showlegend=line.listed and self.has_legend,
        )

    def _uprights(self, y_range: Pair) -> list[dict[str, Any]]:
        """A vertical line at each frame's x, and the points of the curves there."""
        here = np.asarray(self.at, dtype=np.float64)  # [frame]
        nearest = np.abs(self.x - here[:, None]).argmin(-1)
        frames = np.arange(len(here))
        marked = [line for line in self.lines if not line.faint]
        heights = [line.y[nearest] if line.y.ndim == 1 else line.y[frames, nearest] for line in marked]
        upright = dict(
            x=Moving(np.stack([here, here], -1)),
            y=np.array(y_range, dtype=np.float64),
            mode="lines",
            line={"color": Paint("muted"), "width": 1.5, "dash": "dot"},
        )
        dots = dict(
            x=Moving(np.repeat(self.x[nearest][:, None], len(marked), axis=1)),
            y=Moving(np.stack(heights, -1)),
            mode="markers",
            cliponaxis=False,
            marker={"size": 9, "color": [Paint(line.colour) for line in marked]},
        )
        return [
            {"type": "scatter", "hoverinfo": "skip", "showlegend": False, **each} for each in (upright, dots)
        ]

    def _mark(self, x: float, words: str, y_range: Pair) -> dict[str, Any]:
        """A dashed vertical line, which says what changed when it is pointed at."""
        return dict(
            type="scatter",
            x=np.full(2, x),
            y=np.array(y_range, dtype=np.float64),
            mode="lines",
            line={"color": Paint("muted"), "width": 1.5, "dash": "6px,4px"},
            hovertemplate=f"{word(words, 200)}<extra></extra>",
            showlegend=False,
        )

    @property
    def listed(self) -> list[str]:
        return [line.name for line in self.lines if line.listed]

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        for at, line in enumerate(self.lines):
            bounds = (line.y, line.low, line.high)
            y, low, high = (len(self.x) * [None] if b is None else at_frame(b, frame, 1) for b in bounds)
            for x, *numbers in zip(self.x, y, low, high, strict=True):
                yield at, line.name, None, None, x, *numbers


def _band(x: np.ndarray, low: np.ndarray, high: np.ndarray, floor: int | float | None) -> dict[str, Any]:
    """The area between low and high; on a logarithmic axis, what lies at or below 0 ends at its `floor`."""
    moves = low.ndim > 1
    low, high = np.atleast_2d(low), np.atleast_2d(high)  # [frame, point]
    known = np.isfinite(low) & np.isfinite(high)
    # Where a bound is unknown, the outline stays at the point before: Plotly would break it in two.
    at = np.maximum.accumulate(np.where(known, np.arange(len(x)), known.argmax(-1)[:, None]), axis=-1)
    there_and_back = np.concatenate([at, at[:, ::-1]], axis=-1)
    heights = [np.take_along_axis(bound, at, -1) for bound in (high, low)]
    y = np.concatenate([heights[0], heights[1][:, ::-1]], axis=-1)
    y = y if floor is None else np.maximum(y, floor)
    return dict(
        type="scatter",
        x=Moving(x[there_and_back]) if moves else x[there_and_back][0],
        y=Moving(y) if moves else y[0],
        fill="toself",
        mode="none",
        hoverinfo="skip",
        showlegend=False,
    )
