"""What comes out: the most probable next tokens at each step."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz_core import _axes, theme
from viz_core._checks import check_axes, check_weights
from viz_core.labels import escape, visible

MAX_BARS = 4096
_BAR = 24  # pixels
_GAP = 1.6  # bars between two steps: room for the step's name


def top_tokens(
    probabilities: Float[np.ndarray, "step candidate"],
    tokens: Sequence[Sequence[str]],
    *,
    steps: Sequence[str] | None = None,
    chosen: Sequence[int | None] | None = None,
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """Horizontal bars of the candidates' probabilities, step below step.

    tokens: the candidates of each step, like `probabilities`. steps: a name for each, by default its number.
    chosen: for each step the candidate that was taken, which is drawn in the accent colour.
    Raises ValueError for shapes, tokens and numbers that do not fit.
    """
    names = _check(probabilities, tokens, steps, chosen)
    n_steps, n_candidates = probabilities.shape
    first_bars = np.arange(n_steps) * (n_candidates + _GAP)
    y = np.add.outer(first_bars, np.arange(n_candidates) + _GAP)  # [step, candidate]
    labels = [[escape(visible(token)) for token in row] for row in tokens]
    p = theme.palette(dark)
    fig = go.Figure(_bars(probabilities, y, names, labels, _colours(probabilities.shape, chosen, p)))
    flat = [label for row in labels for label in row]
    left, top = max(_axes.label_room(flat, 14), 60) + 40, 64 if title else 16
    rows = n_steps * (n_candidates + _GAP)
    return theme.apply(fig, dark).update_layout(
        title=_axes.heading(title),
        width=640 + left,
        height=rows * _BAR + top + 64,
        margin={"l": left, "r": 80, "t": top, "b": 64},
        xaxis={"title": {"text": "probability"}, "range": [0, 1], "zeroline": False},
        yaxis={
            "tickvals": y.ravel(),
            "ticktext": flat,
            "range": [rows, 0],
            "showgrid": False,
            "zeroline": False,
            "ticklabelstandoff": 6,
        },
        annotations=[_step_name(name, row[0], p["muted"]) for name, row in zip(names, y, strict=True)],
    )


def _colours(
    shape: tuple[int, ...], chosen: Sequence[int | None] | None, palette: Mapping[str, str]
) -> np.ndarray:
    """The colour of each bar, [step, candidate]: the accent where the candidate was taken."""
    colours = np.full(shape, theme.with_alpha(palette["muted"], 0.55), dtype=object)
    for step, candidate in enumerate(chosen or []):
        if candidate is not None:
            colours[step, candidate] = palette["accent"]
    return colours


def _bars(
    probabilities: np.ndarray, y: np.ndarray, names: list[str], labels: list[list[str]], colours: np.ndarray
) -> go.Bar:
    return go.Bar(
        x=probabilities.ravel(),
        y=y.ravel(),
        orientation="h",
        marker={"color": colours.ravel().tolist()},
        width=0.8,
        text=[f"{value:.3f}" if value >= 0.0005 else f"{value:.1e}" for value in probabilities.ravel()],
        textposition="outside",
        cliponaxis=False,
        customdata=[[name, label] for name, row in zip(names, labels, strict=True) for label in row],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]} <b>%{x:.4~g}</b><extra></extra>",
    )


def _step_name(name: str, y: float, colour: str) -> dict[str, Any]:
    """A step's name, above its first bar at `y`."""
    return {
        "text": f"<b>{name}</b>",
        "x": 0,
        "y": y - 0.5,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"color": colour},
    }


def _check(
    probabilities: np.ndarray,
    tokens: Sequence[Sequence[str]],
    steps: Sequence[str] | None,
    chosen: Sequence[int | None] | None,
) -> list[str]:
    check_axes("probabilities", probabilities, "step candidate")
    check_weights("probabilities", probabilities)
    n_steps, n_candidates = probabilities.shape
    if probabilities.size > MAX_BARS:
        raise ValueError(
            f"{probabilities.size} bars are more than the {MAX_BARS} a figure holds; show fewer steps"
        )
    wrong = next((len(row) for row in tokens if len(row) != n_candidates), None)
    if len(tokens) != n_steps or wrong is not None:
        found = f"{len(tokens)} steps" if wrong is None else f"a step of {wrong}"
        raise ValueError(
            f"tokens have {found}, probabilities are {n_steps} x {n_candidates}; pass one token for each"
        )
    if steps is not None and len(steps) != n_steps:
        raise ValueError(f"{len(steps)} names in steps for {n_steps} steps; pass one for each")
    if chosen is not None and len(chosen) != n_steps:
        raise ValueError(
            f"{len(chosen)} entries in chosen for {n_steps} steps; pass one for each, or None for none"
        )
    for candidate in chosen or []:
        if candidate is not None and not 0 <= candidate < n_candidates:
            raise ValueError(f"chosen={candidate} is out of range; choose 0 to {n_candidates - 1}")
    return (
        [f"step {step}" for step in range(n_steps)] if steps is None else [escape(visible(s)) for s in steps]
    )
