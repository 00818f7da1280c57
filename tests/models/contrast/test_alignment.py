"""Aligning: every token once, in order, the same from both sides, and what people would expect."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_lab.models.contrast.alignment import Aligned, align_by_characters, bare, by_place, words_of
from attention_lab.models.data.alignment import Pairs, align

TOKENS = st.lists(st.sampled_from(["the", "cat", "dog", "a", "<eos>"]), max_size=9)
FEW = settings(max_examples=20)
WORDS = st.lists(st.text("abé", min_size=1, max_size=5), max_size=5)


def check_whole(pairs: Pairs, n_a: int, n_b: int) -> None:
    """Every position of both, once and in order, and no place of nothing."""
    assert [i for i, _ in pairs if i is not None] == list(range(n_a))
    assert [j for _, j in pairs if j is not None] == list(range(n_b))
    assert (None, None) not in pairs


@FEW
@given(TOKENS, TOKENS)
def test_every_token_stands_once_in_order_and_both_directions_agree(a: list[str], b: list[str]) -> None:
    pairs = align(a, b)
    check_whole(pairs, len(a), len(b))
    assert align(b, a) == [(j, i) for i, j in pairs]
    assert align(a, a) == [(at, at) for at in range(len(a))]


@FEW
@given(WORDS, st.data())
def test_two_tokenizers_are_aligned_where_tokens_begin_at_one_character(
    words: list[str], data: st.DataObject
) -> None:
    text = "".join(words)
    cuts = [sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1))))) for _ in range(2)]
    sides = [[text[i:j] for i, j in zip([0, *c], [*c, len(text)], strict=True) if text[i:j]] for c in cuts]
    a, b = ["[CLS]", *sides[0], "[SEP]"], [*sides[1], "</s>"]
    pairs = align_by_characters(a, b)
    check_whole(pairs, len(a), len(b))
    assert align_by_characters(b, a) == [(j, i) for i, j in pairs]
    starts = [[sum(len(bare(t)) for t in side[:at]) for at in range(len(side))] for side in (a, b)]
    both = {(i, j) for i, j in pairs if i is not None and j is not None}
    whole = {(i, j) for i in range(1, len(a) - 1) for j in range(len(b) - 1) if starts[0][i] == starts[1][j]}
    assert {(i, j) for i, j in both if bare(a[i])} == whole
    if text:
        assert (len(a) - 1, len(b) - 1) in both and (0, None) in pairs


def test_what_differs_is_marked_and_what_is_missing_is_a_gap() -> None:
    a, b = ["it", "was", "so", "very", "tired"], ["it", "was", "too", "tired", "."]
    found = Aligned(tuple(a), tuple(b), tuple(align(a, b)))
    assert found.tokens_a == ["it", "was", "so", "very", "", "tired", ""]
    assert found.tokens_b == ["it", "was", "", "", "too", "tired", "."]
    assert found.same == (True, True, False, False, False, True, False)
    one = Aligned(("too", "tired"), ("too", "wide"), tuple(align(["too", "tired"], ["too", "wide"])))
    assert one.pairs == ((0, 0), (1, 1)) and one.same == (True, False) and one.both == (0, 1)


def test_tokens_of_two_vocabularies_are_the_same_where_they_cover_the_same() -> None:
    a, b = ["[CLS]", "un", "##happy", "Cat", "[SEP]"], ["unhappy", " cat", "</s>"]
    found = Aligned(tuple(a), tuple(b), tuple(align_by_characters(a, b)), loose=True)
    assert found.pairs == ((0, None), (1, 0), (2, None), (3, 1), (4, 2))
    assert found.same == (False, False, False, True, True)


def test_tokens_of_other_characters_are_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="characters; give a text that both read"):
        align_by_characters(["cat"], ["dog"])


def test_a_given_order_is_kept_and_leftovers_stand_behind_their_neighbour() -> None:
    assert by_place([2, None, 0], 4) == [(0, 2), (None, 3), (1, None), (2, 0), (None, 1)]
    assert by_place([], 2) == [(None, 0), (None, 1)]


def test_tokens_are_found_in_the_words_of_their_text() -> None:
    tokens = ["<bos>", "L'", "eau", " est", "bl", "##eue", "<eos>"]
    assert words_of(tokens, "l'eau est bleue") == [None, (0, 0), (0, 2), (1, 0), (2, 0), (2, 2), None]
    assert words_of(["<unk>", "est"], "l'eau est") is None
