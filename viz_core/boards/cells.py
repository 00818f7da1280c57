"""A matrix of a board: small ones with their numbers, large ones as a picture with a colour bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from viz_core import _axes, theme
from viz_core.boards.sheet import (
    CAPTION,
    SMALL,
    Drawing,
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

if TYPE_CHECKING:
    from viz_core.boards.panels.matrix import Matrix

_MOST_ROWS, _MOST_COLUMNS = 24, 26
_AXIS = 22
_BAR = 80
_THUMBNAIL = 110


def room(panel: Matrix, cell: int) -> Room:
    n_rows, n_columns = panel.values.shape[-2:]
    if panel.small:
        high = max(24.0, min(2.0 * _THUMBNAIL, _THUMBNAIL * n_rows / n_columns))
        return Room(width=_THUMBNAIL, height=high, above=CAPTION * bool(panel.title))
    names = room_for([word(name) for name in panel.rows])
    left = names + 8 + (_AXIS if panel.row_axis else 0)
    above = CAPTION * bool(panel.title) + _above(panel, cell)
    if is_table(panel):
        return Room(
            width=n_columns * cell, height=n_rows * _height(cell), left=left, above=above, below=8, right=4
        )
    side = max(2.0, min(20, 520 / n_columns, 460 / n_rows))
    return Room(
        width=max(220, n_columns * side), height=max(120, n_rows * side), left=left, above=above, right=_BAR
    )


def draw(panel: Matrix, place: Place, frame: int) -> Drawing:
    values = at_frame(panel.values, frame, 2)  # [row, column]
    blank = (values == 0) if panel.scale == "mask" else ~np.isfinite(values)
    texts = _texts(values, panel, place.width / values.shape[1])
    drawing = Drawing([_cells(values, blank, texts, panel, place)], _axes_of(panel, place))
    # In every frame if in one, so that all frames have the same traces.
    if panel.scale == "mask" or not np.isfinite(panel.values).all():
        drawing.traces.append(_blank_cells(values, blank, texts, panel, place))
    if panel.marked is not None:
        drawing.traces.append(_marks(at_frame(panel.marked, frame, 2), place))
    up = 0 if panel.small else _above(panel, int(place.width / values.shape[1]))
    drawing.notes = place.caption(panel.title, up, place.palette[panel.role] if panel.role else None)
    drawing.shapes = [*_strips(panel.row_heads, place, down=True), *_strips(panel.column_heads, place)]
    return drawing


def is_table(panel: Matrix) -> bool:
    """Whether the matrix is small enough to show its numbers."""
    n_rows, n_columns = panel.values.shape[-2:]
    return not panel.picture and not panel.small and n_rows <= _MOST_ROWS and n_columns <= _MOST_COLUMNS


def _height(cell: int) -> int | float:
    return max(24, cell * 0.62)


def _upright(panel: Matrix, cell: int | float) -> bool:
    return room_for([word(name) for name in panel.columns]) > cell + 6


def _above(panel: Matrix, cell: int) -> int | float:
    """Pixels of the columns' names and their axis."""
    names = [word(name) for name in panel.columns]
    labels = (room_for(names) + 10 if _upright(panel, cell) else 22) if names else 8
    return labels + (_AXIS if panel.column_axis else 0)


def _font(panel: Matrix, cell: int | float) -> int | float:
    """The size at which the longest number fits a cell; words are cut instead."""
    if panel.texts:
        return SMALL
    low, high = extent(panel.values)
    letters = max(2, *(len(written(number, panel.digits)) for number in (low, high)))
    return min(16, (cell - 6) / (0.58 * letters))


def _texts(values: np.ndarray, panel: Matrix, cell: int | float) -> np.ndarray | None:
    """The number or word in each cell, or None where they do not fit."""
    if panel.scale == "mask" and is_table(panel):
        off, on = panel.words or (("", "") if panel.edit else ("0", "1"))
        return np.where(values != 0, word(on), word(off))
    if not is_table(panel) or _font(panel, cell) < 9:
        return None
    if panel.texts:
        longest = max(1, int(cell / (0.62 * SMALL)))
        return np.array([[word(text, longest) for text in row] for row in panel.texts])
    written_out = np.array([[brief(float(value), panel.digits) for value in row] for row in values])
    return np.where(np.isnan(values) & panel.nan_is_empty, "", written_out)


def _cells(
    values: np.ndarray, blank: np.ndarray, texts: np.ndarray | None, panel: Matrix, place: Place
) -> Trace:
    reach = 1.0 if panel.scale in ("weights", "mask") else reach_of(panel.values, panel.reach)
    has_bar = not is_table(panel) and not panel.small
    scale: theme.ColourScale
    if panel.scale == "plain":
        faint = theme.with_alpha(place.palette["muted"], 0.08)
        scale = [[0, faint], [1, faint]]
    else:
        scale = theme.colour_scale("diverging" if panel.scale == "signed" else "sequential", place.dark)
    return dict(
        type="heatmap",
        z=np.where(blank, np.nan, values).astype(np.float32),
        zmin=0 if panel.scale in ("weights", "mask") else -reach,
        zmax=reach,
        colorscale=scale,
        showscale=has_bar and panel.scale in ("weights", "signed"),
        colorbar=_colour_bar(place) if has_bar else None,
        hovertemplate=_hover(panel, "%{z:.5~g}"),
        **_look(texts, ~blank, panel, place),
    )


