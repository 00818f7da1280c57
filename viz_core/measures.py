"""Numbers that say what a head does, from its pattern alone.

Every measure takes patterns [..., query, key] and gives one float64 a head [...]: the mean over the
queries that count. A query that may attend to nothing (a row of zeros) never counts. Distances and shares
compare positions of one text, so they exist for self-attention only; the share on the first key for both.

All raise ValueError for values outside 0..1, for NaN, and for rows that sum to neither 1 nor 0.
"""

from collections.abc import Mapping, Sequence
from typing import SupportsFloat

import numpy as np
from jaxtyping import Float

from viz_core._checks import check_axes, check_rows

Patterns = Float[np.ndarray, "*heads query key"]
PerHead = Float[np.ndarray, "*heads"]

# Key in `head_scores` -> what the field calls such a head.
HEAD_NAMES = {
    "previous": "previous-token",
    "first": "first-token",
    "same": "same-token",
    "next": "next-token",
}


def entropy(pattern: Patterns) -> PerHead:
    """Mean entropy of a head's rows in nats (Clark et al. 2019, What Does BERT Look At?, section 3.3)."""
    weights, attending = _checked(pattern)
    return _mean_over_rows(_row_entropy(weights), attending)


def head_scores(pattern: Patterns, *, cross: bool | None = None) -> dict[str, PerHead]:
    """All measures that are defined for the pattern, one value per head.

    Keys: `entropy`; `first` for cross-attention and for texts of more than one token; for self-attention
    `mean_distance` and, with more than one token, `previous`, `same`, `next`. What is not defined is absent.
    `cross` says whether keys are another text than queries; by default they are if their numbers differ.
    """
    if _is_cross(pattern, cross):
        weights, attending = _checked(pattern)
        first = _share_on_first(weights, attending, True)
        return {"entropy": _mean_over_rows(_row_entropy(weights), attending), "first": first}
    weights, attending = _checked(pattern)
    scores = {"entropy": _mean_over_rows(_row_entropy(weights), attending)}
    scores["mean_distance"] = _mean_distance(weights, attending)
    if weights.shape[-1] > 1:
        scores["previous"] = _share_on_offset(weights, attending, -1)
        scores["first"] = _share_on_first(weights, attending, False)
        scores["same"] = _share_on_same(weights, attending)
        scores["next"] = _share_on_offset(weights, attending, 1)
    return scores


def name_head(scores: Mapping[str, SupportsFloat], *, least: int | float = 0.5) -> str | None:
    """Names one head by its largest share, like `previous-token 0.97`; None if no share reaches `least`."""
    shares = {key: float(scores[key]) for key in HEAD_NAMES if key in scores}
    best = max(shares, key=shares.__getitem__, default=None)
    if best is None or shares[best] < least:
        return None
    return f"{HEAD_NAMES[best]} {shares[best]:.2f}"


def rollout(
    patterns: Float[np.ndarray, "layer head position position"], *, residual: int | float = 0.5
) -> Float[np.ndarray, "layer position position"]:
    """Attention rollout (Abnar & Zuidema 2020, Quantifying Attention Flow in Transformers, section 3).

    Entry [l, i, j] is the share of input token j in position i after layer l, if every layer mixes positions
    by its heads' mean pattern and the residual stream carries `residual` of each position past it.
    Rows sum to 1. Raises ValueError if `residual` is outside 0..1.
    """
    check_axes("patterns", patterns, "layer head query key")
    if not 0 <= residual <= 1:
        raise ValueError(f"residual={residual} is outside 0..1; the paper uses 0.5")
    weights = _checked_self(patterns, "rollout")[0].mean(axis=1, dtype=np.float64)  # [layer, query, key]
    identity = np.eye(weights.shape[-1])
    # A query that attends to nothing keeps what the residual stream carries: all of it.
    carried = 1 - (1 - residual) * weights.sum(-1, keepdims=True)
    mixed = (1 - residual) * weights + carried * identity  # [layer, query, key]
    layers = [mixed[0]]
    for layer in mixed[1:]:
        layers.append(layer @ layers[-1])
    return np.stack(layers)


