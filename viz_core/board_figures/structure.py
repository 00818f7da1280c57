"""Drawings of structure on a board: tokens through layers, boxes of a computation."""

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
    room_for,
    word,
)
from viz_core.boards import Diagram, Layers

_FLOOR = 60  # pixels from layer to layer
_TOKEN = 46
_BOX, _NOTED_BOX, _BOX_STEP = 34, 46, 58  # height of a box, of one with a note, and from row to row
_ARROW = 40
_OPACITY = (0.0, 0.38, 1.0, 1.0)  # of a diagram's levels


def layers_room(panel: Layers) -> Room:
    n_layers, n_tokens = panel.lit.shape[-2:]
    width = max(200, n_tokens * _token_step(panel))
    above = 8 + CAPTION * bool(panel.title)
    return Room(width=width, height=_FLOOR * max(1, n_layers - 1) + 24, left=60, above=above, below=30)


def draw_layers(panel: Layers, place: Place, frame: int) -> Drawing:
    lit = at_frame(panel.lit, frame, 2).astype(bool)  # [layer, token]
    n_layers, n_tokens = lit.shape
    queries, keys = np.nonzero(panel.links)
    tops, query = np.divmod(np.arange((n_layers - 1) * len(queries)), max(1, len(queries)))
    ends = np.stack([tops + 1, queries[query], keys[query]])  # [layer query key, link]
    bright = lit[ends[0], ends[1]] & lit[ends[0] - 1, ends[2]]
    p = place.palette
    layer, token = (grid.ravel() for grid in np.indices(lit.shape))
    nodes = dict(
        type="scatter",
        x=token,
        y=layer,
        mode="markers",
        marker={
            "size": 12,
            "color": [p["accent"] if on else p["background"] for on in lit.ravel()],
            "line": {"width": 1.5, "color": [p["accent"] if on else p["muted"] for on in lit.ravel()]},
        },
        customdata=[word(panel.tokens[at]) for at in token.tolist()],
        hovertemplate="layer %{y}<br><b>%{customdata}</b><extra></extra>",
        cliponaxis=False,
        showlegend=False,
        **place.on,
    )
    faint = {"color": theme.with_alpha(p["muted"], 0.35), "width": 1}
    strong = {"color": p["accent"], "width": 2}
    traces = [_links(ends, faint, place), _links(ends[:, bright], strong, place), nodes]
    names = ["input", *(f"layer {at}" for at in range(1, n_layers))]
    axes = place.axes(
        {
            "tickvals": list(range(n_tokens)),
            "ticktext": [word(token) for token in panel.tokens],
            "range": [-0.5, n_tokens - 0.5],
            "showgrid": False,
        },
        {
            "tickvals": list(range(n_layers)),
            "ticktext": names,
            "range": [-0.2, max(1, n_layers - 1) + 0.2],
            "showgrid": False,
        },
    )
    return Drawing(traces, axes, place.caption(panel.title, 8))


def _token_step(panel: Layers) -> int | float:
    return max(_TOKEN, room_for([word(token) for token in panel.tokens]) + 8)


def _links(ends: np.ndarray, line: dict[str, Any], place: Place) -> Trace:
    """From each key up to its query, as one path that NaN interrupts; ends: [layer query key, link]."""
    layers, queries, keys = ends
    gap = np.full(len(layers), np.nan)
    return dict(
        type="scatter",
        x=np.stack([keys, queries, gap], -1).ravel(),
        y=np.stack([layers - 1, layers, gap], -1).ravel(),
        mode="lines",
        line=line,
        hoverinfo="skip",
        showlegend=False,
        **place.on,
    )


def diagram_room(panel: Diagram) -> Room:
    columns, rows = (max(at) + 1 for at in zip(*((n.column, n.row) for n in panel.nodes), strict=True))
    above = 8 + CAPTION * bool(panel.title)
    width = columns * (_box_width(panel) + _ARROW)
    step = max(panel.row_height + 2, _box_height(panel) + 6)
    return Room(width=width, height=max(90, rows * step), above=above, below=8)


def draw_diagram(panel: Diagram, place: Place, frame: int) -> Drawing:
    columns = max(node.column for node in panel.nodes) + 1
    rows = max(node.row for node in panel.nodes) + 1
    wide, tall = _box_width(panel), _box_height(panel)
    centre = {
        node.id: ((node.column + 0.5) * place.width / columns, (node.row + 0.5) * place.height / rows)
        for node in panel.nodes
    }
    levels = _levels(panel, frame)
    drawing = Drawing(notes=place.caption(panel.title, 8))
    for start, end in panel.edges:
        seen = _OPACITY[min(levels[start], levels[end])]
        drawing.notes.append(_arrow(centre[start], centre[end], (wide, tall), place) | {"opacity": seen})
    for node in panel.nodes:
        x, y = centre[node.id]
        strong, seen = node.changed or levels[node.id] == 3, _OPACITY[levels[node.id]]
        colour = place.palette["ink"] if node.colour is None else place.colour(node.colour)
        accent = theme.with_alpha(place.palette["accent"], 0.14)
        drawing.shapes.append(
            place.box(
                x - wide / 2, y - tall / 2, x + wide / 2, y + tall / 2,
                line={"color": colour, "width": 3 if strong else 1.5},
                fillcolor=accent if strong else place.palette["background"],
                opacity=seen,
            )
        )  # fmt: skip
        label = f"<b>{word(node.label, 40)}</b>" if strong else word(node.label, 40)
        if node.note:
            label += f'<br><span style="font-size:{SMALL}px">{word(node.note, 40)}</span>'
        style = {"font": {"size": MEDIUM, "color": colour}, "opacity": seen}
        drawing.notes.append(place.note(label, x, y, xanchor="center", yanchor="middle", **style))
    return drawing


def _levels(panel: Diagram, frame: int) -> dict[str, int]:
    """How far each node stands out in a frame."""
    if panel.levels is None:
        return {node.id: 2 for node in panel.nodes}
    at = at_frame(panel.levels, frame, 1).tolist()
    return {node.id: int(level) for node, level in zip(panel.nodes, at, strict=True)}


def _box_width(panel: Diagram) -> int | float:
    widths = (
        max(text_width(word(node.label, 40), MEDIUM), text_width(word(node.note, 40), SMALL))
        for node in panel.nodes
    )
    return max(70, *(width + 20 for width in widths))


def _box_height(panel: Diagram) -> int | float:
    return _NOTED_BOX if any(node.note for node in panel.nodes) else _BOX


def _arrow(start: Pair, end: Pair, box: Pair, place: Place) -> dict[str, Any]:
    """From the side of a box to the facing side of another; up or down where one stands over the other."""
    (x1, y1), (x2, y2) = start, end
    level = abs(x2 - x1) > 1
    out_x, out_y = (np.sign(x2 - x1) * box[0] / 2, 0) if level else (0, np.sign(y2 - y1) * box[1] / 2)
    tail, head = (x1 + out_x, y1 + out_y), (x2 - out_x, y2 - out_y)
    return {
        **place.note("", *head, arrowcolor=place.palette["muted"], arrowwidth=1.5, arrowhead=2, standoff=2),
        "showarrow": True,
        "ax": tail[0] - head[0],
        "ay": tail[1] - head[1],
    }
