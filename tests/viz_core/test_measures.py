import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz_core import measures
from viz_core.measures import head_scores, induction_score, name_head, rollout


def random_pattern(seed, *shape, causal=False, masked_rows=()):
    """Rows that sum to 1, or are all zero for `masked_rows`."""
    weights = np.random.default_rng(seed).random(shape) ** 3
    if causal:
        weights *= np.tri(shape[-2], shape[-1])
    weights /= weights.sum(-1, keepdims=True)
    weights[..., list(masked_rows), :] = 0
    return weights


def slow_scores(pattern):
    """The definitions, spelled out for one self-attention head [query, key] of more than one token."""
    n = len(pattern)
    rows = [q for q in range(n) if pattern[q].sum() > 0]

    def mean(values):
        return sum(values) / len(values) if values else 0.0

    return {
        "entropy": mean([-sum(w * math.log(w) for w in pattern[q] if w > 0) for q in rows]),
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


def test_cross_attention_has_entropy_and_first_only():
    pattern = random_pattern(2, 3, 4, 6)
    scores = head_scores(pattern)
    assert scores.keys() == {"entropy", "first"}
    assert np.allclose(scores["first"], pattern[..., 0].mean(-1))
    square = random_pattern(2, 3, 5, 5)
    assert head_scores(square, cross=True).keys() == {"entropy", "first"}
    assert np.allclose(head_scores(square, cross=True)["first"], square[..., 0].mean(-1))


def test_one_token_has_no_shares():
    assert head_scores(np.ones((2, 1, 1))).keys() == {"entropy", "mean_distance"}


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
        (lambda: rollout(np.ones((2, 2, 2))), r"must be \[layer, head, query, key\]; index or reshape"),
        (
            lambda: rollout(np.ones((1, 1, 1, 1)), residual=2),
            "residual=2 is outside 0..1; the paper uses 0.5",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def slow_induction(pattern, tokens):
    """The definition, spelled out for one head [query, key]."""
    found = []
    for q in range(len(tokens)):
        earlier = [p for p in range(q) if tokens[p] == tokens[q]]
        if earlier and pattern[q].sum() > 0:
            found.append(sum(pattern[q, p + 1] for p in earlier))
    return sum(found) / len(found)


@given(st.lists(st.sampled_from("abcd"), min_size=5, max_size=12), st.booleans(), st.integers(0, 2**32 - 1))
def test_the_induction_score_equals_its_definition(tokens, causal, seed):
    pattern = random_pattern(seed, 2, 3, len(tokens), len(tokens), causal=causal)
    score = induction_score(pattern, tokens)
    assert score.shape == (2, 3)
    assert score[1, 2] == pytest.approx(slow_induction(pattern[1, 2], tokens), abs=1e-12)


def test_a_perfect_induction_head_scores_one_and_a_previous_token_head_none():
    tokens = [7, 1, 4, 9, 7, 1, 4, 9]
    perfect = np.eye(8)[[0, 0, 0, 0, 1, 2, 3, 4]]  # query 4 (a 7) looks at 1, which followed the first 7
    previous = np.eye(8)[[0, 0, 1, 2, 3, 4, 5, 6]]
    np.testing.assert_allclose(induction_score(np.stack([perfect, previous]), tokens), [1.0, 0.0])


def test_an_induction_score_needs_a_repetition_and_a_token_per_position():
    with pytest.raises(ValueError, match="no token occurs twice, so there is nothing to induce"):
        induction_score(np.eye(3)[None], "abc")
    with pytest.raises(ValueError, match="2 tokens for 3 positions; pass one token per position"):
        induction_score(np.eye(3)[None], "aa")
