"""Attention flow against networkx on the same graph, and against flows known by hand."""

import networkx
import numpy as np
import pytest

from tests.viz_core.measures.patterns import random_pattern
from viz_core.measures import attention_flow, rollout


def by_networkx(patterns):
    """The paper's graph, edge by edge, with real numbers as capacities."""
    n_layers, _, n, _ = patterns.shape
    graph = networkx.DiGraph()
    for layer in range(n_layers):
        for q in range(n):
            for k in range(n):
                width = 0.5 * patterns[layer, :, q, k].mean() + 0.5 * (q == k)
                if width > 0:
                    graph.add_edge((layer + 1, q), (layer, k), capacity=width)
    value = networkx.maximum_flow_value
    return np.array([[value(graph, (n_layers, q), (0, k)) if (0, k) in graph else 0 for k in range(n)]
                     for q in range(n)])  # fmt: skip


@pytest.mark.parametrize("causal", [False, True])
def test_flows_are_those_of_the_papers_graph(causal):
    patterns = random_pattern(1, 3, 2, 5, 5, causal=causal)
    flows = attention_flow(patterns)
    np.testing.assert_allclose(flows, by_networkx(patterns), atol=1e-7)
    np.testing.assert_allclose(attention_flow(patterns, [4, 0]), flows[[4, 0]])


def test_one_layer_flows_as_it_rolls_out():
    patterns = random_pattern(2, 1, 2, 4, 4)
    np.testing.assert_allclose(attention_flow(patterns), rollout(patterns)[0], atol=2**-29)


def test_a_flow_is_as_wide_as_its_narrowest_cut():
    """Two layers that look at the first token alone: half of the residual stream of each comes to it."""
    first = np.zeros((2, 1, 2, 2))
    first[..., 0] = 1
    flows = attention_flow(first)
    np.testing.assert_allclose(flows, [[1, 0], [1, 0.5]])
    np.testing.assert_allclose(rollout(first)[-1], [[1, 0], [0.75, 0.25]])  # products, no cuts


@pytest.mark.usefixtures("unchecked")
def test_too_much_is_refused_and_so_are_positions_that_are_not_there():
    with pytest.raises(ValueError, match=r"100 queries x 100 keys through 2 layers .* 200,000,000 steps"):
        attention_flow(np.tile(np.eye(100), (2, 1, 1, 1)))
    with pytest.raises(ValueError, match=r"query=3 is out of range; choose 0 to 2"):
        attention_flow(np.eye(3)[None, None], [3])
    with pytest.raises(ValueError, match="attention_flow compares positions of one text"):
        attention_flow(np.full((1, 1, 2, 4), 0.25))
