"""Weights times the length of what they move, against a plain loop."""

import numpy as np
import pytest

from tests.viz_core.measures.patterns import random_pattern
from viz_core.measures import value_weighted


def test_lengths_equal_the_paper_s_norms_spelled_out(rng):
    pattern, v, output = random_pattern(1, 2, 3, 4), rng.normal(size=(2, 4, 5)), rng.normal(size=(2, 5, 6))
    found = value_weighted(pattern, v, output)
    for head in range(2):
        for q in range(3):
            for k in range(4):
                moved = [pattern[head, q, k] * sum(v[head, k, i] * output[head, i, j] for i in range(5))
                         for j in range(6)]  # fmt: skip
                assert found[head, q, k] == pytest.approx(sum(x * x for x in moved) ** 0.5)


def test_a_large_weight_on_a_value_of_zero_moves_nothing():
    v = np.array([[[0.0, 0.0], [3.0, 4.0]]])
    found = value_weighted(np.array([[[0.9, 0.1]]]), v, np.eye(2)[None])
    np.testing.assert_allclose(found, [[[0.0, 0.5]]])


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
