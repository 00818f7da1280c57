"""Attention as a picture: one head with its tokens."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz_core import _axes, theme
from viz_core._checks import check_axes, check_finite, check_labels, check_weights

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
_NUMBER = ":.4~g"


def attention_heatmap(
    matrix: Matrix,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    quantity: Quantity = "pattern",
    scale: Scale = "0..1",
    hover: Mapping[str, Matrix] | None = None,
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """One head: queries are rows, keys are columns.

    matrix: weights in 0..1 for `quantity="pattern"`, also for "share" (`rollout`) and "flow"
    (`attention_flow`); lengths from 0 for "length" (`value_weighted`); else any numbers, -inf where masked:
    scores, dot products, the "change" of weights.
    tokens, key_tokens: a string per query and per key; without key_tokens, both are one text.
    scale, for patterns: fixed to "0..1", each "row" by its largest weight, or "log" from 0.0001 to 1.
    hover: more matrices whose numbers the pointer shows, by name; -inf in one of them marks a masked cell.
    Raises ValueError for shapes, tokens and numbers that do not fit.
    """
    _check(matrix, quantity, scale, hover or {})
    queries = check_labels("query", tokens, matrix.shape[0])
    keys = check_labels("key", tokens if key_tokens is None else key_tokens, matrix.shape[1])
    numbers = {_WORDS[quantity]: matrix, **(hover or {})}
    masked = np.asarray(np.isneginf(list(numbers.values())).any(axis=0))  # [query, key]
    look = _look(matrix, quantity, scale)
    z = np.where(masked, np.nan, look.pop("z")).astype(np.float32)
    if masked.any():
        look["colorbar"]["title"]["text"] += " (grey: masked)"
    fig = go.Figure(
        go.Heatmap(
            x=keys,
            y=queries,
            z=z,
            customdata=np.stack(list(numbers.values()), axis=-1).astype(np.float32),
            hovertemplate=_hover(numbers),
            hoverongaps=False,
            colorscale=theme.colour_scale("diverging" if quantity in _SIGNED else "sequential", dark),
            **look,
        )
    )
    if masked.any():
        fig.add_trace(_masked_cells(masked, queries, keys, theme.palette(dark)["grid"]))
    return theme.apply(fig, dark).update_layout(_layout(queries, keys, dark, title))


def _check(matrix: np.ndarray, quantity: str, scale: str, hover: Mapping[str, np.ndarray]) -> None:
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
    for name, numbers in hover.items():
        if numbers.shape != matrix.shape:
            raise ValueError(
                f'hover["{name}"] has shape {numbers.shape}; it must be {matrix.shape} like matrix'
            )


def _look(matrix: np.ndarray, quantity: str, scale: str) -> dict[str, Any]:
    if quantity in _BARS:
        return _pattern_look(matrix, scale, quantity)
    if quantity == "length":
        bar = {"title": {"text": "length of what is moved"}}
        return {"z": matrix, "zmin": 0, "zmax": float(matrix.max()) or 1.0, "colorbar": bar}
    return _signed_look(matrix, quantity)


def _pattern_look(weights: np.ndarray, scale: str, quantity: str) -> dict[str, Any]:
    named, word = _BARS[quantity], _WORDS[quantity]
    if scale == "row":
        largest = weights.max(-1, keepdims=True)
        z = np.divide(weights, largest, out=np.zeros(weights.shape), where=largest > 0)
        return {"z": z, "zmin": 0, "zmax": 1, "colorbar": {"title": {"text": f"{word} / largest of its row"}}}
    if scale == "log":
        ticks = list(range(int(np.log10(LOG_FLOOR)), 1))
        bar = {
            "title": {"text": f"{named}, logarithmic"},
            "tickvals": ticks,
            "ticktext": [f"≤ {LOG_FLOOR:g}", *(f"{10.0**tick:g}" for tick in ticks[1:])],
        }
        return {"z": np.log10(np.maximum(weights, LOG_FLOOR)), "zmin": ticks[0], "zmax": 0, "colorbar": bar}
    return {"z": weights, "zmin": 0, "zmax": 1, "colorbar": {"title": {"text": named}}}


def _signed_look(numbers: np.ndarray, quantity: str) -> dict[str, Any]:
    finite = numbers[np.isfinite(numbers)]
    reach = float(np.abs(finite).max()) if finite.size else 0.0
    return {
        "z": numbers,
        "zmin": -(reach or 1.0),
        "zmax": reach or 1.0,
        "colorbar": {"title": {"text": _WORDS[quantity]}},
    }


def _hover(names: Mapping[str, object]) -> str:
    lines = [f"{name} <b>%{{customdata[{i}]{_NUMBER}}}</b>" for i, name in enumerate(names)]
    return "<br>".join(["query <b>%{y}</b>", "key <b>%{x}</b>", *lines]) + "<extra></extra>"


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
    row_step, column_step = _axes.every(len(queries), height), _axes.every(len(keys), width)
    row_size = _axes.font_size(row_step * height / len(queries))
    column_size = _axes.font_size(column_step * width / len(keys))
    rows, columns = queries[::row_step], keys[::column_step]
    slanted = len(columns) <= 24
    below = _axes.label_room(columns, column_size) * (0.72 if slanted else 1) + _axes.TITLE_ROOM
    left = _axes.label_room(rows, row_size) + _axes.TITLE_ROOM
    top, right = 64 if title else 24, 120
    return {
        "title": _axes.heading(title),
        "width": width + left + right,
        "height": height + top + below,
        "margin": {"l": left, "r": right, "t": top, "b": below},
        "xaxis": {
            **_axes.token_axis("key", keys, columns, columns, size=column_size, dark=dark),
            "tickangle": -45 if slanted else -90,
        },
        "yaxis": {
            **_axes.token_axis("query", queries, rows, rows, size=row_size, dark=dark),
            "autorange": "reversed",
        },
    }
