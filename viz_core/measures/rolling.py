"""Attention rollout: what of each input token arrives where, if attention were all that mixes positions."""

import numpy as np
from jaxtyping import Float

from viz_core._checks import check_axes
from viz_core.measures.given import checked, refuse_cross


def rollout(
    patterns: Float[np.ndarray, "layer head position position"], *, residual: int | float = 0.5
) -> Float[np.ndarray, "layer position position"]:
    """Attention rollout (Abnar & Zuidema 2020, Quantifying Attention Flow in Transformers, section 3).

    Entry [l, i, j] is the share of input token j in position i after layer l, if every layer mixes positions
    by its heads' mean pattern and the residual stream carries `residual` of each position past it.
    Rows sum to 1. Raises ValueError if `residual` is outside 0..1.
    """
    mixed = mixing(patterns, residual, "rollout")
    layers = [mixed[0]]
    for layer in mixed[1:]:
        layers.append(layer @ layers[-1])
    return np.stack(layers)


def mixing(patterns: np.ndarray, residual: int | float, name: str) -> np.ndarray:
    """How each layer mixes positions, [layer, query, key]: 0.5 W + 0.5 I of the paper. Rows sum to 1."""
    check_axes("patterns", patterns, "layer head query key")
    if not 0 <= residual <= 1:
        raise ValueError(f"residual={residual} is outside 0..1; the paper uses 0.5")
    refuse_cross(patterns, name)
    weights = checked(patterns)[0].mean(axis=1, dtype=np.float64)  # [layer, query, key]
    # A query that attends to nothing keeps what the residual stream carries: all of it.
    carried = 1 - (1 - residual) * weights.sum(-1, keepdims=True)
    return np.asarray((1 - residual) * weights + carried * np.eye(weights.shape[-1]))
