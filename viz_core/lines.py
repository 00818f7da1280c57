"""Attention as lines between two columns of tokens: queries on the left, keys on the right."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from . import theme
from ._checks import check_axes, check_index, check_labels, check_weights
from .labels import SPACING, font_size, heading, label_room

MAX_LINES = 20_000
# Lines from one of these weights up to the next share one trace, drawn for the weight in the middle.
LEVELS = (0.0, 0.05, 0.1, 0.2, 0.35, 0.55, 0.8)
_LIGHTEST = 0.02
_WIDEST = 6.0
_TOP = 3  # how many keys (or queries) the pointer names on a token


def attention_lines(
    pattern: Float[np.ndarray, "head query key"],
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    heads: Sequence[int] | None = None,
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """One line per head, query and key: heavier ones are wider and more opaque; each head has a colour.

    heads: which to draw, all by default. Weights below 0.02 are left out.
    A figure holds the 20,000 heaviest lines, and says so under the title if there were more.
    Raises ValueError for shapes, tokens and numbers that do not fit.
    """
    check_axes("pattern", pattern, "head query key")
    check_weights("pattern", pattern)
    _, n_query, n_key = pattern.shape
    queries = check_labels("query", tokens, n_query)
    keys = check_labels("key", tokens if key_tokens is None else key_tokens, n_key)
    heads_here = _chosen(heads, len(pattern))
    chosen = pattern[heads_here]  # [drawn head, query, key]
    is_heavy, left_out = _heaviest(chosen)
    rows = max(n_query, n_key)
    # Pixels from one token to the next: 1,400 for all, if they can be.
    room = max(4.0, min(30.0, 1400 / rows))
    y_query, y_key = _positions(n_query, rows), _positions(n_key, rows)
    # Offsets in rows, one per head, so that lines of several heads to one token do not cover each other.
    n_heads = len(heads_here)
    apart = min(0.12, 0.6 / max(1, n_heads)) * (np.arange(n_heads) - (n_heads - 1) / 2)
    fig = go.Figure()
    for head in heads_here:  # in the legend
        name, line = f"head {head}", {"color": theme.head_colour(head, dark), "width": 4}
        fig.add_trace(go.Scatter(x=[None], y=[None], mode="lines", name=name, legendgroup=name, line=line))
    levels = np.searchsorted(LEVELS, chosen, side="right")  # [drawn head, query, key]
    for level, (low, high) in enumerate(pairwise((*LEVELS, 1.0)), start=1):  # heavy lines lie on light ones
        for i, head in enumerate(heads_here):
            query, key = np.nonzero(is_heavy[i] & (levels[i] == level))
            if query.size:
                ends = y_query[query] + apart[i], y_key[key] + apart[i]
                fig.add_trace(_lines(head, *ends, (low + high) / 2, room, dark))
    fig.add_trace(_column("query", 0, y_query, queries, _top_partners(chosen, heads_here, keys), room, dark))
    fig.add_trace(_column("key", 1, y_key, keys, _top_partners(chosen.mT, heads_here, queries), room, dark))
    note = f"the {MAX_LINES:,} heaviest lines; {left_out:,} lighter ones are left out" if left_out else None
    return theme.apply(fig, dark).update_layout(_layout(queries, keys, room, dark, title, note))


def _chosen(heads: Sequence[int] | None, n_heads: int) -> list[int]:
    numbers = list(range(n_heads)) if heads is None else list(dict.fromkeys(heads))
    for head in numbers:
        check_index("head", head, n_heads)
    return numbers


def _heaviest(weights: np.ndarray) -> tuple[np.ndarray, int]:
    """Which weights get a line, MAX_LINES at most, and how many above the threshold get none."""
    is_heavy = weights >= _LIGHTEST
    left_out = int(np.count_nonzero(is_heavy)) - MAX_LINES
    if left_out <= 0:
        return is_heavy, 0
    is_heavy[:] = False
    is_heavy.ravel()[np.argpartition(weights.ravel(), -MAX_LINES)[-MAX_LINES:]] = True
    return is_heavy, left_out


def _positions(length: int, rows: int) -> np.ndarray:
    """Heights of a column's tokens: the shorter column is centred beside the longer."""
    return np.arange(length) + (rows - length) / 2


