"""Measures on random tokens that are read twice in a row, where nothing else can be known of them.

Each head is asked from the second half: there, a token's first occurrence is `n` positions before.
"""

import numpy as np

from viz_core.measures.given import Given, mean_over


def on_token_after(of: Given) -> np.ndarray | None:
    return None if of.repeat is None else _back(of, of.repeat[1] - 1)


def on_first_occurrence(of: Given) -> np.ndarray | None:
    return None if of.repeat is None else _back(of, of.repeat[1])


def on_previous(of: Given) -> np.ndarray | None:
    return None if of.repeat is None else _back(of, 1)


def _back(of: Given, distance: int) -> np.ndarray:
    """Mean weight of the second half's queries on the key so many positions before each."""
    assert of.repeat is not None
    start, n = of.repeat
    queries = np.arange(start + n, start + 2 * n)
    return mean_over(of.weights[..., queries, queries - distance], of.attending[..., queries])
