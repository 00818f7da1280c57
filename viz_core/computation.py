"""How a number came about: one attention weight and what it brings, computed before your eyes from the
trace's own numbers; and the likeliest outputs at each step.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz_core._checks import check_axes, check_finite, check_index, check_labels, check_weights
from viz_core.boards import Bars, Board, Matrix, Role, board_figure
from viz_core.labels import tick, tick_labels, visible

NORMALIZERS = {
    "softmax": "softmax over the row",
    "softmax-plus-one": "softmax over the row and one more score of 0",
    "sigmoid": "sigmoid of it less ln of how many keys the row has open",
}
"""What makes a weight of a score, in words."""


def computation_figure(
    q: Float[np.ndarray, " channel"],
    k: Float[np.ndarray, " channel"],
    scores_row: Float[np.ndarray, " key"],
    pattern_row: Float[np.ndarray, " key"],
    values: Float[np.ndarray, "key value_channel"],
    z: Float[np.ndarray, " value_channel"],
    *,
    scale: int | float,
    bias: int | float | None = None,
    cap: int | float | None = None,
    normalizer: str = "softmax",
    key_index: int,
    query_token: str,
    key_tokens: Sequence[str],
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """How one query comes to its weight on one key, and how its row of weights makes z.

    Above, in words: the sum of the products, the scale, the score, the weight. Then q, k and their products,
    channel by channel; the query's row of scores and their softmax; each key's value times its weight, and
    the sum of these, z.
    scores_row: -inf where masked. scale: the factor of the dot product, such as 1/sqrt(d_head).
    bias: added to the scaled dot product, such as a relative position's; with None the figure shows a bias
    only where the score differs from the scaled dot product. cap: scores are cap * tanh(scaled / cap), as in
    Gemma 2 (Gemma Team 2024, section 2). normalizer: what makes weights of scores, one of `NORMALIZERS`.
    Raises ValueError for shapes, tokens and numbers that do not fit.
    """
    _check(q, k, scores_row, pattern_row, values, z, key_index, key_tokens)
    keys = tick_labels(key_tokens, escaped=False)
    of_key: Any = {"labels": keys, "colour": "key", "lit": key_index}
    score, weight = float(scores_row[key_index]), float(pattern_row[key_index])
    made = f"their {normalizer.replace('-', ' ')}: weights"
    board = Board(
        rows=[
            [_strip(f"query “{visible(query_token)}”", q, "query")],
            [_strip(f"key “{keys[key_index]}”", k, "key")],
            [_strip("query × key", q * k, None)],
            [
                Bars(values=scores_row, title="scores", y_label="score", **of_key),
                Bars(values=pattern_row, title=made, reach=1, **of_key),
            ],
            [_sum(pattern_row[:, None] * values, z, keys, key_index)],
        ],
        notice=_sentence(float(q @ k), scale, bias, cap, score, weight, NORMALIZERS[normalizer]),
    )
    return board_figure(board, dark=dark, title=title)


def _strip(name: str, numbers: np.ndarray, role: Role | None) -> Matrix:
    """A vector, coloured by its own largest number."""
    return Matrix(title=name, values=numbers[None], role=role, column_axis="channel")


def _sum(weighted: np.ndarray, z: np.ndarray, keys: list[str], chosen: int) -> Matrix:
    """Values times their weights [key, channel] and below them their sum; the row of the key stands out."""
    rows = np.vstack([weighted, z])
    return Matrix(
        title="weight × value; the rows add up to z", values=rows, role="value", rows=[*keys, "z"],
        row_axis="key", column_axis="channel",
        marked=np.broadcast_to(np.arange(len(rows))[:, None] == chosen, rows.shape),
    )  # fmt: skip


def _check(
    q: np.ndarray,
    k: np.ndarray,
    scores_row: np.ndarray,
    pattern_row: np.ndarray,
    values: np.ndarray,
    z: np.ndarray,
    key_index: int,
    key_tokens: Sequence[str],
) -> None:
    vectors = {"q": q, "k": k, "scores_row": scores_row, "pattern_row": pattern_row, "z": z}
    for name, vector in vectors.items():
        check_axes(name, vector, "key" if name.endswith("row") else "channel")
    check_axes("values", values, "key channel")
    for name, one, other, length in (
        ("k", k, "q", len(q)),
        ("pattern_row", pattern_row, "scores_row", len(scores_row)),
        ("values", values, "scores_row", len(scores_row)),
        ("z", z, "values' channels", values.shape[1]),
    ):
        if len(one) != length:
            raise ValueError(f"{name} has length {len(one)}, {other} {length}; take both from the same head")
    for name, vector in {"q": q, "k": k, "values": values, "z": z}.items():
        check_finite(name, vector)
    check_finite("scores_row (but for -inf, masked)", scores_row[~np.isneginf(scores_row)])
    check_weights("pattern_row", pattern_row)
    check_index("key_index", key_index, len(scores_row))
    check_labels("key", key_tokens, len(scores_row))


def _sentence(
    dot: float,
    scale: int | float,
    bias: int | float | None,
    cap: int | float | None,
    score: float,
    weight: float,
    made: str,
) -> str:
    """In one line: the sum of the products, scaled, capped, biased, masked, and the weight `made` of it."""
    scaled, masked = dot * scale, np.isneginf(score)
    steps = f"sum of the products **{tick(dot)}** × scale {tick(scale)} = {tick(scaled)}"
    if cap is not None:
        scaled = float(cap * np.tanh(scaled / cap))
        steps += f" → {tick(cap)} tanh(… / {tick(cap)}) = {tick(scaled)}"
    if bias is None and not masked and not np.isclose(score, scaled, rtol=1e-3, atol=1e-4):
        bias = score - scaled
    if bias is not None:
        steps += f" + bias {tick(bias)} = {tick(scaled + bias)}"
    steps += " → masked: score **−∞**" if masked else " = score"
    return f"{steps} → {made} → weight **{tick(weight)}**"


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
    _check_curves(probabilities, tokens, steps, chosen)
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


def _check_curves(
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
