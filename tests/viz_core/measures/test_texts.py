"""Measures of tokens and pairs against their definitions, spelled out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz_core.measures.patterns import random_pattern
from viz_core.measures import head_scores, induction_score
from viz_core.measures.texts import is_punctuation


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