def induction_score(pattern: Patterns, tokens: Sequence[object]) -> PerHead:
    """Mean weight on what followed earlier occurrences of the query's token: high in induction heads.

    After A B ... A, such a head looks at B (Olsson et al. 2022, In-context Learning and Induction Heads).
    tokens: one per position. Mean over the queries whose token occurred before, of the weight on all the
    positions right after its earlier occurrences. Raises ValueError where no token occurs twice.
    """
    weights, attending = _checked_self(pattern, "induction_score")
    n = weights.shape[-1]
    if len(tokens) != n:
        raise ValueError(f"{len(tokens)} tokens for {n} positions; pass one token per position")
    same = np.array([[tokens[q] == tokens[k] for k in range(n)] for q in range(n)])  # [query, key]
    earlier = same & np.tri(n, k=-1, dtype=bool)
    counted = earlier.any(axis=-1)
    if not counted.any():
        raise ValueError("no token occurs twice, so there is nothing to induce; repeat a part of the text")
    after = np.zeros((n, n), dtype=weights.dtype)
    after[:, 1:] = earlier[:, :-1]  # the position right after an earlier occurrence
    return _mean_over_rows(np.einsum("...qk,qk->...q", weights, after), attending & counted)


def _checked(pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights [..., query, key], in float32 or better, and which queries attend to anything [..., query]."""
    if pattern.ndim < 2 or 0 in pattern.shape:
        raise ValueError(
            f"pattern has shape {pattern.shape}, but must end in [query, key] and hold something; "
            "index or reshape it first"
        )
    weights = pattern.astype(np.result_type(pattern, np.float32), copy=False)
    return weights, check_rows("pattern", weights) > 0.5


def _checked_self(pattern: np.ndarray, measure: str) -> tuple[np.ndarray, np.ndarray]:
    if _is_cross(pattern, None):
        n_query, n_key = pattern.shape[-2:]
        raise ValueError(
            f"{measure} compares positions of one text, but this is cross-attention from {n_query} queries "
            f"to {n_key} keys; use entropy"
        )
    return _checked(pattern)


def _is_cross(pattern: np.ndarray, cross: bool | None) -> bool:
    if cross is None and pattern.ndim >= 2:
        return pattern.shape[-2] != pattern.shape[-1]
    return bool(cross)


def _row_entropy(weights: np.ndarray) -> np.ndarray:
    """Shannon entropy of each row in nats: 0 for one key (or none), ln(n) for n keys looked at alike."""
    # The smallest normal number stands in for 0, so that 0 * log(0) is 0.
    logs = np.log(np.maximum(weights, np.finfo(weights.dtype).tiny))
    return np.maximum(-np.einsum("...qk,...qk->...q", weights, logs).astype(np.float64), 0.0)


def _mean_distance(weights: np.ndarray, attending: np.ndarray) -> np.ndarray:
    """Mean |query - key| in positions, weighted by attention (Vig & Belinkov 2019, section 5.2).

    Theirs are causal patterns, where the distance is query - key; here it is absolute, for both directions.
    """
    positions = np.arange(weights.shape[-1])
    distance = np.abs(positions[:, None] - positions[None, :]).astype(weights.dtype)  # [query, key]
    return _mean_over_rows(np.einsum("...qk,qk->...q", weights, distance), attending)


def _share_on_offset(weights: np.ndarray, attending: np.ndarray, offset: int) -> np.ndarray:
    """Mean weight on the token `offset` after the query (Clark et al. 2019, section 3.1).

    Queries without such a token are left out; if that leaves none, the share is 0.
    """
    rows = slice(max(0, -offset), weights.shape[-2] - max(0, offset))
    return _mean_over_rows(np.diagonal(weights, offset, axis1=-2, axis2=-1), attending[..., rows])


def _share_on_same(weights: np.ndarray, attending: np.ndarray) -> np.ndarray:
    """Mean weight of a query on its own position; the first one has no other choice under a causal mask."""
    return _share_on_offset(weights[..., 1:, 1:], attending[..., 1:], 0)


def _share_on_first(weights: np.ndarray, attending: np.ndarray, cross: bool) -> np.ndarray:
    """Mean weight on the first key: [CLS] in Clark et al. 2019 (section 3.2), the sink of causal models.

    In self-attention the first query is left out, since the first token is its own.
    """
    start = 0 if cross else 1
    return _mean_over_rows(weights[..., start:, 0], attending[..., start:])


def _mean_over_rows(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    total = (values * counted).sum(-1, dtype=np.float64)
    return np.asarray(total / np.maximum(counted.sum(-1), 1))
