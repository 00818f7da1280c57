"""Queries and keys in one plane, against scikit-learn's principal components."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from viz_core.measures import plane_of_queries_and_keys


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


def test_what_is_not_finite_is_named():
    with pytest.raises(ValueError, match="k holds 1 values that are NaN or infinite"):
        plane_of_queries_and_keys(np.ones((1, 2)), np.array([[1.0, np.inf]]))
