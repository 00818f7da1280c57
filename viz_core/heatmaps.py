"""Attention of one head in colours: over its tokens, a part of a long text or the picture that was read."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from . import labels, theme
from ._checks import check_axes, check_finite, check_labels, check_weights

Quantity = Literal["pattern", "scores", "dot products", "share", "flow", "length", "change"]
Scale = Literal["0..1", "row", "log"]
Matrix = Float[np.ndarray, "query key"]

LOG_FLOOR = 1e-4
_WORDS = {
    "pattern": "weight",
    "scores": "score",
    "dot products": "dot product",
    "share": "share",
    "flow": "flow",
    "length": "length",
    "change": "change",
}
_SIGNED = ("scores", "dot products", "change")
_BARS = {
    "pattern": "attention weight",
    "share": "share of the input token",
    "flow": "flow from the input token",
}


def attention_heatmap(
    matrix: Matrix,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    quantity: Quantity = "pattern",
    scale: Scale = "0..1",
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """One head: queries are rows, keys are columns.

    matrix: weights in 0..1 for `quantity="pattern"`, also for "share" (`rollout`) and "flow"
    (`attention_flow`); lengths from 0 for "length" (`value_weighted`); else any numbers, -inf where masked:
    scores, dot products, the "change" of weights.
    tokens, key_tokens: a string per query and per key; without key_tokens, both are one text.
    scale, for patterns: fixed to "0..1", each "row" by its largest weight, or "log" from 0.0001 to 1.
    Raises ValueError for shapes, tokens and numbers that do not fit.
    """
    _check(matrix, quantity, scale)
    queries = check_labels("query", tokens, matrix.shape[0])
    keys = check_labels("key", tokens if key_tokens is None else key_tokens, matrix.shape[1])
    masked = np.isneginf(matrix)
    style = _look(matrix, quantity, scale)
    z = np.where(masked, np.nan, style.pop("z")).astype(np.float32)
    if masked.any():
        style["colorbar"]["title"]["text"] += " (grey: masked)"
    number = f"{_WORDS[quantity]} <b>%{{customdata[0]:.4~g}}</b>"
    fig = go.Figure(
        go.Heatmap(
            x=keys,
            y=queries,
            z=z,
            customdata=matrix[..., None].astype(np.float32),
            hovertemplate=f"query <b>%{{y}}</b><br>key <b>%{{x}}</b><br>{number}<extra></extra>",
            hoverongaps=False,
            colorscale=theme.colour_scale("diverging" if quantity in _SIGNED else "sequential", dark),
            **style,
        )
    )
    if masked.any():
        fig.add_trace(_masked_cells(masked, queries, keys, theme.palette(dark)["grid"]))
    return theme.apply(fig, dark).update_layout(_layout(queries, keys, dark, title))


def _check(matrix: np.ndarray, quantity: str, scale: str) -> None:
    check_axes("matrix", matrix, "query key")
    if quantity not in _WORDS:
        known = '", "'.join(_WORDS)
        raise ValueError(f'quantity="{quantity}" is unknown; choose one of "{known}"')
    if scale not in ("0..1", "row", "log"):
        raise ValueError(f'scale="{scale}" is unknown; choose "0..1", "row" or "log"')
    if quantity in _BARS:
        check_weights("matrix", matrix)
    else:
        if scale != "0..1":
            raise ValueError(f'scale="{scale}" is for weights in 0..1, not for {quantity}; leave it out')
        check_finite("matrix (but for -inf, masked)", matrix[~np.isneginf(matrix)])
    if quantity == "length" and (matrix < 0).any():
        raise ValueError(f"matrix has values from {matrix.min():.4g}, but lengths begin at 0; pass norms")


def _look(matrix: np.ndarray, quantity: str, scale: str) -> dict[str, Any]:
    if quantity in _BARS:
        return _pattern_look(matrix, scale, quantity)
    if quantity == "length":
        bar = {"title": {"text": "length of what is moved"}}
        return {"z": matrix, "zmin": 0, "zmax": float(matrix.max()) or 1.0, "colorbar": bar}
    finite = matrix[np.isfinite(matrix)]
    reach = (float(np.abs(finite).max()) if finite.size else 0.0) or 1.0
    return {"z": matrix, "zmin": -reach, "zmax": reach, "colorbar": {"title": {"text": _WORDS[quantity]}}}


def _pattern_look(weights: np.ndarray, scale: str, quantity: str) -> dict[str, Any]:
    bar_title, word = _BARS[quantity], _WORDS[quantity]
    if scale == "row":
        largest = weights.max(-1, keepdims=True)
        z = np.divide(weights, largest, out=np.zeros(weights.shape), where=largest > 0)
        return {"z": z, "zmin": 0, "zmax": 1, "colorbar": {"title": {"text": f"{word} / largest of its row"}}}
    if scale == "log":
        ticks = list(range(int(np.log10(LOG_FLOOR)), 1))
        bar = {
            "title": {"text": f"{bar_title}, logarithmic"},
            "tickvals": ticks,
            "ticktext": [f"≤ {LOG_FLOOR:g}", *(f"{10.0**tick:g}" for tick in ticks[1:])],
        }
        return {"z": np.log10(np.maximum(weights, LOG_FLOOR)), "zmin": ticks[0], "zmax": 0, "colorbar": bar}
    return {"z": weights, "zmin": 0, "zmax": 1, "colorbar": {"title": {"text": bar_title}}}


def _masked_cells(masked: np.ndarray, queries: list[str], keys: list[str], colour: str) -> go.Heatmap:
    return go.Heatmap(
        x=keys,
        y=queries,
        z=np.where(masked, 0, np.nan).astype(np.float32),
        colorscale=[[0, colour], [1, colour]],
        opacity=0.5,
        showscale=False,
        hoverongaps=False,
        hovertemplate="query <b>%{y}</b><br>key <b>%{x}</b><br>masked<extra></extra>",
    )


def _side(length: int) -> int:
    """Pixels for `length` cells: roomy for a sentence, then a screen, then 1 a cell."""
    return max(length, 200, min(length * 40, max(560, min(length * 15, 900))))


def _layout(queries: list[str], keys: list[str], dark: bool, title: str | None) -> dict[str, Any]:
    height, width = _side(len(queries)), _side(len(keys))
    row_step, column_step = labels.label_step(len(queries), height), labels.label_step(len(keys), width)
    row_size = labels.font_size(row_step * height / len(queries))
    column_size = labels.font_size(column_step * width / len(keys))
    rows, columns = queries[::row_step], keys[::column_step]
    slanted = len(columns) <= 24
    below = labels.label_room(columns, column_size) * (0.72 if slanted else 1) + labels.TITLE_ROOM
    left = labels.label_room(rows, row_size) + labels.TITLE_ROOM
    top, right = 64 if title else 24, 120
    return {
        "title": labels.heading(title),
        "width": width + left + right,
        "height": height + top + below,
        "margin": {"l": left, "r": right, "t": top, "b": below},
        "xaxis": {
            **labels.token_axis("key", keys, columns, columns, size=column_size, dark=dark),
            "tickangle": -45 if slanted else -90,
        },
        "yaxis": {
            **labels.token_axis("query", queries, rows, rows, size=row_size, dark=dark),
            "autorange": "reversed",
        },
    }


def pattern_window(
    cells: Float[np.ndarray, "row column"],
    first: tuple[int, int],
    size: tuple[int, int],
    *,
    measure: str = "largest",
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """Cells of a pattern by the positions of their queries and keys.

    first: the first query and key. size: the queries and keys that a cell stands for. measure: what a cell
    shows of its pairs, "largest" or "mean". Raises ValueError for weights outside 0..1.
    """
    check_weights("cells", cells)
    (q0, k0), (tall, wide) = first, size
    what = "weight" if tall * wide == 1 else f"{measure} weight of {tall} × {wide} pairs"
    figure = go.Figure(
        go.Heatmap(
            z=cells, x0=k0 + (wide - 1) / 2, dx=wide, y0=q0 + (tall - 1) / 2, dy=tall, zmin=0,
            colorbar={"title": {"text": what, "side": "right"}},
            hovertemplate="query %{y:.0f}<br>key %{x:.0f}<br>" + what + " %{z:.4~g}<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(template=theme.template(dark), title=title, height=640)
    figure.update_xaxes(title="key")
    figure.update_yaxes(title="query", autorange="reversed")
    return figure


STRONGEST = 0.85
"""How thick the colour of the greatest weight lies."""
_HOVER = "part <b>%{customdata[0]},%{customdata[1]}</b><br>weight <b>%{z:.4~g}</b><extra></extra>"
_LUMINANCE = (0.2126, 0.7152, 0.0722)  # of red, green and blue (ITU-R BT.709)


def attention_picture(
    picture: Float[np.ndarray, "..."],
    weights: Float[np.ndarray, "row column"],
    *,
    query: tuple[int, int] | None = None,
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """A picture in grey, and over it the weights of its parts.

    picture: [row, column], or [row, column, 3] in colour, in 0..1. weights: of the parts, which cover the
    picture in equal rectangles. query: the row and the column of the part that asks, which gets an outline.
    Raises ValueError for shapes and numbers that do not fit.
    """
    grey = _grey(picture)
    check_axes("weights", weights, "row column")
    check_weights("weights", weights)
    (height, width), (rows, columns) = grey.shape, weights.shape
    down, along = height / rows, width / columns
    levels = np.repeat(np.round(255 * grey)[..., None], 3, axis=2).astype(np.uint8)
    fig = go.Figure(go.Image(z=levels, hoverinfo="skip"))
    fig.add_trace(
        go.Heatmap(
            z=weights.astype(np.float32), x0=along / 2 - 0.5, dx=along, y0=down / 2 - 0.5, dy=down,
            zmin=0, zmax=float(weights.max()) or 1.0, colorscale=_veil(dark),
            colorbar={"title": {"text": "attention weight"}},
            customdata=np.moveaxis(np.indices(weights.shape), 0, -1) + 1,
            hovertemplate=_HOVER,
        )
    )  # fmt: skip
    if query is not None:
        (row, column), colour = query, theme.palette(dark)["query"]
        left, top = column * along - 0.5, row * down - 0.5
        box = {"x0": left, "x1": left + along, "y0": top, "y1": top + down}
        fig.add_shape(type="rect", **box, line={"color": colour, "width": 3})
    plain = {"visible": False, "constrain": "domain"}
    return theme.apply(fig, dark).update_layout(
        title={"text": title} if title else None,
        xaxis=plain | {"range": [-0.5, width - 0.5]},
        yaxis=plain | {"range": [height - 0.5, -0.5], "scaleanchor": "x"},
    )


def _grey(picture: np.ndarray) -> np.ndarray:
    check_axes("picture", picture, "row column", "row column colour")
    if picture.ndim == 3 and picture.shape[2] != 3:
        raise ValueError(
            f"picture has {picture.shape[2]} colours, but must have 3, red, green and blue; give [row, "
            "column] for grey"
        )
    check_weights("picture", picture)
    return np.asarray((picture if picture.ndim == 2 else picture @ np.array(_LUMINANCE)).clip(0, 1))


def _veil(dark: bool) -> list[list[float | str]]:
    """From nothing to the accent, through which the picture is still seen."""
    accent = theme.palette(dark)["accent"]
    return [[0.0, theme.with_alpha(accent, 0)], [1.0, theme.with_alpha(accent, STRONGEST)]]
