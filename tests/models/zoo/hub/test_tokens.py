"""Tokens are shown as people read them, whichever tokenizer made them."""

import math

import pytest

from attention_lab.models.zoo.hub.tokenizer import OpenTokenizer, readable
from tests.models.zoo.hub.families import TEXT, tokenizer_of


@pytest.mark.parametrize("kind", ["byte-level", "sentence-piece"])
def test_tokens_put_together_are_the_text(kind: str) -> None:
    tokenizer = tokenizer_of(kind)
    said = "".join(OpenTokenizer(tokenizer).readable(tokenizer(TEXT)["input_ids"]))
    assert said.strip() == TEXT


def test_a_word_piece_says_that_it_continues_a_word() -> None:
    tokenizer = tokenizer_of("word-piece")
    tokens = OpenTokenizer(tokenizer).readable(tokenizer("the animals")["input_ids"])
    assert tokens[:2] == ["[CLS]", "the"]
    assert tokens[-1] == "[SEP]"
    assert "".join(tokens[2:-1]).replace("##", "") == "animals"


def test_every_byte_of_a_character_that_is_cut_is_shown_as_such() -> None:
    tokenizer = tokenizer_of("byte-level")
    ids = tokenizer("é€")["input_ids"]
    assert OpenTokenizer(tokenizer).readable(ids) == ["<0xC3>", "<0xA9>", "<0xE2>", "<0x82>", "<0xAC>"]
    assert readable("Ġthe", byte_level=True) == " the"
    assert readable("Ċ", byte_level=True) == "\n"
    assert readable("▁the", byte_level=False) == " the"
    assert readable("<0x0A>", byte_level=False) == "<0x0A>"


@pytest.mark.parametrize("kind", ["byte-level", "sentence-piece", "word-piece"])
def test_later_tokens_of_the_vocabulary_stand_for_rarer_ones(kind: str) -> None:
    tokenizer = tokenizer_of(kind)
    ids = tokenizer(TEXT)["input_ids"]
    rarity, special = OpenTokenizer(tokenizer).rarity(ids), set(tokenizer.all_special_ids)
    tokens = OpenTokenizer(tokenizer).readable(ids)
    for token, id_ in zip(tokens, ids, strict=True):
        assert rarity.counts[token] == (math.inf if id_ in special else -id_)
    assert min(rarity.counts, key=rarity.counts.__getitem__) == tokens[ids.index(max(set(ids) - special))]
    assert "a stand-in for counts" in rarity.said


@pytest.mark.parametrize("kind", ["byte-level", "sentence-piece", "word-piece"])
def test_random_texts_are_of_tokens_that_are_not_special_and_stand_as_all_texts_do(kind: str) -> None:
    tokenizer = tokenizer_of(kind)
    alphabet, special = OpenTokenizer(tokenizer).alphabet("encoder", 40), set(tokenizer.all_special_ids)
    assert alphabet.own == [at for at in range(min(40, len(tokenizer))) if at not in special]
    bare, whole = (tokenizer(TEXT, add_special_tokens=added)["input_ids"] for added in (False, True))
    assert [*alphabet.before["encoder"], *bare, *alphabet.after["encoder"]] == whole
