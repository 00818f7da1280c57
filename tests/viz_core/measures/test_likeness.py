"""Distances between heads against SciPy's, and their map against scikit-learn's scaling."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from sklearn.manifold import ClassicalMDS

from tests.viz_core.measures.patterns import random_pattern
from viz_core.measures import head_distances, map_of_heads


def test_distances_are_roots_of_mean_jensen_shannon_divergences():
    patterns = random_pattern(1, 2, 2, 5, 5, causal=True)
    found = head_distances(patterns)
    flat = patterns.reshape(4, 5, 5)
    for a in range(4):
        for b in range(4):
            expected = np.mean([jensenshannon(flat[a, q], flat[b, q], base=2) ** 2 for q in range(5)]) ** 0.5
            assert found[a, b] == pytest.approx(expected, abs=1e-8)


def test_heads_without_a_key_in_common_are_1_apart_and_equal_ones_0():
    patterns = np.stack([np.eye(4), np.eye(4)[::-1], np.eye(4)])
    np.testing.assert_allclose(head_distances(patterns), [[0, 1, 0], [1, 0, 1], [0, 1, 0]], atol=1e-12)


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


def test_three_heads_lie_on_the_map_as_far_apart_as_they_are():
    patterns = random_pattern(3, 3, 4, 4)
    points, shares = map_of_heads(patterns)
    between = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.testing.assert_allclose(between, head_distances(patterns), atol=1e-7)
    assert shares.sum() == pytest.approx(1)


def test_one_head_is_a_point_in_the_middle():
    np.testing.assert_array_equal(map_of_heads(np.eye(3)[None]).points, [[0, 0]])
