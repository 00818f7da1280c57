"""Measures several heads: lengths of what is moved, rollout and flow, points of a plane."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .._checks import check_axes, check_finite, check_index
from .one_head import Patterns, checked_patterns, is_cross, row_entropy

# What a head moves, not only where it looks: weights times the length of the value they move.


def value_weighted(
    pattern: Float[np.ndarray, "head query key"],
    v: Float[np.ndarray, "key_head key d_head"],
    output: Float[np.ndarray, "head d_head d_model"],
) -> Float[np.ndarray, "head query key"]:
    """‖a(query, key) · v(key) W_O‖ (Kobayashi et al. 2020, Attention is Not Only a Weight, section 3).

    What each head takes from each key, as the length of the vector that it adds to the residual stream: a
    large weight on a value near 0 moves nothing. v: values with their bias; where heads share them (grouped
    queries), each is for as many neighbouring heads. output: each head's rows of the output projection; of a
    torch layer, `out_proj.weight.T.reshape(n_heads, d_head, d_model)`. Lengths have no upper bound, and a
    query's do not sum to 1. Raises ValueError for NaN, infinities and heads that cannot be shared out.
    """
    for name, array in (("pattern", pattern), ("v", v), ("output", output)):
        check_finite(name, array)
    if len(pattern) % len(v):
        raise ValueError(
            f"{len(pattern)} heads cannot share {len(v)} heads of values alike; pass as many, or a divisor"
        )
    v = v.repeat(len(pattern) // len(v), axis=0)
    lengths = np.linalg.norm(v @ output, axis=-1)  # [head, key]
    return np.asarray(np.abs(pattern) * lengths[:, None, :])


# Attention rollout: what of each input token arrives where, if attention were all that mixes positions.


def rollout(
    patterns: Float[np.ndarray, "layer head position position"],
) -> Float[np.ndarray, "layer position position"]:
    """Attention rollout (Abnar & Zuidema 2020, Quantifying Attention Flow in Transformers, section 3).

    Entry [l, i, j] is the share of input token j in position i after layer l, if every layer mixes positions
    by its heads' mean pattern and the residual stream carries half of each position past it. Rows sum to 1.
    """
    mixed = mixing(patterns, "rollout")
    layers = [mixed[0]]
    for layer in mixed[1:]:
        layers.append(layer @ layers[-1])
    return np.stack(layers)


def mixing(patterns: np.ndarray, name: str) -> np.ndarray:
    """How each layer mixes positions, [layer, query, key]: 0.5 W + 0.5 I of the paper. Rows sum to 1."""
    check_axes("patterns", patterns, "layer head query key")
    if is_cross(patterns, None):
        n_query, n_key = patterns.shape[-2:]
        raise ValueError(
            f"{name} compares positions of one text, but this is cross-attention from {n_query} queries "
            f"to {n_key} keys; use entropy"
        )
    weights = checked_patterns(patterns)[0].mean(axis=1, dtype=np.float64)  # [layer, query, key]
    # A query that attends to nothing keeps what the residual stream carries: all of it.
    carried = 1 - 0.5 * weights.sum(-1, keepdims=True)
    return np.asarray(0.5 * weights + carried * np.eye(weights.shape[-1]))


# Attention flow: how much of each input token can get through, if weights are the width of pipes.

# SciPy's maximum flow counts in whole numbers of 32 bits; residual capacities may be twice as large.
RESOLUTION = 2**28
MAX_WORK = 100_000_000  # a few seconds


def attention_flow(
    patterns: Float[np.ndarray, "layer head position position"], queries: Sequence[int] | None = None
) -> Float[np.ndarray, "query position"]:
    """Attention flow (Abnar & Zuidema 2020, Quantifying Attention Flow in Transformers, section 3).

    Entry [i, j] is the maximum flow from position queries[i] after the last layer down to input token j,
    through a graph whose edges are as wide as rollout's layers mix: 0.5 of the heads' mean pattern and 0.5
    of the residual stream. Each entry is a flow of its own, so rows need not sum to 1; none exceeds 1.
    Without `queries`, all positions are asked. Widths are rounded to 2**-28, so that a flow is wrong by at
    most 2**-29 for each edge of its narrowest cut. Raises ValueError where it would take long.
    """
    mixed = mixing(patterns, "attention_flow")
    n_layers, n = mixed.shape[:2]
    positions = range(n) if queries is None else queries
    for query in positions:
        check_index("query", query, n)
    work = len(positions) * n * n_layers * n * n
    if work > MAX_WORK:
        raise ValueError(
            f"{len(positions)} queries x {n} keys through {n_layers} layers of {n} x {n} edges are {work:,} "
            f"steps, more than {MAX_WORK:,}; ask for fewer queries, a shorter text, or rollout"
        )
    from scipy.sparse.csgraph import maximum_flow  # comes with scikit-learn; most never ask for it

    graph = _graph(mixed)
    flows = [[maximum_flow(graph, n_layers * n + q, k).flow_value for k in range(n)] for q in positions]
    return np.array(flows, dtype=np.float64).reshape(len(positions), n) / RESOLUTION


def _graph(mixed: np.ndarray) -> object:
    """Edges from position q after layer l (node l * n + q, where 0 is the input) to those before it."""
    from scipy.sparse import csr_array

    n_layers, n = mixed.shape[:2]
    layer, query, key = np.nonzero(mixed)
    widths = np.rint(mixed[layer, query, key] * RESOLUTION).astype(np.int32)
    nodes = (n_layers + 1) * n
    ends = ((layer + 1) * n + query, layer * n + key)
    return csr_array((widths, ends), shape=(nodes, nodes), dtype=np.int32)


# Heads beside heads: how alike their patterns are, and a map on which like heads lie together.


class Plane(NamedTuple):
    """Points in two dimensions, and what share of the whole variance each axis shows."""

    points: Float[np.ndarray, "point 2"]
    shares: Float[np.ndarray, "2"]


def head_distances(patterns: Patterns) -> Float[np.ndarray, "head head"]:
    """Jensen-Shannon distances of all heads, 0 (the same pattern) to 1 (no key in common).

    The root of the mean over queries of the Jensen-Shannon divergence in bits (Clark et al. 2019, What Does
    BERT Look At?, section 6, without the root, which makes it a distance in the sense of geometry). Leading
    axes, as [layer, head], count as heads in their order. A query that either head leaves without any key
    does not count. It takes time for heads² x queries x keys: a second for 144 heads of 64 tokens.
    """
    weights, attending = checked_patterns(patterns.reshape(-1, *patterns.shape[-2:]))  # [head, query, key]
    entropies = row_entropy(weights)  # [head, query]
    distances = np.zeros((len(weights), len(weights)))
    for head in range(len(weights) - 1):
        others = slice(head + 1, None)
        between = row_entropy((weights[head] + weights[others]) / 2)  # [other, query]
        divergence = np.maximum(between - (entropies[head] + entropies[others]) / 2, 0) / np.log(2)
        counted = attending[head] & attending[others]
        mean = (divergence * counted).sum(-1) / np.maximum(counted.sum(-1), 1)
        distances[head, others] = distances[others, head] = np.sqrt(mean)
    return distances


def map_of_heads(patterns: Patterns) -> Plane:
    """Each head as a point, so that distances between points are near those of `head_distances`.

    Classical multidimensional scaling (Torgerson 1952): principal coordinates of the doubly centred squared
    distances. Leading axes count as heads in their order, and equal patterns give equal maps.
    """
    squared = head_distances(patterns) ** 2
    centred = squared - squared.mean(0) - squared.mean(1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    values = np.maximum(values[::-1], 0)  # largest first; negative ones are rounding
    points = vectors[:, ::-1][:, :2] * np.sqrt(values[:2])
    return plane_of(points, values)


def plane_of(points: np.ndarray, variances: np.ndarray) -> Plane:
    """The first two coordinates, signs such that the farthest point of each axis is positive."""
    places = np.zeros((len(points), 2))
    places[:, : points.shape[1]] = points[:, :2]
    farthest = places[np.abs(places).argmax(0), np.arange(2)]
    total = max(float(variances.sum()), np.finfo(np.float64).tiny)
    shares = np.zeros(2)
    shares[: len(variances[:2])] = variances[:2] / total
    return Plane(np.where(farthest < 0, -places, places), shares)


# Queries and keys of one head in one plane.


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
