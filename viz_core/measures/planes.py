"""Queries and keys of one head in one plane."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from viz_core._checks import check_finite
from viz_core.measures.likeness import plane_of


class QueriesAndKeys(NamedTuple):
    """Where they lie in the plane, and what share of the whole variance each of its axes shows."""

    queries: Float[np.ndarray, "query 2"]
    keys: Float[np.ndarray, "key 2"]
    shares: Float[np.ndarray, "2"]


def plane_of_queries_and_keys(
    q: Float[np.ndarray, "query d_head"], k: Float[np.ndarray, "key d_head"]
) -> QueriesAndKeys:
    """The two principal components of a head's queries and keys together (Pearson 1901), both centred alike.

    One rotation for both keeps what scores depend on: a query's direction among the keys' directions.
    The farthest point of each axis lies on its positive side. Raises ValueError for NaN and infinities.
    """
    check_finite("q", q)
    check_finite("k", k)
    both = np.concatenate([q, k]).astype(np.float64)
    centred = both - both.mean(0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    points, shares = plane_of((left * singular)[:, :2], singular**2)
    return QueriesAndKeys(points[: len(q)], points[len(q) :], shares)
