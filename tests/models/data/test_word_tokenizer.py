"""Known words that are a typing slip away from an unknown one."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_lab.models.data.grammar.pairs import kept_vocabulary
from attention_lab.models.data.word_tokenizer import SPECIALS, UNK, WordTokenizer, alike, distance


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


def test_the_nearest_come_first_and_of_equals_those_with_the_same_ending() -> None:
    assert alike("sat", ["sad", "sauté", "at", "hat", "the", "cat", "dog"]) == ["cat", "hat", "at"]
    assert alike("Animel", ["animals", "street", "animal"]) == ["animal", "animals"]


def test_nothing_is_suggested_where_nothing_is_near() -> None:
    words = kept_vocabulary().english
    for word in ("zebra", "xylophone", "qqq", "😀", "a" * 41):
        assert alike(word, words) == []
    assert alike("x", ["a", "i"]) == []  # another letter is another word


# Words, spans and unknown words of any text; ids and back.

WORDS = [
    *("the", "animal", "didn't", "cross", "l'", "qu'", "il", "est-ce", "œuf", "été", ",", ".", "?", "street")
]
TOKENIZER = WordTokenizer([*SPECIALS, *WORDS])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The ANIMAL didn't cross.", ["the", "animal", "didn't", "cross", "."]),
        ("l'animal, l’œuf", ["l'", "animal", ",", "l'", "œuf"]),
        ("est-ce qu'il  cross?", ["est-ce", "qu'", "il", "cross", "?"]),
        ("e\u0301te\u0301 the\u00a0street", ["été", "the", "street"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_text_becomes_words_of_the_vocabulary(text, words):
    encoded = TOKENIZER.encode(text)
    assert encoded.tokens == words
    assert encoded.ids == [len(SPECIALS) + WORDS.index(word) for word in words]
    assert encoded.unknown == []


FACES = "👨‍👩‍👧😀 the animal"
TYPED = (FACES, "שלום the street", "İl l’animal", "e\u0301te\u0301, the", "<script>the</script>", "a\0the")


@pytest.mark.parametrize("text", TYPED)
def test_spans_point_into_the_text_as_typed(text):
    encoded = TOKENIZER.encode(text)
    covered = "".join(text[start:end] for start, end in encoded.spans)
    assert covered == "".join(text.split())
    for token, (start, end) in zip(encoded.tokens, encoded.spans, strict=True):
        if token in WORDS and token != "été":
            assert text[start:end].lower().replace("’", "'") == token


def test_unknown_words_are_marked_with_the_nearest_known_ones():
    encoded = TOKENIZER.encode("the Animel crosst 😀")
    assert encoded.tokens == ["the", "Animel", "crosst", "😀"]
    assert encoded.ids[1:] == [UNK, UNK, UNK]
    where = [(word.text, word.start, word.end) for word in encoded.unknown]
    assert where == [("Animel", 4, 10), ("crosst", 11, 17), ("😀", 18, 19)]
    assert [u.suggestions[:1] for u in encoded.unknown] == [["animal"], ["cross"], []]


def test_special_words_cannot_be_typed_in():
    assert all(id_ == UNK or id_ >= len(SPECIALS) for id_ in TOKENIZER.encode(" ".join(SPECIALS)).ids)


def test_decoding_joins_apostrophes_and_punctuation_and_keeps_unknown_words_visible():
    ids = [1, *TOKENIZER.encode("est-ce que l'animal").ids, TOKENIZER.id("?"), 2, 0]
    assert TOKENIZER.decode(ids) == "est-ce <unk> l'animal?"
    assert TOKENIZER.decode(ids, language="fr") == "est-ce <unk> l'animal\N{NO-BREAK SPACE}?"


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.sampled_from(["en", "fr"]))
@settings(max_examples=200, deadline=None)
def test_decoded_text_encodes_to_the_same_ids(words, language):
    ids = [TOKENIZER.id(word) for word in words]
    assert TOKENIZER.encode(TOKENIZER.decode(ids, language=language)).ids == ids


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_completely(text):
    encoded = TOKENIZER.encode(text)
    assert len(encoded.ids) == len(encoded.tokens) == len(encoded.spans)
    typed = encoded.tokens.count(SPECIALS[UNK])  # which is a word of the vocabulary
    assert encoded.ids.count(UNK) == len(encoded.unknown) + typed
    assert all(0 <= start < end <= len(text) for start, end in encoded.spans)


@pytest.mark.parametrize("piece", ["the catt ", "a", "a-", "😀", "\n"])
def test_a_huge_paste_is_read_in_seconds(piece):
    start = time.process_time()
    TOKENIZER.encode(piece * (300_000 // len(piece)))
    assert time.process_time() - start < 15


def test_a_vocabulary_without_special_words_or_with_twins_is_refused():
    with pytest.raises(ValueError, match="lacks the special words; start it with"):
        WordTokenizer(["the", "animal"])
    with pytest.raises(ValueError, match="has 'the' more than once; keep one"):
        WordTokenizer([*SPECIALS, "the", "animal", "the"])


def test_an_unknown_word_written_by_decode_is_read_as_one():
    unknown = TOKENIZER.encode("the zzz").ids
    again = TOKENIZER.encode(TOKENIZER.decode(unknown))
    assert (again.ids, again.unknown) == (unknown, [])
