"""Tokens learnt from a text: nothing is lost, nothing grows without bound, and JSON brings them back."""

import json
import random
import re
import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from attention_lab.models.data import learnt_tokenizer
from attention_lab.models.data.grammar.pairs import held_out
from attention_lab.models.data.learnt_tokenizer import BYTES, MAX_VOCABULARY, LearntTokenizer

SENTENCES = [" ".join(pair.english) for pair, _ in held_out(300)]
TEXT = "\n".join(SENTENCES)
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
BPE = LearntTokenizer.bpe([TEXT], 400, specials=("<pad>",))
CHARACTERS = LearntTokenizer.characters(TEXT)
WORDPIECE = LearntTokenizer.wordpiece(SENTENCES, 200, specials=SPECIALS, unknown_id=1)
# a person's text has no half characters
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(TEXTS)
def test_byte_pairs_lose_nothing(text: str):
    ids = BPE.encode(text)
    assert BPE.decode(ids) == text
    assert all(1 <= id_ < len(BPE) for id_ in ids), "never a special token"
    assert sum(BPE.n_characters[ids].tolist()) == len(text)


@given(st.text(st.sampled_from(sorted(set(TEXT))), max_size=60))
def test_known_characters_lose_nothing(text: str):
    ids = CHARACTERS.encode(text)
    assert CHARACTERS.decode(ids) == text
    assert [CHARACTERS.labels[id_] for id_ in ids] == list(text)
    assert CHARACTERS.tensor(text).tolist() == ids


@given(TEXTS)
def test_any_characters_are_read(text: str):
    """What is not known is <unk>, in a long text as in a short one."""
    ids = CHARACTERS.encode(text)
    assert [id_ == 0 for id_ in ids] == [character not in TEXT for character in text]
    assert CHARACTERS.tensor(text).tolist() == ids
    assert WORDPIECE.decode(WORDPIECE.encode(text)) is not None


@given(st.lists(st.sampled_from(sorted(set(" ".join(SENTENCES).split()))), max_size=12))
def test_known_words_lose_nothing_but_their_blanks(words: list[str]):
    ids = WORDPIECE.encode(" ".join(words))
    assert WORDPIECE.decode(ids).replace(" ", "") == "".join(words)
    assert 1 not in ids


def test_typed_specials_are_only_text():
    assert BPE.decode(BPE.encode("<pad>")) == "<pad>" and 0 not in BPE.encode("<pad>")
    assert not {0, 2, 3, 4} & set(WORDPIECE.encode("[PAD][CLS] [MASK]"))


def test_pieces_of_words():
    tokenizer = LearntTokenizer.wordpiece(["low lower lowest"] * 9, 30, specials=SPECIALS, unknown_id=1)
    ids = tokenizer.encode("Lower slow")
    tokens = [tokenizer.vocabulary[id_] for id_ in ids]
    assert tokens[:2] == ["lower", "s"] and all(token.startswith("##") for token in tokens[2:])
    assert tokenizer.decode(ids) == "lower slow"
    assert tokenizer.vocabulary[:5] == SPECIALS and len(tokenizer) <= 30


def test_byte_names_are_those_of_the_library():
    assert set(BYTES.values()) == set(pre_tokenizers.ByteLevel.alphabet())
    assert BYTES[ord(" ")] == "Ġ" and BYTES[ord("a")] == "a"


def test_labels_are_readable():
    assert " the" in BPE.labels
    assert BPE.labels[BPE.encode("é")[0]] == "⟨C3⟩"
    assert BPE.labels[0] == "<pad>"


@pytest.mark.parametrize("tokenizer", [BPE, CHARACTERS, WORDPIECE], ids=lambda t: t.kind)
def test_json_brings_a_tokenizer_back(tokenizer: LearntTokenizer):
    again = LearntTokenizer.from_json(json.loads(json.dumps(tokenizer.to_json())))
    assert again.vocabulary == tokenizer.vocabulary
    for text in (*SENTENCES[:50], "Été? ☃ [MASK]"):
        assert again.encode(text) == tokenizer.encode(text)


