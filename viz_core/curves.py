"""The output: the most probable next tokens at each step."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz_core._checks import check_axes, check_weights
from viz_core.boards import Bars, Board, board_figure
from viz_core.labels import visible

MAX_BARS = 4096


def top_tokens(
    probabilities: Float[np.ndarray, "step candidate"],
    tokens: Sequence[Sequence[str]],
    *,
    steps: Sequence[str] | None = None,
    chosen: Sequence[int | None] | None = None,
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """Bars of the candidates' probabilities, a chart for each step.

    tokens: the candidates of each step, like `probabilities`. steps: a name for each, by default its number.
    chosen: for each step the candidate that was taken, which stands out.
    Raises ValueError for shapes, tokens and numbers that do not fit.
    """
    _check(probabilities, tokens, steps, chosen)
    n_steps = len(probabilities)
    names = steps or [f"step {step}" for step in range(n_steps)]
    look: Any = {"y_label": "probability", "reach": 1, "digits": 3}
    charts = [
        Bars(values=values, labels=[visible(token) for token in row], title=name, lit=lit, **look)
        for values, row, name, lit in zip(
            probabilities, tokens, names, chosen or [None] * n_steps, strict=True
        )
    ]
    return board_figure(Board(rows=[charts], notice=""), dark=dark, title=title)


def _check(
    probabilities: np.ndarray,
    tokens: Sequence[Sequence[str]],
    steps: Sequence[str] | None,
    chosen: Sequence[int | None] | None,
) -> None:
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
    for name, given in (("names in steps", steps), ("entries in chosen", chosen)):
        if given is not None and len(given) != n_steps:
            raise ValueError(f"{len(given)} {name} for {n_steps} steps; pass one for each, or none at all")
    for candidate in chosen or []:
        if candidate is not None and not 0 <= candidate < n_candidates:
            raise ValueError(f"chosen={candidate} is out of range; choose 0 to {n_candidates - 1}")