def _blank_cells(
    values: np.ndarray, blank: np.ndarray, texts: np.ndarray | None, panel: Matrix, place: Place
) -> Trace:
    """Cells without a colour of their own: grey where masked, faint where the number is not finite."""
    masked = np.isneginf(values) | (panel.scale == "mask")
    return dict(
        type="heatmap",
        z=np.where(blank, masked, np.nan).astype(np.float32),
        zmin=0,
        zmax=1,
        colorscale=[
            [0, theme.with_alpha(place.palette["muted"], 0.08)],
            [1, theme.with_alpha(place.palette["muted"], 0.3)],
        ],
        showscale=False,
        customdata=np.where(masked, "masked", values.astype(str)),
        hovertemplate=_hover(panel, "%{customdata}"),
        **_look(texts, blank, panel, place),
    )


def _look(texts: np.ndarray | None, mine: np.ndarray, panel: Matrix, place: Place) -> dict[str, Any]:
    """What both kinds of cells have in common; each writes into its own."""
    gap = 2 if is_table(panel) else 0
    look = {"xgap": gap, "ygap": gap, "hoverongaps": False, **place.on}
    if texts is None:
        return look
    size = round(max(9, _font(panel, place.width / panel.values.shape[-1])), 1)
    return {**look, "text": np.where(mine, texts, ""), "texttemplate": "%{text}", "textfont": {"size": size}}


def _hover(panel: Matrix, number: str) -> str:
    row, column = (
        word(axis) or usual for axis, usual in ((panel.row_axis, "row"), (panel.column_axis, "column"))
    )
    return f"{row} <b>%{{y}}</b><br>{column} <b>%{{x}}</b><br><b>{number}</b><extra></extra>"


def _colour_bar(place: Place) -> dict[str, Any]:
    box = place.box(0, 0, place.width, place.height)
    return {
        "x": box["x1"] + 12 / place.sheet[0],
        "xanchor": "left",
        "xpad": 0,
        "ypad": 0,
        "y": box["y1"],
        "yanchor": "bottom",
        "lenmode": "pixels",
        "len": place.height,
        "tickfont": {"size": SMALL},
    }


def _marks(marked: np.ndarray, place: Place) -> Trace:
    """Outlines around the marked cells, as one path that NaN interrupts."""
    rows, columns = np.nonzero(marked)
    corners = (
        np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1], [np.nan, np.nan]]) * 0.47
    )  # [corner, xy]
    path = np.stack([columns, rows], -1)[:, None] + corners  # [mark, corner, xy]
    return dict(
        type="scatter",
        x=path[..., 0].ravel(),
        y=path[..., 1].ravel(),
        mode="lines",
        line={"color": place.palette["accent"], "width": 2.5},
        hoverinfo="skip",
        showlegend=False,
        **place.on,
    )


def _axes_of(panel: Matrix, place: Place) -> dict[str, Any]:
    n_rows, n_columns = panel.values.shape[-2:]
    if panel.small:
        panel = replace(panel, rows=(), columns=(), row_axis="", column_axis="")
    upright = _upright(panel, place.width / n_columns)
    x = _axis(panel.columns, n_columns, place.width, panel.column_axis, place)
    y = _axis(panel.rows, n_rows, place.height, panel.row_axis, place)
    return place.axes(
        {**x, "side": "top", "range": [-0.5, n_columns - 0.5], "tickangle": -90 if upright else 0},
        {**y, "range": [n_rows - 0.5, -0.5]},
    )


def _axis(names: Sequence[str], count: int, pixels: int | float, name: str, place: Place) -> dict[str, Any]:
    step = 1 if count * _axes.SPACING <= pixels else _axes.every(count, pixels)
    ticks = list(range(0, count, step)) if names else []
    colour = place.palette[name] if name in ("query", "key", "value") else place.palette["muted"]
    return {
        "tickvals": ticks,
        "ticktext": [word(names[at]) for at in ticks],
        "title": {"text": word(name, 40), "font": {"size": SMALL + 1, "color": colour}, "standoff": 4},
        "showgrid": False,
        "ticks": "",
        "ticklabelstandoff": 4,
    }


def _strips(heads: Sequence[int], place: Place, *, down: bool = False) -> list[dict[str, Any]]:
    """The heads' colours along the upper edge, or down the left one; one strip for neighbours of one head."""
    strips, at = [], 0
    step = (place.height if down else place.width) / max(1, len(heads))
    for head, run in groupby(heads):
        start, at = at, at + len(list(run))
        low, high = start * step + 1, at * step - 1
        corners = (-5, low, -1, high) if down else (low, -5, high, -1)
        if head >= 0:
            strips.append(place.box(*corners, fillcolor=place.colour(head), line={"width": 0}))
    return strips
