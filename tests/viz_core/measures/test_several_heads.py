"""Lengths, rollout, flow and planes, against plain loops and other programs."""

import networkx
import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from sklearn.decomposition import PCA
from sklearn.manifold import ClassicalMDS

from attention_lab.viz_core.measures import (
    attention_flow,
    head_distances,
    map_of_heads,
    plane_of_queries_and_keys,
    rollout,
    value_weighted,
)
from tests.viz_core.measures.patterns import random_pattern


def test_lengths_equal_the_paper_s_norms_spelled_out(rng):
    pattern, v, output = random_pattern(1, 2, 3, 4), rng.normal(size=(2, 4, 5)), rng.normal(size=(2, 5, 6))
    found = value_weighted(pattern, v, output)
    for head in range(2):
        for q in range(3):
            for k in range(4):
                moved = [pattern[head, q, k] * sum(v[head, k, i] * output[head, i, j] for i in range(5))
                         for j in range(6)]  # fmt: skip
                assert found[head, q, k] == pytest.approx(sum(x * x for x in moved) ** 0.5)


def test_what_is_not_finite_is_named():
    v = np.array([[[np.nan]]])
    with pytest.raises(ValueError, match="v holds 1 values that are NaN or infinite"):
        value_weighted(np.ones((1, 1, 1)), v, np.ones((1, 1, 1)))


def test_heads_that_share_values_take_those_of_their_group(rng):
    pattern, v, output = random_pattern(2, 4, 2, 3), rng.normal(size=(2, 3, 5)), rng.normal(size=(4, 5, 6))
    found = value_weighted(pattern, v, output)
    np.testing.assert_allclose(found, value_weighted(pattern, v[[0, 0, 1, 1]], output))
    with pytest.raises(ValueError, match="3 heads cannot share 2 heads of values alike"):
        value_weighted(pattern[:3], v, output[:3])


def test_rollout_equals_the_papers_recursion():
    patterns = random_pattern(5, 3, 2, 6, 6)
    expected = np.eye(6)
    for layer, result in zip(patterns, rollout(patterns), strict=True):
        mixed = 0.5 * (layer[0] + layer[1]) / 2 + 0.5 * np.eye(6)
        expected = (mixed / mixed.sum(-1, keepdims=True)) @ expected
        assert np.allclose(result, expected, atol=1e-12)


def test_rollout_rows_sum_to_1_even_where_everything_is_masked():
    patterns = random_pattern(6, 2, 3, 5, 5, masked_rows=[1])
    result = rollout(patterns)
    assert np.allclose(result.sum(-1), 1)
    assert np.allclose(result[:, 1], np.eye(5)[1])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rollout(np.ones((2, 2, 2))), r"must be \[layer, head, query, key\]; index or reshape"),
        (lambda: rollout(np.ones((1, 1, 2, 3))), "rollout compares positions of one text, but this is cross"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


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


@pytest.mark.usefixtures("unchecked")
def test_too_much_is_refused_and_so_are_positions_that_are_not_there():
    with pytest.raises(ValueError, match=r"100 queries x 100 keys through 2 layers .* 200,000,000 steps"):
        attention_flow(np.tile(np.eye(100), (2, 1, 1, 1)))
    with pytest.raises(ValueError, match=r"query=3 is out of range; choose 0 to 2"):
        attention_flow(np.eye(3)[None, None], [3])
    with pytest.raises(ValueError, match="attention_flow compares positions of one text"):
        attention_flow(np.full((1, 1, 2, 4), 0.25))


def test_distances_are_roots_of_mean_jensen_shannon_divergences():
    patterns = random_pattern(1, 2, 2, 5, 5, causal=True)
    found = head_distances(patterns)
    flat = patterns.reshape(4, 5, 5)
    for a in range(4):
        for b in range(4):
            expected = np.mean([jensenshannon(flat[a, q], flat[b, q], base=2) ** 2 for q in range(5)]) ** 0.5
            assert found[a, b] == pytest.approx(expected, abs=1e-8)


def test_rows_of_padding_do_not_count():
    patterns = np.stack([np.full((2, 2), 0.5), np.eye(2)])
    padded = patterns.copy()
    padded[:, 1] = 0
    assert head_distances(padded)[0, 1] == pytest.approx(head_distances(patterns)[0, 1])
    assert np.isfinite(map_of_heads(np.zeros((3, 2, 2))).points).all()


def test_the_map_is_that_of_scikit_learn():
    patterns = random_pattern(2, 3, 4, 6, 8)
    points, shares = map_of_heads(patterns)
    expected = ClassicalMDS(n_components=2, metric="precomputed").fit_transform(head_distances(patterns))
    np.testing.assert_allclose(np.abs(points), np.abs(expected), atol=1e-8)
    assert (points[np.abs(points).argmax(0), [0, 1]] > 0).all()
    assert 0 < shares[1] <= shares[0] and shares.sum() < 1


def test_one_head_is_a_point_in_the_middle():
    np.testing.assert_array_equal(map_of_heads(np.eye(3)[None]).points, [[0, 0]])


def test_the_plane_is_that_of_the_principal_components(rng):
    q, k = rng.normal(size=(6, 5)), rng.normal(size=(9, 5)) + 2
    queries, keys, shares = plane_of_queries_and_keys(q, k)
    pca = PCA(2).fit(np.concatenate([q, k]))
    np.testing.assert_allclose(np.abs(queries), np.abs(pca.transform(q)))
    np.testing.assert_allclose(np.abs(keys), np.abs(pca.transform(k)))
    np.testing.assert_allclose(shares, pca.explained_variance_ratio_)
    both = np.concatenate([queries, keys])
    assert (both[np.abs(both).argmax(0), [0, 1]] > 0).all()


def test_heads_of_one_channel_and_of_one_place_have_a_plane_too():
    queries, keys, shares = plane_of_queries_and_keys(np.array([[1.0], [2.0]]), np.array([[6.0]]))
    np.testing.assert_allclose(queries, [[-2, 0], [-1, 0]])
    np.testing.assert_allclose(keys, [[3, 0]])
    np.testing.assert_allclose(shares, [1, 0])
    alike = plane_of_queries_and_keys(np.ones((2, 3)), np.ones((2, 3)))
    assert not alike.queries.any() and not alike.shares.any()


def test_what_is_not_finite_is_named_planes():
    with pytest.raises(ValueError, match="k holds 1 values that are NaN or infinite"):
        plane_of_queries_and_keys(np.ones((1, 2)), np.array([[1.0, np.inf]]))
