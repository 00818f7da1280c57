"""Tokens are shown as people read them, whichever tokenizer made them."""

import pytest

from models.zoo.hub.tokens import readable, readable_all
from tests.models.zoo.hub.families import TEXT, tokenizer_of


@pytest.mark.parametrize("kind", ["byte-level", "sentence-piece"])
def test_tokens_put_together_are_the_text(kind: str) -> None:
    tokenizer = tokenizer_of(kind)
    said = "".join(readable_all(tokenizer, tokenizer(TEXT)["input_ids"]))
    assert said.strip() == TEXT


def test_a_word_piece_says_that_it_continues_a_word() -> None:
    tokenizer = tokenizer_of("word-piece")
    tokens = readable_all(tokenizer, tokenizer("the animals")["input_ids"])
    assert tokens[:2] == ["[CLS]", "the"]
    assert tokens[-1] == "[SEP]"
    assert "".join(tokens[2:-1]).replace("##", "") == "animals"


def test_every_byte_of_a_character_that_is_cut_is_shown_as_such() -> None:
    tokenizer = tokenizer_of("byte-level")
    ids = tokenizer("é€")["input_ids"]
    assert readable_all(tokenizer, ids) == ["<0xC3>", "<0xA9>", "<0xE2>", "<0x82>", "<0xAC>"]
    assert readable("Ġthe", byte_level=True) == " the"
    assert readable("Ċ", byte_level=True) == "\n"
    assert readable("▁the", byte_level=False) == " the"
    assert readable("<0x0A>", byte_level=False) == "<0x0A>"
