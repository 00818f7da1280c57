"""Attention flow: how much of each input token can get through, if weights are the width of pipes."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from viz_core._checks import check_index
from viz_core.measures.rolling import mixing

# SciPy's maximum flow counts in whole numbers of 32 bits; residual capacities may be twice as large.
RESOLUTION = 2**28
MAX_WORK = 100_000_000  # a few seconds


def attention_flow(
    patterns: Float[np.ndarray, "layer head position position"],
    queries: Sequence[int] | None = None,
    *,
    residual: int | float = 0.5,
) -> Float[np.ndarray, "query position"]:
    """Attention flow (Abnar & Zuidema 2020, Quantifying Attention Flow in Transformers, section 3).

    Entry [i, j] is the maximum flow from position queries[i] after the last layer down to input token j,
    through a graph whose edges are as wide as rollout's layers mix: 0.5 of the heads' mean pattern and 0.5
    of the residual stream. Each entry is a flow of its own, so rows need not sum to 1; none exceeds 1.
    Without `queries`, all positions are asked. Widths are rounded to 2**-28, so that a flow is wrong by at
    most 2**-29 for each edge of its narrowest cut. Raises ValueError where it would take long.
    """
    mixed = mixing(patterns, residual, "attention_flow")
    n_layers, n = mixed.shape[:2]
    asked = range(n) if queries is None else queries
    for query in asked:
        check_index("query", query, n)
    work = len(asked) * n * n_layers * n * n
    if work > MAX_WORK:
        raise ValueError(
            f"{len(asked)} queries x {n} keys through {n_layers} layers of {n} x {n} edges are {work:,} "
            f"steps, more than {MAX_WORK:,}; ask for fewer queries, a shorter text, or rollout"
        )
    from scipy.sparse.csgraph import maximum_flow  # comes with scikit-learn; most never ask for it

    graph = _graph(mixed)
    flows = [[maximum_flow(graph, n_layers * n + q, k).flow_value for k in range(n)] for q in asked]
    return np.array(flows, dtype=np.float64).reshape(len(asked), n) / RESOLUTION


def _graph(mixed: np.ndarray) -> object:
    """Edges from position q after layer l (node l * n + q, where 0 is the input) to those before it."""
    from scipy.sparse import csr_array

    n_layers, n = mixed.shape[:2]
    layer, query, key = np.nonzero(mixed)
    widths = np.rint(mixed[layer, query, key] * RESOLUTION).astype(np.int32)
    nodes = (n_layers + 1) * n
    ends = ((layer + 1) * n + query, layer * n + key)
    return csr_array((widths, ends), shape=(nodes, nodes), dtype=np.int32)
