"""Points in a plane: heads by the likeness of their patterns, and one head's queries beside its keys."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from . import labels, theme
from ._checks import check_axes, check_finite, check_labels, check_length
from .labels import escape

Shares = Float[np.ndarray, "2"]

MAX_TEXTS = 64  # more names than these would lie on each other; the pointer still shows all
_SIDE = 560
_ABOVE = {"x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"}  # beside the title
_SYMBOLS = {"query": "circle", "key": "diamond"}


def head_map(
    points: Float[np.ndarray, "point 2"],
    names: Sequence[str],
    *,
    values: Float[np.ndarray, "point"] | None = None,
    measure: str = "value",
    shares: Shares | None = None,
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """Every head a point, as `map_of_heads` places them: heads with like patterns lie together.

    names: one per head, like "L2 H5". values: a number per head that gives it its colour, called `measure`.
    shares: what part of the whole variance each axis shows. Raises ValueError for what does not fit.
    """
    _check_points("points", points)
    check_length("names", names, len(points), needed=True)
    marker: dict[str, Any] = {"size": 13, "line": {"width": 1, "color": theme.palette(dark)["muted"]}}
    hover = "<b>%{hovertext}</b>"
    if values is None:
        marker["color"] = theme.palette(dark)["accent"]
    else:
        check_length("values", list(values), len(points), needed=True)
        check_finite("values", values)
        marker |= _scaled(values, measure, dark)
        hover += f"<br>{escape(measure)} <b>%{{marker.color:.4~g}}</b>"
    fig = go.Figure(_scatter(points, [escape(name) for name in names], marker, hover + "<extra></extra>"))
    return _dressed(fig, shares, dark, title)


def query_key_plane(
    queries: Float[np.ndarray, "query 2"],
    keys: Float[np.ndarray, "key 2"],
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    shares: Shares | None = None,
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """Queries (circles) and keys (diamonds) of one head, as `plane_of_queries_and_keys` places them.

    tokens, key_tokens: a string per query and per key; without key_tokens, both are one text.
    Raises ValueError for what does not fit.
    """
    texts = {"query": tokens, "key": tokens if key_tokens is None else key_tokens}
    fig = go.Figure()
    for role, points in (("query", queries), ("key", keys)):
        _check_points("queries" if role == "query" else "keys", points)
        names = check_labels(role, texts[role], len(points))
        marker = {
            **{"size": 11, "symbol": _SYMBOLS[role]},
            "line": {"width": 1, "color": theme.palette(dark)["muted"]},
            "color": theme.palette(dark)[role],
        }
        hover = f"{role} <b>%{{hovertext}}</b><br>position %{{customdata}}<extra></extra>"
        trace = _scatter(points, names, marker, hover, texts=len(queries) + len(keys) <= MAX_TEXTS)
        fig.add_trace(trace.update(name="queries" if role == "query" else "keys"))
    fig.update_layout(showlegend=True, legend={"orientation": "h", **_ABOVE})
    return _dressed(fig, shares, dark, title)


def _check_points(name: str, points: np.ndarray) -> None:
    check_axes(name, points, "point 2")
    if points.shape[1] != 2:
        raise ValueError(f"{name} has shape {points.shape}, but points of a plane have 2 numbers each")
    check_finite(name, points)


def _scaled(values: np.ndarray, measure: str, dark: bool) -> dict[str, Any]:
    low, high = min(0.0, float(values.min())), float(values.max())
    bar = {"title": {"text": escape(measure)}}
    limits = {"cmin": low, "cmax": high if high > low else low + 1}
    scale = theme.colour_scale("sequential", dark)
    return {"color": values, "colorscale": scale, **limits, "showscale": True, "colorbar": bar}


def _scatter(
    points: np.ndarray, names: list[str], marker: dict[str, Any], hover: str, *, texts: bool = True
) -> go.Scatter:
    has_names = texts and len(points) <= MAX_TEXTS
    return go.Scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="markers+text" if has_names else "markers",
        text=names if has_names else None,
        textposition="top center",
        hovertext=names,
        customdata=np.arange(len(points)),
        hovertemplate=hover,
        marker=marker,
        cliponaxis=False,
    )


def _dressed(fig: go.Figure, shares: np.ndarray | None, dark: bool, title: str | None) -> go.Figure:
    """Axes of one unit, so that distances on the screen are distances in the plane."""
    names = ["axis 1", "axis 2"]
    if shares is not None:
        names = [f"{name}: {share:.0%} of the variance" for name, share in zip(names, shares, strict=True)]
    theme.apply(fig, dark)
    fig.update_xaxes(title=names[0], zeroline=False)
    fig.update_yaxes(title=names[1], zeroline=False, scaleanchor="x", scaleratio=1)
    return fig.update_layout(title=labels.heading(title), width=_SIDE + 120, height=_SIDE)
