"""Rollout against the paper's recursion."""

import numpy as np
import pytest

from tests.viz_core.measures.patterns import random_pattern
from viz_core.measures import rollout


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
    assert np.allclose(rollout(patterns, residual=1.0), np.eye(5))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rollout(np.ones((2, 2, 2))), r"must be \[layer, head, query, key\]; index or reshape"),
        (lambda: rollout(np.ones((1, 1, 2, 3))), "rollout compares positions of one text, but this is cross"),
        (
            lambda: rollout(np.ones((1, 1, 1, 1)), residual=2),
            "residual=2 is outside 0..1; the paper uses 0.5",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