def test_a_long_text_is_tokenized_piece_by_piece(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("attention_lab.models.data.learnt_tokenizer._PIECE", 100)
    for tokenizer in (BPE, CHARACTERS):
        ids = tokenizer.tensor(TEXT)
        assert ids.dtype == torch.int32
        assert tokenizer.decode(ids.tolist()) == TEXT
    assert BPE.tensor("").tolist() == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "magic"}, "the tokenizer has no valid 'kind'; give what to_json returned"),
        ({"vocabulary": []}, "0 tokens, 1 of them special, make no vocabulary"),
        (
            {"vocabulary": ["<unk>", *map(chr, range(200, 200 + MAX_VOCABULARY))]},
            "50,001 tokens, 1 of them special, make no",
        ),
        ({"vocabulary": ["<unk>", "a", "a"]}, "the vocabulary has 'a' more than once; keep one of them"),
        ({"vocabulary": ["<unk>", "ab"]}, "a vocabulary of characters has longer tokens"),
        ({"vocabulary": ["<unk>", "a" * 401]}, "a vocabulary's tokens are texts of 1 to 400 characters"),
        ({"unknown_id": 1}, "unknown_id=1 is no special token; give 0 to 0"),
        (
            {"kind": "bpe", "vocabulary": ["<unk>", "é☃"]},
            "a vocabulary of byte pairs has other signs than bytes",
        ),
        ({"kind": "bpe", "merges": [["a", "z"]]}, "a tokenizer of kind 'bpe' cannot be built:"),
        ({"merges": 3}, "the tokenizer has no valid 'merges'; give what to_json returned"),
        ({"merges": [["a", 3]]}, "the tokenizer has no valid 'merges'"),
        ({"n_specials": "x"}, "the tokenizer has no valid 'n_specials'"),
    ],
)
def test_what_is_no_tokenizer_is_refused(changes: dict, sentence: str):
    values = LearntTokenizer.characters("ab").to_json() | changes
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        LearntTokenizer.from_json(values)


@pytest.mark.parametrize("size", [10, MAX_VOCABULARY + 1])
def test_a_vocabulary_has_a_size_that_it_can_have(size: int):
    with pytest.raises(ValueError, match=f"{size} byte pairs make no vocabulary; give 256"):
        LearntTokenizer.bpe([TEXT], size)
    if size > 10:
        with pytest.raises(ValueError, match=f"{size} word pieces make no vocabulary; give 6 to 50,000"):
            LearntTokenizer.wordpiece(SENTENCES, size, specials=SPECIALS, unknown_id=1)


@pytest.mark.parametrize("sign", ["x", "-", "好"])
def test_words_without_end_are_learnt_in_pieces(sign: str):
    texts = ["a word, and " + sign * 20_000] * 3
    for tokenizer in (
        LearntTokenizer.bpe(texts, 400),
        LearntTokenizer.wordpiece(texts, 300, specials=("[UNK]",), unknown_id=0),
    ):
        assert max(map(len, tokenizer.vocabulary)) <= 110
        assert tokenizer.encode("a word")


@pytest.mark.parametrize("letters", ["ACGT", "a", "\N{SLIGHTLY SMILING FACE}x", "!?.", "7"])
def test_a_text_without_blanks_is_learnt_and_read_in_time_that_grows_with_its_length(letters: str):
    """A million letters in a couple of seconds; merging in one word of them would take minutes."""
    text = "".join(random.Random(0).choices(letters, k=300_000))
    start = time.process_time()
    tokenizer = LearntTokenizer.bpe([text], 1000)
    ids = tokenizer.tensor(text)
    assert time.process_time() - start < 5
    assert tokenizer.decode(ids.tolist()) == text
    assert int(tokenizer.n_characters[ids].sum()) == len(text)


def test_a_vocabulary_is_counted_in_no_more_than_there_is_time_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(learnt_tokenizer, "MAX_LEARNT_FROM", 11)
    texts = iter(["abab ab", "abababQ", "never asked for"])
    assert "Q" not in "".join(LearntTokenizer.bpe(texts, 300).vocabulary[256:])
    assert next(texts) == "never asked for"
    pieces = LearntTokenizer.wordpiece(["abab ab", "abababQ"], 100, specials=("[UNK]",), unknown_id=0)
    assert "q" not in pieces.vocabulary and "a" in pieces.vocabulary