def _lines(
    head: int, y_from: np.ndarray, y_to: np.ndarray, weight: float, room: float, dark: bool
) -> go.Scatter:
    """Lines of about one weight as a single path that NaN interrupts."""
    y = np.stack([y_from, y_to, np.full(len(y_from), np.nan)], axis=1).ravel()
    return go.Scatter(
        x=np.tile(np.array([0, 1, np.nan], np.float32), len(y_from)),
        y=y.astype(np.float32),
        mode="lines",
        legendgroup=f"head {head}",
        showlegend=False,
        hoverinfo="skip",
        line={
            "color": theme.with_alpha(theme.head_colour(head, dark), round(0.08 + 0.87 * weight, 3)),
            "width": 0.6 + min(_WIDEST, room / 2) * weight,
        },
    )


def _top_partners(weights: np.ndarray, heads: list[int], partners: list[str]) -> list[str]:
    """For each row of [head, row, partner], the heaviest weights in words."""
    n_heads, n_rows, n_partners = weights.shape
    if not heads:
        return [""] * n_rows
    by_row = weights.transpose(1, 0, 2).reshape(n_rows, n_heads * n_partners)  # [row, (head, partner)]
    most = min(_TOP, by_row.shape[1])
    top = np.argpartition(by_row, -most, axis=-1)[:, -most:]  # [row, partner], not yet in order
    descending = np.argsort(-np.take_along_axis(by_row, top, axis=-1), axis=-1)
    order = np.take_along_axis(top, descending, axis=-1)
    return [
        "".join(
            f"<br>{partners[at % n_partners]} <b>{row[at]:.3f}</b> (head {heads[at // n_partners]})"
            for at in best
            if row[at] > 0
        )
        for row, best in zip(by_row, order, strict=True)
    ]


def _column(
    role: str, x: int, y: np.ndarray, labels: list[str], details: list[str], room: float, dark: bool
) -> go.Scatter:
    step = max(1, -int(-SPACING // room))
    return go.Scatter(
        x=np.full(len(labels), x),
        y=y,
        mode="markers+text",
        text=[label if i % step == 0 else "" for i, label in enumerate(labels)],
        textposition="middle left" if role == "query" else "middle right",
        textfont={"size": font_size(room * step)},
        marker={"size": min(7, max(2, room / 3)), "color": theme.palette(dark)[role]},
        customdata=[[label, detail] for label, detail in zip(labels, details, strict=True)],
        hovertemplate=f"{role} <b>%{{customdata[0]}}</b>%{{customdata[1]}}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )


def _layout(
    queries: list[str], keys: list[str], room: float, dark: bool, title: str | None, note: str | None
) -> dict[str, Any]:
    size = font_size(max(room, SPACING))
    left, right = label_room(queries, size) + 36, label_room(keys, size) + 130
    rows, top = max(len(queries), len(keys)), 110 if title or note else 60
    height = max(rows * room, 160)
    p = theme.palette(dark)
    hidden = {"visible": False, "fixedrange": True}
    columns = {"xref": "x", "yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False, "yshift": 10}
    return {
        "title": {**heading(title), "subtitle": {"text": note}},
        "width": 420 + left + right,
        "height": height + top + 24,
        "margin": {"l": left, "r": right, "t": top, "b": 24},
        "xaxis": {**hidden, "range": [0, 1]},
        "yaxis": {**hidden, "range": [rows - 0.5, -0.5]},
        "showlegend": True,
        "legend": {"x": 1, "xref": "container", "xanchor": "right", "y": 1, "yanchor": "top"},
        "annotations": [
            {
                **columns,
                "x": 0,
                "xanchor": "right",
                "text": "query",
                "font": {"size": 16, "color": p["query"]},
            },
            {**columns, "x": 1, "xanchor": "left", "text": "key", "font": {"size": 16, "color": p["key"]}},
        ],
    }
