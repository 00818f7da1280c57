"""Thumbnails of all heads, in which no large weight is lost, and all of them in one heatmap trace, since a
subplot for each head would be slow.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float, UInt8

from . import theme
from ._checks import check_axes, check_finite, check_labels, check_patterns, check_weights
from .labels import TITLE_ROOM, heading, invisible_number, label_room, label_step, token_axis


def max_pool(pattern: Float[np.ndarray, "*heads query key"], size: int) -> Float[np.ndarray, "*heads q k"]:
    """The largest weight in each of at most `size` x `size` bins, in the input's own precision.

    Bin i of n positions holds positions `i * n // size` up to `(i + 1) * n // size`: bins do not overlap,
    cover everything and differ by at most one in width. Axes of at most `size` positions stay as they are.
    Raises ValueError for fewer than two axes, an empty one, or a size below 1.
    """
    check_patterns(pattern)
    if size < 1:
        raise ValueError(f"size={size} is too small; a thumbnail needs at least 1 cell a side")
    return _largest_of_bins(_largest_of_bins(pattern, size, axis=-2), size, axis=-1)


def _largest_of_bins(values: np.ndarray, size: int, axis: Literal[-2, -1]) -> np.ndarray:
    """The largest value of each bin of rows (axis -2) or of columns (-1)."""
    if values.shape[axis] <= size:
        return values
    edges = bin_edges(values.shape[axis], size)
    starts, last = edges[:-1], edges[1:] - 1
    widest = int(np.diff(edges).max())
    if axis == -2 and widest > 2:  # rows lie together in memory: many of them are compared without a copy
        return np.stack([values[..., a:b, :].max(axis=-2) for a, b in pairwise(edges)], axis=-2)
    largest = values.take(starts, axis=axis)
    for offset in range(1, widest):
        np.maximum(largest, values.take(np.minimum(starts + offset, last), axis=axis), out=largest)
    return largest


def bin_edges(length: int, size: int) -> np.ndarray:
    """First position of each bin and, last, the end: `min(size, length) + 1` integers."""
    bins = min(size, length)
    return np.arange(bins + 1) * length // bins


def thumbnails(
    pattern: Float[np.ndarray, "*heads query key"], size: int = 64
) -> UInt8[np.ndarray, "*heads q k"]:
    """`max_pool`ed weights as bytes, 0..255 for 0..1, rounded to the nearest.

    Raises ValueError for NaN and for weights outside 0..1 (by the largest of each bin, the only ones seen).
    """
    pooled = max_pool(pattern, size)
    check_weights("pattern", pooled)
    return np.rint(np.clip(pooled, 0, 1) * 255).astype(np.uint8)


CELLS = 64
MAX_HEADS = 1024
_LABEL_PIXELS = 24
_GAP_PIXELS = 14
_TICK_SIZE = 10
_NAME_SIZE = 11
_BAR = {"lenmode": "pixels", "len": 220, "y": 1, "yanchor": "top"}


@dataclass(frozen=True)
class _Sheet:
    """Where each thumbnail lies: `rows` x `columns` tiles of `height` x `width` cells, and gaps between."""

    rows: int
    columns: int
    height: int
    width: int
    gap_y: int
    gap_x: int
    pixels_y: float  # of one cell
    pixels_x: float

    def top(self, row: int) -> int:
        return self.gap_y + row * (self.height + self.gap_y)

    def left(self, column: int) -> int:
        return column * (self.width + self.gap_x)

    @property
    def shape(self) -> tuple[int, int]:
        return self.top(self.rows) - self.gap_y, self.left(self.columns) - self.gap_x


def head_grid(
    pattern: Float[np.ndarray, "*layers head query key"],
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    layers: Sequence[int] | None = None,
    change: bool = False,
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """A thumbnail of every head, queries as rows and keys as columns, on one scale from 0 to 1.

    change: the numbers are changes of weights, on one scale around 0.
    pattern: [head, query, key], laid out in rows of at most six, or [layer, head, query, key], one row a
    layer.
    layers: the numbers of the layers; by default counted from 0.
    More than 64 tokens are pooled into 64 cells a side that each show their largest weight, or change.
    Raises ValueError for shapes, tokens and numbers that do not fit.
    """
    check_axes("pattern", pattern, "head query key", "layer head query key")
    n_query, n_key = pattern.shape[-2:]
    queries = check_labels("query", tokens, n_query)
    keys = check_labels("key", tokens if key_tokens is None else key_tokens, n_key)
    with_layers = pattern.ndim == 4
    columns = _columns(pattern)
    pooled = _pooled(pattern.reshape(-1, n_query, n_key), change)  # [tile, query cell, key cell]
    numbers = range(len(pattern)) if layers is None else layers
    if with_layers and len(numbers) != len(pattern):
        raise ValueError(f"{len(numbers)} numbers for {len(pattern)} layers; pass one per layer")
    names = _names(pattern, numbers)
    sheet = _sheet(names, columns, *pooled.shape[-2:])
    rows = _binned(queries, pooled.shape[-2])
    across = _binned(keys, pooled.shape[-1])
    z, heads = _compose(pooled, sheet, pattern.shape[-3])
    prefixes = [f"layer {numbers[at]}<br>query " if with_layers else "query " for at in range(sheet.rows)]
    y = _tile_labels(rows, sheet.gap_y, prefixes)
    x = _tile_labels(across, sheet.gap_x, ["key "] * sheet.columns)[sheet.gap_x :]
    reach = (float(np.abs(pooled).max()) or 1.0) if change else None
    fig = go.Figure(_thumbnails(x, y, z, heads, reach, with_layers=with_layers, dark=dark))
    return theme.apply(fig, dark).update_layout(_layout(sheet, x, y, rows, across, names, dark, title))


def _pooled(pattern: np.ndarray, change: bool) -> np.ndarray:
    """At most so many cells a side, each with the largest weight, or the change that is furthest from 0."""
    pooled = max_pool(pattern, CELLS)
    if not change:
        check_weights("pattern", pooled)
        return pooled
    least = -max_pool(-pattern, CELLS)
    check_finite("pattern", pooled)
    return np.where(-least > pooled, least, pooled)


def _thumbnails(
    x: list[str], y: list[str], z: np.ndarray, heads: np.ndarray, reach: float | None, *,
    with_layers: bool, dark: bool,
) -> go.Heatmap:  # fmt: skip
    """The one trace. with_layers: the rows' names begin with the layer, and the hover text names it.

    reach: the largest change, where the numbers are changes.
    """
    return go.Heatmap(
        x=x,
        y=y,
        z=z,
        customdata=heads,
        zmin=0 if reach is None else -reach,
        zmax=1 if reach is None else reach,
        hoverongaps=False,
        colorscale=theme.colour_scale("sequential" if reach is None else "diverging", dark),
        colorbar={"title": {"text": "attention weight" if reach is None else "change"}, **_BAR},
        hovertemplate=f"head %{{customdata}}{', ' if with_layers else '<br>'}%{{y}}<br>%{{x}}"
        f"<br>{'weight' if reach is None else 'change'} <b>%{{z:.4~g}}</b><extra></extra>",
    )


def _columns(pattern: np.ndarray) -> int:
    heads = math.prod(pattern.shape[:-2])
    if heads > MAX_HEADS:
        raise ValueError(f"{heads} heads are more than the {MAX_HEADS} a grid holds; pass some of the layers")
    if pattern.ndim == 4:
        return pattern.shape[1]
    return heads if heads <= 4 else math.ceil(heads / math.ceil(heads / 6))


def _names(pattern: np.ndarray, layers: Sequence[int]) -> list[str]:
    if pattern.ndim == 3:
        return [f"head {head}" for head in range(len(pattern))]
    return [f"layer {layers[at]} · head {head}" for at, head in np.ndindex(pattern.shape[:2])]


def _sheet(names: list[str], columns: int, height: int, width: int) -> _Sheet:
    # Pixels of the longer side of a thumbnail: its name has to fit over it.
    side = min(220, max(84, 960 / columns, label_room(names, _NAME_SIZE)))
    pixels = side / max(height, width)
    # A text of three words against one of sixty is drawn in taller cells, so that its rows can be seen.
    pixels_y, pixels_x = max(pixels, side / 4 / height), max(pixels, side / 4 / width)
    return _Sheet(
        rows=math.ceil(len(names) / columns),
        columns=columns,
        height=height,
        width=width,
        gap_y=math.ceil(_LABEL_PIXELS / pixels_y),
        gap_x=math.ceil(_GAP_PIXELS / pixels_x),
        pixels_y=pixels_y,
        pixels_x=pixels_x,
    )


def _compose(pooled: np.ndarray, sheet: _Sheet, n_heads: int) -> tuple[np.ndarray, np.ndarray]:
    """The sheet of weights, NaN in the gaps, and for each of its cells the number of the head."""
    z = np.full(sheet.shape, np.nan, np.float32)
    heads = np.zeros(sheet.shape, np.min_scalar_type(n_heads - 1))
    for tile, weights in enumerate(pooled):
        top, left = sheet.top(tile // sheet.columns), sheet.left(tile % sheet.columns)
        cells = np.s_[top : top + sheet.height, left : left + sheet.width]
        z[cells] = weights
        heads[cells] = tile % n_heads
    return z, heads


def _binned(labels: list[str], cells: int) -> list[str]:
    """One label for each cell: the token, or the first and the last of the tokens pooled into it."""
    edges = bin_edges(len(labels), cells)
    return [
        labels[start] if end - start == 1 else f"{labels[start]} … {labels[end - 1]}"
        for start, end in pairwise(edges.tolist())
    ]


def _tile_labels(labels: list[str], gap: int, prefixes: list[str]) -> list[str]:
    """Names for all rows (or columns) of the sheet; each tile repeats its tokens, told apart invisibly."""
    names = []
    for tile, prefix in enumerate(prefixes):
        mark = invisible_number(tile)
        names += [mark + " " * (space + 1) for space in range(gap)]
        names += [prefix + label + mark for label in labels]
    return names


def _ticks(
    names: list[str], labels: list[str], firsts: list[int], pixels: float
) -> tuple[list[str], list[str]]:
    """Which names of the sheet get a tick, and its text: as many tokens of each tile as fit."""
    step = label_step(len(labels), pixels * len(labels))
    places = range(0, len(labels), step)
    return [names[first + i] for first in firsts for i in places], [labels[i] for _ in firsts for i in places]


def _layout(
    sheet: _Sheet,
    x: list[str],
    y: list[str],
    rows: list[str],
    across: list[str],
    names: list[str],
    dark: bool,
    title: str | None,
) -> dict[str, Any]:
    tops = [sheet.top(row) for row in range(sheet.rows)]
    lefts = [sheet.left(column) for column in range(sheet.columns)]
    x_ticks, x_text = _ticks(x, across, lefts, sheet.pixels_x)
    y_ticks, y_text = _ticks(y, rows, tops, sheet.pixels_y)
    left = label_room(y_text, _TICK_SIZE) + TITLE_ROOM
    below = label_room(x_text, _TICK_SIZE) + TITLE_ROOM
    above, right = 56 if title else 16, 120
    n_y, n_x = sheet.shape
    corners = [
        (sheet.left(tile % sheet.columns) - 0.5, sheet.top(tile // sheet.columns) - 0.5)
        for tile in range(len(names))
    ]
    frames = "".join(
        f"M{left} {top}H{left + sheet.width}V{top + sheet.height}H{left}Z" for left, top in corners
    )
    font = {"size": _NAME_SIZE}
    name_style = {"xanchor": "left", "yanchor": "bottom", "showarrow": False, "font": font, "borderpad": 1}
    return {
        "title": heading(title),
        "width": n_x * sheet.pixels_x + left + right,
        "height": max(n_y * sheet.pixels_y, 240) + above + below,
        "margin": {"l": left, "r": right, "t": above, "b": below},
        "xaxis": {
            **token_axis("key", x, x_ticks, x_text, size=_TICK_SIZE, dark=dark),
            "tickangle": -90,
            "range": [-0.5 - 1 / sheet.pixels_x, n_x - 0.5 + 1 / sheet.pixels_x],  # with the outer frames
        },
        "yaxis": {
            **token_axis("query", y, y_ticks, y_text, size=_TICK_SIZE, dark=dark),
            "range": [n_y - 0.5 + 1 / sheet.pixels_y, -0.5],
        },
        "annotations": [
            {**name_style, "text": name, "x": left, "y": top}
            for name, (left, top) in zip(names, corners, strict=True)
        ],
        "shapes": [
            {"type": "path", "path": frames, "line": {"width": 1, "color": theme.palette(dark)["grid"]}}
        ],
    }
