"""A matrix as a chart: colours in cells, the heads of rows and columns, outlines of what is marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from viz_core.boards.chart import Chart, Moving, Paint
from viz_core.boards.panel import SMALL, reach_of, word

if TYPE_CHECKING:
    from viz_core.boards.panels.matrix import Matrix


MASKED = Paint("muted", 0.16)
"""What a mask forbids: neither a colour of the scales nor the page's own."""


def describe(panel: Matrix) -> Chart:
    """The matrix as a heat map, with the first row on top."""
    n_rows, n_columns = panel.values.shape[-2:]
    traces = [_heat(panel)]
    if panel.marked is not None:
        traces.append(_outlines(panel.marked, Paint("accent" if panel.is_table else "ink")))
    blank = np.isnan if panel.gap else np.isneginf
    masked = panel.values.dtype.kind == "f" and bool(blank(panel.values).any())
    return Chart(
        traces=traces,
        x={
            **_axis(panel.columns, panel.column_axis, panel.column_heads, "{} →"),
            "side": "top",
            "range": [-0.5, n_columns - 0.5],
        },
        # The axis's title is read upwards, its rows downwards.
        y={**_axis(panel.rows, panel.row_axis, panel.row_heads, "← {}"), "range": [n_rows - 0.5, -0.5]},
        form="cells",
        under=MASKED if masked else None,
        shapes=[*_strips(panel.column_heads, "x", "y"), *_strips(panel.row_heads, "y", "x")],
    )


def _heat(panel: Matrix) -> dict[str, Any]:
    from_zero = panel.scale in ("weights", "mask")
    reach = 1.0 if from_zero else reach_of(panel.values, panel.reach)
    scale = Paint("diverging" if panel.scale == "signed" else "sequential")
    plain = [[0, Paint("muted", 0.08)], [1, Paint("muted", 0.08)]]
    row, column = (
        word(axis) or usual for axis, usual in ((panel.row_axis, "row"), (panel.column_axis, "column"))
    )
    said = "" if panel.quantity == "weight" else f"{word(panel.quantity, 40)} "
    return dict(
        type="heatmap",
        z=panel.values if panel.values.ndim == 2 else Moving(panel.values),
        zmin=0 if from_zero else -reach,
        zmax=reach,
        colorscale=plain if panel.scale == "plain" else scale,
        showscale=False,
        hovertemplate=(
            f"{row} <b>%{{y}}</b><br>{column} <b>%{{x}}</b><br>{said}<b>%{{z:.5~g}}</b><extra></extra>"
        ),
    )


def _outlines(marked: np.ndarray, colour: Paint) -> dict[str, Any]:
    """Lines around the marked cells of each frame."""
    paths = [_outline(each.astype(bool)) for each in marked.reshape(-1, *marked.shape[-2:])]
    longest = max(2, *(len(path) for path in paths))
    padded = np.full((len(paths), longest, 2), np.nan, np.float32)  # [frame, point, xy]
    for path, room in zip(paths, padded, strict=True):
        room[: len(path)] = path
    x, y = (padded[..., axis] for axis in (0, 1))
    return dict(
        type="scatter",
        x=Moving(x) if marked.ndim > 2 else x[0],
        y=Moving(y) if marked.ndim > 2 else y[0],
        mode="lines",
        line={"color": colour, "width": 2.5},
        hoverinfo="skip",
        showlegend=False,
    )


def _outline(marked: np.ndarray) -> np.ndarray:
    """[point, xy]: the edges between marked cells and others, each a line that NaN ends."""
    around = np.pad(marked, 1)
    inner = (slice(1, -1), slice(1, -1))
    sides = []
    for shift, start, end in (
        ((1, 0), (-0.5, -0.5), (0.5, -0.5)),  # above
        ((-1, 0), (-0.5, 0.5), (0.5, 0.5)),
        ((0, 1), (-0.5, -0.5), (-0.5, 0.5)),  # on the left
        ((0, -1), (0.5, -0.5), (0.5, 0.5)),
    ):
        rows, columns = np.nonzero(marked & ~np.roll(around, shift, (0, 1))[inner])
        corners = np.array([start, end, (np.nan, np.nan)])
        sides.append((np.stack([columns, rows], -1)[:, None] + corners).reshape(-1, 2))
    return np.concatenate(sides)


def _axis(names: Sequence[str], axis: str, heads: Sequence[int], title: str) -> dict[str, Any]:
    colour = Paint(axis) if axis in ("query", "key", "value") else Paint("muted")  # type: ignore[arg-type]
    text = title.format(word(axis, 40)) if axis else ""
    return {
        "names": list(names),
        "title": {"text": text, "font": {"size": SMALL + 1, "color": colour}, "standoff": 4},
        "showgrid": False,
        "ticks": "",
        "ticklabelstandoff": 9 if heads else 4,  # pixels; the heads' strips lie between
    }


def _strips(heads: Sequence[int], along: str, across: str) -> list[dict[str, Any]]:
    """The heads' colours along an edge; one strip for neighbours of one head."""
    strips, at = [], 0
    for head, run in groupby(heads):
        start, at = at, at + len(list(run))
        if head < 0:
            continue
        ends, edge = ((1, 5), 1) if across == "y" else ((-5, -1), 0)  # pixels: up, and to the left
        strips.append(
            {
                "type": "rect", f"{along}ref": along, f"{across}ref": f"{across} domain",
                f"{along}0": start - 0.45, f"{along}1": at - 0.55,
                f"{across}0": ends[0], f"{across}1": ends[1],
                f"{across}sizemode": "pixel", f"{across}anchor": edge,
                "fillcolor": Paint(head), "line": {"width": 0},
            }
        )  # fmt: skip
    return strips
