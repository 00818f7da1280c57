"""Curves over numbers, with bands around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz_core import theme
from viz_core._axes import text_width
from viz_core._checks import check_axes, check_frames
from viz_core.boards.panel import Framed, NumberRow, Panel
from viz_core.boards.sheet import (
    CAPTION,
    CHART,
    SMALL,
    Colour,
    Drawing,
    Pair,
    Place,
    Room,
    Trace,
    at_frame,
    axis_title,
    extent,
    word,
)

_LEGEND_LINE = 20


@dataclass(frozen=True, kw_only=True)
class Line:
    """One curve: y [*frame, point]; low and high [*frame, point] bound a band around it."""

    y: np.ndarray
    name: str
    colour: Colour = "accent"
    dashed: bool = False
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    @property
    def arrays(self) -> list[np.ndarray]:
        """y, and the bounds of its band if it has one."""
        return [array for array in (self.y, self.low, self.high) if array is not None]


@dataclass(frozen=True, kw_only=True)
class Curves(Panel):
    """Lines over x [point]; `at` [frame] is the x at which each frame stands, drawn as an upright."""

    x: np.ndarray
    lines: Sequence[Line]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    y_range: tuple[int | float, int | float] | None = None
    at: np.ndarray | None = None

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
        found = [(line.name, array, 1) for line in self.lines for array in line.arrays]
        return [*found, ("at", self.at, 0)] if self.at is not None else found

    def room(self, cell: int) -> Room:
        above = 8 + CAPTION * bool(self.title) + _LEGEND_LINE * len(_legend(self, CHART["width"]))
        return Room(above=above, **CHART)

    def draw(self, place: Place, frame: int) -> Drawing:
        x_range = _span(self.x, self.log_x)
        heights = np.concatenate([array.ravel() for line in self.lines for array in line.arrays])
        y_range = self.y_range or _span(heights, self.log_y, room=0.02)
        drawing = Drawing()
        for line in self.lines:
            if line.low is not None and line.high is not None:
                low, high = (at_frame(array, frame, 1) for array in (line.low, line.high))
                colour = theme.with_alpha(place.colour(line.colour), 0.18)
                drawing.traces.append(_band(self.x, low, high, y_range[0], self.log_y, colour, place))
            drawing.traces.append(_curve(self, line, frame, place))
        if self.at is not None:
            drawing.traces += _upright(self, float(self.at[frame]), frame, y_range, place)
        drawing.axes = place.axes(
            {"title": axis_title(self.x_label), **_scale(x_range, self.log_x)},
            {"title": axis_title(self.y_label), **_scale(y_range, self.log_y)},
        )
        legend = _legend(self, place.width)
        up = 8 + _LEGEND_LINE * len(legend)
        drawing.notes = place.caption(self.title, up)
        for at, entries in enumerate(legend):
            text = "   ".join(_entry(line, place) for line in entries)
            down = _LEGEND_LINE * at - up
            drawing.notes.append(place.note(text, 0, down, yanchor="top", font={"size": SMALL}))
        return drawing

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        for at, line in enumerate(self.lines):
            bounds = (line.y, line.low, line.high)
            y, low, high = (len(self.x) * [None] if b is None else at_frame(b, frame, 1) for b in bounds)
            for x, *numbers in zip(self.x, y, low, high, strict=True):
                yield at, line.name, None, None, x, *numbers


def _span(values: np.ndarray, log: bool, room: int | float = 0) -> Pair:
    """From the lowest to the highest number that can be drawn, with a share of it as room at both ends."""
    low, high = extent(values[values > 0] if log else values)
    if low == high:
        return (low / 2, high * 2) if log else (low - 1, high + 1)
    if log:
        more = (high / low) ** room
        return low / more, high * more
    more = (high - low) * room
    return low - more, high + more


def _scale(span: Pair, log: bool) -> dict[str, Any]:
    if not log:
        return {"range": list(span)}
    low, high = (float(end) for end in np.log10(span))
    powers = range(int(np.ceil(low)), int(np.floor(high)) + 1)
    ticks = [10.0**power for power in powers[:: max(1, len(powers) // 6)]]
    texts = [f"{tick:g}".replace("e-0", "e−").replace("e-", "e−").replace("e+", "e") for tick in ticks]
    return {"type": "log", "range": [low, high], "tickvals": ticks, "ticktext": texts}


def _curve(panel: Curves, line: Line, frame: int, place: Place) -> Trace:
    y = at_frame(line.y, frame, 1)
    return dict(
        type="scatter",
        x=panel.x,
        y=np.where(np.isfinite(y), y, np.nan),
        mode="lines",
        name=word(line.name, 80),
        line={
            "color": place.colour(line.colour),
            "width": 2.5,
            "dash": "dash" if line.dashed else "solid",
        },
        hovertemplate=f"{word(panel.x_label, 80)} %{{x:.4~g}}<br><b>%{{y:.4~g}}</b>",
        showlegend=False,
        **place.on,
    )


def _band(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, floor: int | float, log: bool, colour: str, place: Place
) -> Trace:
    """The area between low and high; on a logarithmic axis, what lies at or below 0 ends at its floor."""
    known = np.isfinite(low) & np.isfinite(high)
    around = np.concatenate([high[known], low[known][::-1]])
    return dict(
        type="scatter",
        x=np.concatenate([x[known], x[known][::-1]]),
        y=np.maximum(around, floor) if log else around,
        fill="toself",
        fillcolor=colour,
        mode="none",
        hoverinfo="skip",
        showlegend=False,
        **place.on,
    )


def _upright(panel: Curves, here: int | float, frame: int, y_range: Pair, place: Place) -> list[Trace]:
    """Where the frame stands on x, and the points of the lines there."""
    nearest = int(np.abs(panel.x - here).argmin())
    points = np.array([at_frame(line.y, frame, 1)[nearest] for line in panel.lines], dtype=np.float64)
    colours = [place.colour(line.colour) for line in panel.lines]
    style = {"hoverinfo": "skip", "showlegend": False, **place.on}
    return [
        dict(
            type="scatter", x=[here, here], y=list(y_range), mode="lines",
            line={"color": place.palette["muted"], "width": 1.5, "dash": "dot"}, **style,
        ),
        dict(
            type="scatter", x=[float(panel.x[nearest])] * len(points),
            y=np.where(np.isfinite(points), points, np.nan), mode="markers",
            marker={"size": 9, "color": colours}, **style,
        ),
    ]  # fmt: skip


def _legend(panel: Curves, width: int | float) -> list[list[Line]]:
    """The lines' names, as many beside each other as fit; none for one line that the title names."""
    rows: list[list[Line]] = []
    taken = width
    for line in panel.lines if len(panel.lines) > 1 or not panel.title else ():
        needed = text_width(line.name, SMALL) + 44
        if not rows or taken + needed > width:
            rows, taken = [*rows, []], 0.0
        rows[-1].append(line)
        taken += needed
    return rows


def _entry(line: Line, place: Place) -> str:
    stroke = "╍╍" if line.dashed else "━━"
    return f'<span style="color:{place.colour(line.colour)}">{stroke}</span> {word(line.name, 80)}'
