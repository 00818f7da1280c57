"""Measures that ask for the pattern alone."""

import numpy as np

from viz_core.measures.given import Given, Patterns, PerHead, checked, mean_over


def entropy(pattern: Patterns) -> PerHead:
    """Mean entropy of a head's rows in nats (Clark et al. 2019, What Does BERT Look At?, section 3.3)."""
    weights, attending = checked(pattern)
    return mean_over(row_entropy(weights), attending)


def row_entropy(weights: np.ndarray) -> np.ndarray:
    """Shannon entropy of each row in nats: 0 for one key (or none), ln(n) for n keys looked at alike."""
    # The smallest normal number stands in for 0, so that 0 * log(0) is 0.
    logs = np.maximum(weights, np.finfo(weights.dtype).tiny)
    np.log(logs, out=logs)
    return np.maximum(-np.einsum("...qk,...qk->...q", weights, logs).astype(np.float64), 0.0)


def mean_entropy(of: Given) -> np.ndarray:
    return of.mean(row_entropy(of.weights))


def confidence(of: Given) -> np.ndarray:
    return of.mean(of.weights.max(-1))


def mean_distance(of: Given) -> np.ndarray | None:
    if of.cross:
        return None
    positions = np.arange(of.n_keys)
    distance = np.abs(positions[:, None] - positions[None, :]).astype(of.weights.dtype)  # [query, key]
    return of.mean(np.einsum("...qk,qk->...q", of.weights, distance))


def on_first(of: Given) -> np.ndarray | None:
    if of.cross:
        return of.mean(of.weights[..., 0])
    if of.n_keys == 1:
        return None
    return mean_over(of.weights[..., 1:, 0], of.attending[..., 1:])


def on_previous(of: Given) -> np.ndarray | None:
    return _on_offset(of, -1)


def on_next(of: Given) -> np.ndarray | None:
    return _on_offset(of, 1)


def on_same(of: Given) -> np.ndarray | None:
    if of.cross or of.n_keys == 1:
        return None
    diagonal = np.diagonal(of.weights, axis1=-2, axis2=-1)
    return mean_over(diagonal[..., 1:], of.attending[..., 1:])


def _on_offset(of: Given, offset: int) -> np.ndarray | None:
    """Mean weight on the token `offset` after the query; queries without such a token are left out."""
    if of.cross or of.n_keys == 1:
        return None
    rows = slice(max(0, -offset), of.n_keys - max(0, offset))
    return mean_over(np.diagonal(of.weights, offset, axis1=-2, axis2=-1), of.attending[..., rows])
