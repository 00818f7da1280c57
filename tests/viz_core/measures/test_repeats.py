"""Measures on random tokens that come again, against their definitions spelled out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz_core.measures.patterns import random_pattern
from viz_core.measures import MEASURES, head_scores

NAMES = {measure.name for measure in MEASURES if measure.needs == "repeat"}


@given(st.integers(0, 3), st.integers(1, 6), st.integers(0, 2), st.booleans(), st.integers(0, 2**32 - 1))
def test_scores_equal_the_definitions_spelled_out(start, n, after, causal, seed):
    length = start + 2 * n + after
    pattern = random_pattern(seed, 2, 3, length, length, causal=causal)
    scores = head_scores(pattern, repeat=(start, n))
    assert scores.keys() - head_scores(pattern).keys() == NAMES
    half = [f"t{at}" for at in range(n)]
    text = ["<s>"] * start + half + half + ["</s>"] * after
    sums = dict.fromkeys(NAMES, 0.0)
    for query in range(start + n, start + 2 * n):
        first = text.index(text[query])
        sums["random_induction"] += pattern[1, 2, query, first + 1]
        sums["random_duplicate"] += pattern[1, 2, query, first]
        sums["random_previous"] += pattern[1, 2, query, query - 1]
    for name, total in sums.items():
        assert scores[name][1, 2] == pytest.approx(total / n, abs=1e-12)


def test_a_head_that_looks_after_the_first_occurrence_has_all_of_it():
    pattern = np.eye(7)
    pattern[[4, 5, 6]] = np.eye(7)[[2, 3, 4]]  # three tokens after a special one, read twice
    scores = head_scores(pattern, repeat=(1, 3))
    assert [scores[name] for name in ("random_induction", "random_duplicate", "random_previous")] == [1, 0, 0]


@pytest.mark.parametrize("repeat", [(0, 4), (1, 3), (-1, 2), (0, 0)])
def test_a_repetition_that_does_not_fit_is_refused(repeat):
    with pytest.raises(
        ValueError, match=f"{repeat[1]} tokens twice from position {repeat[0]} on do not fit 6"
    ):
        head_scores(random_pattern(0, 6, 6), repeat=repeat)


def test_a_repetition_is_of_one_text():
    with pytest.raises(ValueError, match="tokens repeat within one text, but this is cross-attention"):
        head_scores(random_pattern(0, 6, 6), cross=True, repeat=(0, 3))
