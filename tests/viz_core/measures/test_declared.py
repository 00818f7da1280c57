import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz_core.measures.patterns import random_pattern
from viz_core import measures
from viz_core.measures import HEAD_NAMES, MEASURES, head_scores, induction_score, name_head


def slow_scores(pattern):
    """The definitions, spelled out for one self-attention head [query, key] of more than one token."""
    n = len(pattern)
    rows = [q for q in range(n) if pattern[q].sum() > 0]

    def mean(values):
        return sum(values) / len(values) if values else 0.0

    return {
        "entropy": mean([-sum(w * math.log(w) for w in pattern[q] if w > 0) for q in rows]),
        "confidence": mean([max(pattern[q]) for q in rows]),
        "mean_distance": mean([sum(pattern[q, k] * abs(q - k) for k in range(n)) for q in rows]),
        "previous": mean([pattern[q, q - 1] for q in rows if q > 0]),
        "first": mean([pattern[q, 0] for q in rows if q > 0]),
        "same": mean([pattern[q, q] for q in rows if q > 0]),
        "next": mean([pattern[q, q + 1] for q in rows if q < n - 1]),
    }


@given(st.integers(2, 12), st.booleans(), st.sets(st.integers(0, 1)), st.integers(0, 2**32 - 1))
def test_scores_equal_the_definitions_spelled_out(n, causal, masked_rows, seed):
    pattern = random_pattern(seed, 2, 3, n, n, causal=causal, masked_rows=masked_rows)
    scores = head_scores(pattern)
    expected = slow_scores(pattern[1, 2])
    assert scores.keys() == expected.keys()
    for key, value in expected.items():
        assert scores[key].shape == (2, 3)
        assert scores[key][1, 2] == pytest.approx(value, abs=1e-12)


def test_entropy_alone_is_that_of_the_scores():
    pattern = random_pattern(1, 4, 9, 9)
    assert np.array_equal(head_scores(pattern)["entropy"], measures.entropy(pattern))


@pytest.mark.parametrize("n", [2, 7, 100])
def test_uniform_attention_has_the_logarithm_of_the_length_as_entropy(n):
    scores = head_scores(np.full((n, n), 1 / n))
    assert scores["entropy"] == pytest.approx(math.log(n))
    assert scores["mean_distance"] == pytest.approx((n * n - 1) / (3 * n))  # mean |i - j| of two even draws


@pytest.mark.parametrize(
    ("shift", "name"), [(-1, "previous-token 1.00"), (0, "same-token 1.00"), (1, "next-token 1.00")]
)
def test_a_shifted_diagonal_is_the_head_of_that_name(shift, name):
    pattern = np.eye(6, k=shift)
    scores = head_scores(pattern)
    assert scores["entropy"] == 0
    assert name_head(scores) == name


def test_attention_to_the_first_token_is_named_so():
    pattern = np.zeros((5, 5))
    pattern[:, 0] = 1
    assert name_head(head_scores(pattern)) == "first-token 1.00"


def test_a_causal_previous_token_head_keeps_its_full_share():
    pattern = np.eye(5, k=-1)
    pattern[0, 0] = 1  # all that a causal mask leaves the first query
    scores = head_scores(pattern)
    assert (scores["previous"], scores["same"]) == (1, 0)


def test_cross_attention_has_entropy_confidence_and_first_only():
    pattern = random_pattern(2, 3, 4, 6)
    scores = head_scores(pattern)
    assert scores.keys() == {"entropy", "confidence", "first"}
    assert np.allclose(scores["first"], pattern[..., 0].mean(-1))
    square = random_pattern(2, 3, 5, 5)
    assert head_scores(square, cross=True).keys() == {"entropy", "confidence", "first"}
    assert np.allclose(head_scores(square, cross=True)["first"], square[..., 0].mean(-1))


def test_one_token_has_no_shares():
    assert head_scores(np.ones((2, 1, 1))).keys() == {"entropy", "confidence", "mean_distance"}


