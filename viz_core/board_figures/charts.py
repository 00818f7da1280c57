"""Curves, bars and arrows of a board."""

from __future__ import annotations

from typing import Any

import numpy as np

from viz_core import theme
from viz_core._axes import text_width
from viz_core.board_figures.sheet import (
    CAPTION,
    MEDIUM,
    SMALL,
    Drawing,
    Pair,
    Place,
    Room,
    Trace,
    at_frame,
    brief,
    extent,
    reach_of,
    room_for,
    word,
    written,
)
from viz_core.boards import Bars, Curves, Line, Plane

_LEAST, _MOST = 300, 560  # how wide a chart may be
_HEIGHT = 240
_AXES = {"left": 66, "below": 54, "right": 14}
_LEGEND_LINE = 20
_PLANE = 290
_LABELS = 22  # pixels between the longest arrow and the edge, for its name


def curves_room(panel: Curves) -> Room:
    above = 8 + CAPTION * bool(panel.title) + _LEGEND_LINE * len(_legend(panel, _LEAST))
    return Room(width=_LEAST, height=_HEIGHT, above=above, stretch=_MOST, **_AXES)


def draw_curves(panel: Curves, place: Place, frame: int) -> Drawing:
    x_range = _span(panel.x, panel.log_x)
    heights = np.concatenate([array.ravel() for line in panel.lines for array in line.arrays])
    y_range = panel.y_range or _span(heights, panel.log_y, room=0.02)
    drawing = Drawing()
    for line in panel.lines:
        if line.low is not None and line.high is not None:
            low, high = (at_frame(array, frame, 1) for array in (line.low, line.high))
            colour = theme.with_alpha(place.colour(line.colour), 0.18)
            drawing.traces.append(_band(panel.x, low, high, y_range[0], panel.log_y, colour, place))
        drawing.traces.append(_curve(panel, line, frame, place))
    if panel.at is not None:
        drawing.traces += _upright(panel, float(panel.at[frame]), frame, y_range, place)
    drawing.axes = place.axes(
        {"title": _name(panel.x_label), **_scale(x_range, panel.log_x)},
        {"title": _name(panel.y_label), **_scale(y_range, panel.log_y)},
    )
    legend = _legend(panel, place.width)
    up = 8 + _LEGEND_LINE * len(legend)
    drawing.notes = place.caption(panel.title, up)
    for at, entries in enumerate(legend):
        text = "   ".join(_entry(line, place) for line in entries)
        down = _LEGEND_LINE * at - up
        drawing.notes.append(place.note(text, 0, down, yanchor="top", font={"size": SMALL}))
    return drawing


def _name(text: str) -> dict[str, Any]:
    return {"text": word(text, 80), "font": {"size": SMALL + 1}, "standoff": 6}


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


def bars_room(panel: Bars) -> Room:
    return Room(width=_LEAST, height=_HEIGHT, above=8 + CAPTION * bool(panel.title), stretch=_MOST, **_AXES)


def _numbers(values: np.ndarray, panel: Bars) -> list[str]:
    """What stands over the bars."""
    return [
        "" if np.isnan(value) and panel.nan_is_empty else brief(value, panel.digits)
        for value in values.astype(float).tolist()
    ]


def draw_bars(panel: Bars, place: Place, frame: int) -> Drawing:
    values = at_frame(panel.values, frame, 1)
    low, high = extent(panel.values)
    top = panel.reach or max(0.0, high) or 1.0
    step = place.width / len(values)
    names = [word(label, 12) for label in panel.labels]
    every = max(1, -int(-(room_for(names) + 6) // step))
    if every == 2:  # as on the board: every other name a line lower, before any is left out
        names, every = [f"<br>{name}" if at % 2 else name for at, name in enumerate(names)], 1
    shown = range(0, len(names), every)
    at = np.arange(len(values))
    drawn = np.where(np.isfinite(values), values, 0)
    written_on = step >= 34
    bars = dict(
        type="bar",
        x=at,
        y=drawn,
        width=0.96 if len(values) > 40 else 0.78,
        marker={"color": place.colour(panel.colour)},
        customdata=np.array(
            [
                [name.removeprefix("<br>"), written(float(value), 4)]
                for name, value in zip(names, values, strict=True)
            ]
        ),
        hovertemplate="%{customdata[0]} <b>%{customdata[1]}</b><extra></extra>",
        showlegend=False,
        **place.on,
    )
    numbers = dict(
        type="scatter",
        x=at,
        y=np.clip(drawn, 0, top),
        mode="text",
        text=_numbers(values, panel) if written_on else None,
        textposition="top center",
        textfont={"size": SMALL},
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
        **place.on,
    )
    x = {"tickvals": list(shown), "ticktext": [names[i] for i in shown], "range": [-0.5, len(names) - 0.5]}
    ends = [min(0.0, low) if panel.low is None else panel.low, top * (1.08 if written_on else 1)]
    axes = place.axes(
        {"title": _name(panel.x_label), "showgrid": False, "tickangle": 0, **x},
        {"title": _name(panel.y_label), "range": ends, "zeroline": True},
    )
    return Drawing([bars, numbers], axes, place.caption(panel.title, 8))


def plane_room(panel: Plane) -> Room:
    return Room(width=_PLANE, height=_PLANE, above=8 + CAPTION * bool(panel.title), below=8)


def draw_plane(panel: Plane, place: Place, frame: int) -> Drawing:
    vectors = at_frame(panel.vectors, frame, 2).astype(np.float64)  # [arrow, xy]
    edge = reach_of(panel.vectors, panel.reach) * _PLANE / (_PLANE - 2 * _LABELS)
    pixel = 2 * edge / _PLANE
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    outwards = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    drawing = Drawing([_circle(place)] if panel.circle else [])
    colours = [place.colour(colour) for colour in panel.colours]
    names = [word(name) for name in panel.names]
    for (x, y), name, colour in zip(vectors, names, colours, strict=True):
        drawing.traces.append(
            dict(
                type="scatter", x=[0, x], y=[0, y], name=name, mode="lines+markers",
                line={"color": colour, "width": 3},
                marker={"symbol": "arrow", "size": [0, 14], "angleref": "previous", "color": colour},
                hovertemplate="(%{x:.4~g}, %{y:.4~g})", showlegend=False, **place.on,
            )
        )  # fmt: skip
    at = vectors + 13 * pixel * outwards
    drawing.traces.append(
        dict(
            type="scatter", x=at[:, 0], y=at[:, 1], mode="text", text=[f"<b>{name}</b>" for name in names],
            textfont={"color": colours, "size": MEDIUM}, hoverinfo="skip", showlegend=False, **place.on,
        )
    )  # fmt: skip
    axis = {"range": [-edge, edge], "zeroline": True, "showgrid": False, "showticklabels": False}
    drawing.axes = place.axes(axis, axis)
    drawing.notes = place.caption(panel.title, 8)
    return drawing


def _circle(place: Place) -> Trace:
    turn = np.linspace(0, 2 * np.pi, 121)
    return dict(
        type="scatter", x=np.cos(turn), y=np.sin(turn), mode="lines",
        line={"color": place.palette["grid"], "width": 1.5}, hoverinfo="skip", showlegend=False, **place.on,
    )  # fmt: skip
