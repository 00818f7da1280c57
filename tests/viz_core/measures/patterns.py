"""Patterns made at random, which several tests compare with the definitions spelled out."""

import numpy as np


def random_pattern(seed, *shape, causal=False, masked_rows=()):
    """Rows that sum to 1, or are all zero for `masked_rows`."""
    weights = np.random.default_rng(seed).random(shape) ** 3
    if causal:
        weights *= np.tri(shape[-2], shape[-1])
    weights /= weights.sum(-1, keepdims=True)
    weights[..., list(masked_rows), :] = 0
    return weights
