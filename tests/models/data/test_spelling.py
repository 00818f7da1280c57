"""Known words that are a typing slip away from an unknown one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.data.grammar_text import kept_vocabulary
from models.data.spelling import alike, distance

LETTERS = st.text("abc", max_size=6)


@pytest.mark.parametrize(
    ("one", "other", "steps"),
    [
        ("animel", "animal", 1),
        ("elefant", "elephant", 2),
        ("teh", "the", 1),  # neighbours that change places
        ("cat", "cats", 1),
        ("", "abc", 3),
        ("sitting", "kitten", 3),
        ("ca", "abc", 3),  # no letter is touched twice
    ],
)
def test_the_distance_counts_letters_that_differ(one: str, other: str, steps: int) -> None:
    assert distance(one, other) == distance(other, one) == steps


@given(LETTERS, LETTERS)
def test_the_distance_is_none_for_the_same_word_alone_and_at_most_the_longer_word(a: str, b: str) -> None:
    assert (distance(a, b) == 0) == (a == b)
    assert abs(len(a) - len(b)) <= distance(a, b) <= max(len(a), len(b))


def test_the_nearest_come_first_and_of_equals_those_with_the_same_ending() -> None:
    assert alike("sat", ["sad", "sauté", "at", "hat", "the", "cat", "dog"]) == ["cat", "hat", "at"]
    assert alike("Animel", ["animals", "street", "animal"]) == ["animal", "animals"]


def test_nothing_is_suggested_where_nothing_is_near() -> None:
    words = kept_vocabulary().english
    for word in ("zebra", "xylophone", "qqq", "😀", "a" * 41):
        assert alike(word, words) == []
    assert alike("x", ["a", "i"]) == []  # another letter is another word
