"""Thumbnails of attention patterns: all heads fit into one message, and no large weight is lost."""

import numpy as np
from jaxtyping import Float, UInt8

from viz_core._checks import check_weights


def max_pool(pattern: Float[np.ndarray, "*heads query key"], size: int) -> Float[np.ndarray, "*heads q k"]:
    """The largest weight in each of at most `size` x `size` bins, in the input's own precision.

    Bin i of n positions holds positions `i * n // size` up to `(i + 1) * n // size`: bins do not overlap,
    cover everything and differ by at most one in width. Axes of at most `size` positions stay as they are.
    Raises ValueError for fewer than two axes, an empty one, or a size below 1.
    """
    if pattern.ndim < 2 or 0 in pattern.shape:
        raise ValueError(
            f"pattern has shape {pattern.shape}, but must end in [query, key] and hold something; "
            "index or reshape it first"
        )
    if size < 1:
        raise ValueError(f"size={size} is too small; a thumbnail needs at least 1 cell a side")
    # Queries first: rows are contiguous, so the one pass over all the numbers runs at memory speed.
    return _pool_keys(_pool_queries(pattern, size), size)


def bin_edges(length: int, size: int) -> np.ndarray:
    """First position of each bin and, last, the end: `min(size, length) + 1` integers."""
    bins = min(size, length)
    return np.arange(bins + 1) * length // bins


def _pool_queries(pattern: np.ndarray, size: int) -> np.ndarray:
    edges = bin_edges(pattern.shape[-2], size)
    starts, last = edges[:-1], edges[1:] - 1
    pooled = pattern[..., starts, :]  # [..., bin, key]
    for offset in range(1, int(np.diff(edges).max())):
        np.maximum(pooled, pattern[..., np.minimum(starts + offset, last), :], out=pooled)
    return pooled


def _pool_keys(pattern: np.ndarray, size: int) -> np.ndarray:
    edges = bin_edges(pattern.shape[-1], size)
    return np.maximum.reduceat(pattern, edges[:-1], axis=-1)


def thumbnails(
    pattern: Float[np.ndarray, "*heads query key"], size: int = 64
) -> UInt8[np.ndarray, "*heads q k"]:
    """`max_pool`ed weights as bytes, 0..255 for 0..1, rounded to the nearest.

    Raises ValueError for NaN and for weights outside 0..1 (by the largest of each bin, the only ones seen).
    """
    pooled = max_pool(pattern, size)
    check_weights("pattern", pooled)
    return np.rint(np.clip(pooled, 0, 1) * 255).astype(np.uint8)
