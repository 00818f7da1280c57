"""Sums and means over what one chooses, against plain loops."""

import numpy as np
import pytest

from tests.viz_core.measures.patterns import random_pattern
from viz_core.measures import between, over_heads, over_keys, over_queries

PATTERNS = random_pattern(1, 2, 3, 4, 5)


def test_heads_are_summed_and_averaged_cell_by_cell():
    chosen = [(0, 2), (1, 0)]
    expected = PATTERNS[0, 2] + PATTERNS[1, 0]
    np.testing.assert_allclose(over_heads(PATTERNS, chosen, how="sum"), expected)
    np.testing.assert_allclose(over_heads(PATTERNS, chosen), expected / 2)
    np.testing.assert_allclose(over_heads(PATTERNS), PATTERNS.mean((0, 1)))
    np.testing.assert_allclose(over_heads(PATTERNS[0], [(1,)]), PATTERNS[0, 1])


def test_queries_and_keys_are_summed_and_averaged():
    np.testing.assert_allclose(over_queries(PATTERNS, [3, 0]), (PATTERNS[:, :, 3] + PATTERNS[:, :, 0]) / 2)
    np.testing.assert_allclose(over_queries(PATTERNS, [3, 0], how="sum"), PATTERNS[:, :, [0, 3]].sum(2))
    np.testing.assert_allclose(over_keys(PATTERNS, [1, 4]), PATTERNS[..., 1] + PATTERNS[..., 4])
    np.testing.assert_allclose(over_keys(PATTERNS, [1, 4], how="mean"), PATTERNS[..., [1, 4]].mean(-1))
    expected = sum(PATTERNS[1, 2, q, k] for q in (0, 2) for k in (1, 4)) / 2
    assert between(PATTERNS, [0, 2], [1, 4])[1, 2] == pytest.approx(expected)


def test_rows_of_padding_do_not_count_in_means():
    padded = random_pattern(2, 2, 3, 3)
    padded[0, 1] = 0
    np.testing.assert_allclose(over_queries(padded, [0, 1])[0], padded[0, 0])
    np.testing.assert_allclose(over_heads(padded)[1], padded[1, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: over_heads(PATTERNS, [(2, 0)]), r"head \(2, 0\) is none of 2 x 3; give an index for each"),
        (lambda: over_heads(PATTERNS, [(1,)]), r"head \(1,\) is none of 2 x 3"),
        (lambda: over_heads(PATTERNS, []), "no head is chosen; choose at least one"),
        (lambda: over_queries(PATTERNS, [4]), "query=4 is out of range; choose 0 to 3"),
        (lambda: over_keys(PATTERNS, [1, 1]), r"key positions \[1, 1\] are none, or one twice"),
        (lambda: between(PATTERNS, [], [1]), r"query positions \[\] are none"),
    ],
)
def test_bad_choices_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.usefixtures("unchecked")
def test_there_are_means_and_sums_only():
    with pytest.raises(ValueError, match='how="max" is unknown; choose "mean" or "sum"'):
        over_heads(PATTERNS, how="max")
