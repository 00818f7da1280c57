"""A matrix of a board: small ones with their numbers, large ones as a picture with a colour bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from viz_core import labels as labels_module
from viz_core import theme
from viz_core.boards.chart import filled
from viz_core.boards.panel import (
    CAPTION,
    SMALL,
    Drawing,
    Place,
    Room,
    Trace,
    at_frame,
    extent,
    room_for,
    word,
)
from viz_core.boards.picture import MASKED
from viz_core.labels import brief, decimal

if TYPE_CHECKING:
    from viz_core.boards.panels.matrix import Matrix

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
    if panel.is_table:
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
    heat, *outlines = (filled(trace, frame, place.dark) for trace in panel.chart.traces)
    drawing = Drawing([_cells(values, blank, texts, panel, heat, place)], _axes_of(panel, place))
    # A trace in one frame is in every frame, so that all have the same traces.
    if panel.scale == "mask" or not np.isfinite(panel.values).all():
        drawing.traces.append(_blank_cells(values, blank, texts, panel, heat, place))
    drawing.traces += [outline | place.on for outline in outlines]
    up = 0 if panel.small else _above(panel, int(place.width / values.shape[1]))
    drawing.notes = place.caption(panel.title, up, place.palette[panel.role] if panel.role else None)
    for shape in panel.chart.shapes:
        on = {ref: shape[ref].replace(ref[0], place.on[f"{ref[0]}axis"]) for ref in ("xref", "yref")}
        drawing.shapes.append(filled(shape, frame, place.dark) | on)
    return drawing


def _height(cell: int) -> int | float:
    return max(24, cell * 0.62)


def _upright(panel: Matrix, cell: int | float) -> bool:
    return room_for([word(name) for name in panel.columns]) > cell + 6


def _above(panel: Matrix, cell: int) -> int | float:
    """The pixels that the columns' names and their axis need."""
    names = [word(name) for name in panel.columns]
    labels = (room_for(names) + 10 if _upright(panel, cell) else 22) if names else 8
    return labels + (_AXIS if panel.column_axis else 0)


def _font(panel: Matrix, cell: int | float) -> int | float:
    """The font size at which the longest number fits a cell; words are cut instead."""
    if panel.texts:
        return SMALL
    low, high = extent(panel.values)
    letters = max(2, *(len(decimal(number, panel.digits)) for number in (low, high)))
    return min(16, (cell - 6) / (0.58 * letters))


def _texts(values: np.ndarray, panel: Matrix, cell: int | float) -> np.ndarray | None:
    """The number or word in each cell, or None where they do not fit."""
    if panel.scale == "mask" and panel.is_table:
        off, on = panel.words or (("", "") if panel.edit else ("0", "1"))
        return np.where(values != 0, word(on), word(off))
    if not panel.is_table or _font(panel, cell) < 9:
        return None
    if panel.texts:
        longest = max(1, int(cell / (0.62 * SMALL)))
        return np.array([[word(text, longest) for text in row] for row in panel.texts])
    written_out = np.array([[brief(float(value), panel.digits) for value in row] for row in values])
    return np.where(np.isnan(values) & (panel.nan_is_empty or bool(panel.gap)), "", written_out)


def _cells(
    values: np.ndarray, blank: np.ndarray, texts: np.ndarray | None, panel: Matrix, heat: Trace, place: Place
) -> Trace:
    has_bar = not panel.is_table and not panel.small
    own = {
        "z": np.where(blank, np.nan, values).astype(np.float32),
        "showscale": has_bar and panel.scale in ("weights", "signed"),
        "colorbar": _colour_bar(place) if has_bar else None,
    }
    return heat | own | _look(texts, ~blank, panel, place)


def _blank_cells(
    values: np.ndarray, blank: np.ndarray, texts: np.ndarray | None, panel: Matrix, heat: Trace, place: Place
) -> Trace:
    """Cells without a colour of their own: grey where masked, faint where the number is not finite."""
    gaps = np.isnan(values) & bool(panel.gap)
    masked = np.isneginf(values) | (panel.scale == "mask") | gaps
    return dict(
        type="heatmap",
        z=np.where(blank, masked, np.nan).astype(np.float32),
        zmin=0,
        zmax=1,
        colorscale=[
            [0, theme.with_alpha(place.palette["muted"], 0.08)],
            [1, filled(MASKED, 0, place.dark)],
        ],
        showscale=False,
        customdata=np.where(gaps, word(panel.gap), np.where(masked, "masked", values.astype(str))),
        hovertemplate=heat["hovertemplate"].replace("%{z:.5~g}", "%{customdata}"),
        **_look(texts, blank, panel, place),
    )


def _look(texts: np.ndarray | None, mine: np.ndarray, panel: Matrix, place: Place) -> dict[str, Any]:
    """The style that coloured and blank cells share; each kind writes its own texts."""
    gap = 2 if panel.is_table else 0
    look = {"xgap": gap, "ygap": gap, "hoverongaps": False, **place.on}
    if texts is None:
        return look
    size = round(max(9, _font(panel, place.width / panel.values.shape[-1])), 1)
    return {**look, "text": np.where(mine, texts, ""), "texttemplate": "%{text}", "textfont": {"size": size}}


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


def _axes_of(panel: Matrix, place: Place) -> dict[str, Any]:
    chart = panel.chart
    upright = _upright(panel, place.width / panel.values.shape[-1])
    x, y = (
        _with_names(filled(axis, 0, place.dark), length, panel.small)
        for axis, length in ((chart.x, place.width), (chart.y, place.height))
    )
    return place.axes({**x, "tickangle": -90 if upright else 0}, y)


def _with_names(axis: dict[str, Any], pixels: int | float, bare: bool) -> dict[str, Any]:
    """The axis with as many of its names as fit; a thumbnail's has neither names nor title."""
    names = [] if bare else axis["names"]
    step = 1 if len(names) * labels_module.SPACING <= pixels else labels_module.label_step(len(names), pixels)
    ticks = list(range(0, len(names), step))
    rest = {key: value for key, value in axis.items() if key != "names" and not (bare and key == "title")}
    if rest.get("title", {}).get("text"):
        rest["title"] = {**rest["title"], "text": rest["title"]["text"] + labels_module.skipping(names, step)}
    return rest | {"tickvals": ticks, "ticktext": [word(names[at]) for at in ticks]}