def test_masked_rows_have_entropy_0_and_do_not_count():
    pattern = np.full((4, 4), 0.25)
    pattern[2] = 0
    assert measures.entropy(pattern) == pytest.approx(math.log(4))
    assert head_scores(pattern)["same"] == 0.25
    nothing = head_scores(np.zeros((3, 3)))
    assert all(value == 0 for value in nothing.values())


def test_reading_backwards_swaps_previous_and_next():
    pattern = random_pattern(3, 8, 8)
    forwards, backwards = head_scores(pattern), head_scores(pattern[::-1, ::-1])
    assert forwards["previous"] == pytest.approx(backwards["next"])
    assert forwards["entropy"] == pytest.approx(backwards["entropy"])
    assert forwards["mean_distance"] == pytest.approx(backwards["mean_distance"])


def test_single_precision_agrees_with_double():
    pattern = random_pattern(4, 2, 128, 128)
    double, single = head_scores(pattern), head_scores(pattern.astype(np.float32))
    for key, value in double.items():
        assert np.allclose(single[key], value, rtol=1e-5)
        assert single[key].dtype == np.float64


def test_a_head_without_a_large_share_has_no_name():
    assert name_head({"previous": 0.49, "first": 0.2, "entropy": 3.0}) is None
    assert name_head({"previous": 0.49, "first": 0.2}, least=0.4) == "previous-token 0.49"
    assert name_head({"previous": 0.5, "first": 0.97}) == "first-token 0.97"
    assert name_head({"entropy": 1.0}) is None


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: measures.entropy(np.ones(3)), r"shape \(3,\), but must end in \[query, key\]"),
        (lambda: head_scores(np.ones((2, 0, 0))), r"shape \(2, 0, 0\)"),
        (lambda: measures.entropy(np.array([[np.nan, 1.0]])), "NaN or infinite; all must be finite"),
        (lambda: measures.entropy(np.array([[-np.inf, 1.0]])), "NaN or infinite; all must be finite"),
        (lambda: head_scores(np.array([[2.5, -1.5], [0, 1]])), "from -1.5 to 2.5, .* not the scores"),
        (lambda: head_scores(np.full((2, 2), 0.3)), "a row that sums to 0.6, .* without dropout"),
        (
            lambda: induction_score(np.full((2, 4), 0.25), "abab"),
            "induction_score compares positions of one text, .* from 2 queries to 4 keys; use entropy",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_every_measure_is_declared_with_its_definition():
    """All of them at once, of a text that is repeated, has punctuation and pairs of its own."""
    tokens = ["the", ",", "the", ",", "cat"]
    pattern, pairs = random_pattern(8, 2, 5, 5), [(3, 0)]
    scores = head_scores(pattern, tokens=tokens, pairs=pairs, sure=pairs, repeat=(0, 2))
    assert list(scores) == [measure.name for measure in MEASURES]
    for measure in MEASURES:
        assert measure.definition.endswith(".") and len(measure.definition.split()) > 6
        assert measure.formula.startswith(("mean over q", "1 − (|A ∩ S|")) and measure.source
    smallest_first = [measure.name for measure in MEASURES if measure.smallest_first]
    assert smallest_first == ["entropy", "alignment_error"]


def test_a_measure_is_there_for_what_it_says_it_needs():
    """Neither tokens nor pairs, in self- and in cross-attention."""
    for cross, shape in ((False, (5, 5)), (True, (4, 5))):
        alone = {m.name for m in MEASURES if m.needs is None and (m.cross or not cross)}
        assert head_scores(random_pattern(9, *shape)).keys() == alone
        given = {m.name for m in MEASURES if m.cross or not cross}
        repeat = None if cross else (0, 2)
        everything = head_scores(
            random_pattern(9, *shape), tokens=list("a.a.b"), pairs=[(1, 2)], sure=[(1, 2)], repeat=repeat
        )
        assert everything.keys() == given


def test_heads_are_named_by_shares_alone():
    assert set(HEAD_NAMES) == {
        "previous", "first", "same", "next", "duplicate", "induction", "punctuation"
    }  # fmt: skip
    assert name_head({"induction": 0.8, "previous": 0.6}) == "induction 0.80"
