"""Measures of tokens and pairs against their definitions, spelled out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_lab.viz_core import measures
from attention_lab.viz_core.measures import MEASURES, head_scores, name_head
from attention_lab.viz_core.measures.one_head import is_punctuation
from tests.viz_core.measures.patterns import random_pattern


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


@pytest.mark.parametrize(
    ("shift", "name"), [(-1, "previous-token 1.00"), (0, "same-token 1.00"), (1, "next-token 1.00")]
)
def test_a_shifted_diagonal_is_the_head_of_that_name(shift, name):
    pattern = np.eye(6, k=shift)
    scores = head_scores(pattern)
    assert scores["entropy"] == 0
    assert name_head(scores) == name


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
        assert measure.definition.endswith(".") and len(measure.definition.split()) > 5
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
    score = head_scores(pattern, tokens=tokens)["induction"]
    assert score.shape == (2, 3)
    assert score[1, 2] == pytest.approx(slow_induction(pattern[1, 2], tokens), abs=1e-12)


def slow_texts(pattern, tokens, pairs):
    """The other definitions, spelled out for one head [query, key]; None where they are not defined."""
    n_queries, n_keys = pattern.shape
    rows = [q for q in range(n_queries) if pattern[q].sum() > 0]
    counts = [tokens.count(token) for token in tokens]

    def mean(values):
        return sum(values) / len(values) if values else 0.0

    def on(keys):
        return mean([sum(pattern[q, k] for k in keys) for q in rows]) if 0 < len(keys) < n_keys else None

    repeated = [q for q in range(n_keys) if tokens[q] in tokens[:q]]
    alike = [
        sum(pattern[q, k] for k in range(n_keys) if k != q and tokens[k] == tokens[q])
        for q in repeated
        if q in rows
    ]
    paired = sorted({q for q, _ in pairs if q in rows})
    own = {q: {k for other, k in pairs if other == q} for q in paired}
    return {
        "duplicate": mean(alike) if repeated else None,
        "punctuation": mean([sum(pattern[q, k] for k in range(n_keys) if tokens[k] == ".") for q in rows])
        if "." in tokens
        else None,
        "rare": on([k for k in range(n_keys) if counts[k] == min(counts)]),
        "agreement": mean([sum(pattern[q, k] for k in own[q]) for q in paired]),
        "hits": mean([float(int(np.argmax(pattern[q])) in own[q]) for q in paired]),
    }


@given(
    st.lists(st.sampled_from("ab."), min_size=4, max_size=9),
    st.booleans(),
    st.sets(st.integers(0, 2)),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=5),
    st.integers(0, 2**32 - 1),
)
def test_token_measures_equal_their_definitions(tokens, causal, masked_rows, pairs, seed):
    n = len(tokens)
    pattern = random_pattern(seed, 2, 3, n, n, causal=causal, masked_rows=masked_rows)
    scores = head_scores(pattern, tokens=tokens, pairs=pairs)
    for name, value in slow_texts(pattern[1, 2], tokens, pairs).items():
        if value is None:
            assert name not in scores
        else:
            assert scores[name].shape == (2, 3)
            assert scores[name][1, 2] == pytest.approx(value, abs=1e-12)


def test_cross_attention_is_measured_by_the_tokens_of_its_keys():
    pattern = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    scores = head_scores(pattern, tokens=["le", "chat", "."], pairs=[(0, 2), (1, 1)])
    assert scores["punctuation"] == pytest.approx((0.7 + 0.25) / 2)
    assert scores["agreement"] == pytest.approx((0.7 + 0.25) / 2)
    assert scores["hits"] == 0.5
    assert not {"duplicate", "induction"} & scores.keys()


def test_rarity_is_that_of_a_corpus_where_one_is_given():
    pattern = np.tile([0.5, 0.3, 0.2], (3, 1))
    counts = {"the": 1000, "cat": 12}
    assert head_scores(pattern, tokens=["the", "cat", "the"], counts=counts)["rare"] == pytest.approx(0.3)
    unseen = head_scores(pattern, tokens=["the", "cat", "ocelot"], counts=counts)
    assert unseen["rare"] == pytest.approx(0.2)  # a token that the corpus lacks is the rarest


@pytest.mark.parametrize("token", [",", ".", "Ġ.", "▁,", "##.", "...", " ;", "«", "¿"])
def test_punctuation(token):
    assert is_punctuation(token)


@pytest.mark.parametrize("token", ["a.", "Ġ", "▁", "", "[SEP]", "##s", "7", "Ġthe"])
def test_no_punctuation(token):
    assert not is_punctuation(token)


def test_tokens_and_pairs_must_fit():
    with pytest.raises(ValueError, match="2 tokens for 3 positions; pass one token per position"):
        head_scores(np.eye(3), tokens=["a", "b"])
    with pytest.raises(ValueError, match=r"pair \(3, 0\) lies outside 3 queries x 3 keys; count both from 0"):
        head_scores(np.eye(3), pairs=[(3, 0)])
    with pytest.raises(ValueError, match=r"pair \(-1, 0\) lies outside"):
        head_scores(np.eye(3), pairs=[(-1, 0)])


@given(st.integers(1, 8), st.integers(1, 8), st.booleans(), st.integers(0, 2**32 - 1), st.data())
def test_the_alignment_error_rate_equals_its_definition(n_query, n_key, masked, seed, data):
    cells = st.tuples(st.integers(0, n_query - 1), st.integers(0, n_key - 1))
    sure = data.draw(st.sets(cells, min_size=1, max_size=8))
    possible = sure | data.draw(st.sets(cells, max_size=8))
    pattern = random_pattern(seed, 2, 3, n_query, n_key, masked_rows=[0] if masked else [])
    scores = head_scores(pattern, cross=True, pairs=sorted(possible), sure=sorted(sure))
    head = pattern[1, 2]
    asked = {query for query, _ in possible if head[query].sum() > 0}
    found = {(query, max(range(n_key), key=lambda key: head[query, key])) for query in asked}
    error = 1 - (len(found & sure) + len(found & possible)) / (len(found) + len(sure))
    assert scores["alignment_error"][1, 2] == pytest.approx(error, abs=1e-12)


def test_a_head_that_finds_all_sure_links_and_no_other_has_no_alignment_error():
    pattern = np.eye(3)[None]
    sure = [(0, 0), (1, 1)]
    assert head_scores(pattern, cross=True, pairs=[*sure, (2, 2)], sure=sure)["alignment_error"] == [0]
    assert head_scores(pattern, cross=True, pairs=[(0, 1)], sure=[(0, 1)])["alignment_error"] == [1]
    assert "alignment_error" not in head_scores(pattern, cross=True, pairs=sure)
    with pytest.raises(ValueError, match="sure has a pair that pairs lacks"):
        head_scores(pattern, cross=True, pairs=[(0, 0)], sure=[(0, 1)])


NAMES = {measure.name for measure in MEASURES if measure.needs == "repeat"}


@given(st.integers(0, 3), st.integers(1, 6), st.integers(0, 2), st.booleans(), st.integers(0, 2**32 - 1))
def test_scores_equal_the_definitions_spelled_out_repeats(start, n, after, causal, seed):
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


@pytest.mark.parametrize("repeat", [(0, 4), (1, 3), (-1, 2), (0, 0)])
def test_a_repetition_that_does_not_fit_is_refused(repeat):
    with pytest.raises(
        ValueError, match=f"{repeat[1]} tokens twice from position {repeat[0]} on do not fit 6"
    ):
        head_scores(random_pattern(0, 6, 6), repeat=repeat)


def test_a_repetition_is_of_one_text():
    with pytest.raises(ValueError, match="tokens repeat within one text, but this is cross-attention"):
        head_scores(random_pattern(0, 6, 6), cross=True, repeat=(0, 3))
