"""Tokens of any tokenizer as people read them."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from models.data.tasks import Rarity
from models.data.tasks.alphabet import Alphabet

METASPACE = "▁"
"""SentencePiece writes a blank in front of a token as this."""


@cache
def _byte_of_letter() -> dict[str, int]:
    """The byte that each letter of byte-level BPE stands for (Radford et al. 2019, section 2.2).

    Bytes that print stand for themselves; the others follow from code point 256 on, in order.
    """
    printed = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printed]
    return {chr(byte): byte for byte in printed} | {chr(256 + at): byte for at, byte in enumerate(others)}


def is_byte_level(tokenizer: Any) -> bool:
    """Whether a tokenizer's tokens are bytes written as letters."""
    decoder = getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None)
    return "ByteLevel" in repr(decoder)


def readable(token: str, *, byte_level: bool) -> str:
    """A token as a person reads it: blanks as blanks, bytes that are no character as <0xE2>.

    WordPiece's ## stays: it says that a token continues a word.
    """
    if not byte_level:
        return token.replace(METASPACE, " ") if METASPACE in token else token
    letters = _byte_of_letter()
    if any(letter not in letters for letter in token):
        return token
    raw = bytes(letters[letter] for letter in token)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return "".join(f"<0x{byte:02X}>" for byte in raw)


def readable_all(tokenizer: Any, ids: list[int]) -> list[str]:
    """The tokens of ids, as a person reads them; special ones as they are."""
    special, byte_level = set(tokenizer.all_special_ids), is_byte_level(tokenizer)
    tokens = tokenizer.convert_ids_to_tokens(ids)
    return [
        token if number in special else readable(token, byte_level=byte_level)
        for number, token in zip(ids, (str(token) for token in tokens), strict=True)
    ]


def alphabet_of(tokenizer: Any, side: str, n_ids: int) -> Alphabet:
    """What texts of one side are made of: the tokens below `n_ids` that are neither special nor added later,
    and the special ones that the tokenizer puts around a text.
    """
    n_known = min(n_ids, len(tokenizer))
    left_out = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
    own = [at for at in range(n_known) if at not in left_out]
    bare, whole = (
        list(tokenizer("a", add_special_tokens=special, verbose=False)["input_ids"])
        for special in (False, True)
    )
    n_before = next((at for at in range(len(whole)) if whole[at : at + len(bare)] == bare), 0)
    names = readable_all(tokenizer, list(range(len(tokenizer))))
    return Alphabet(names, own, {side: whole[:n_before]}, {side: whole[n_before + len(bare) :]})


def rarity_of(tokenizer: Any, ids: list[int]) -> Rarity:
    """Of these tokens by their places in the vocabulary, which tokenizers fill with frequent tokens first."""
    left_out = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
    tokens = readable_all(tokenizer, ids)
    counts = {
        token: math.inf if id_ in left_out else -float(id_) for token, id_ in zip(tokens, ids, strict=True)
    }
    return Rarity(
        counts,
        "Here, rarity is by the place in the tokenizer's vocabulary, a stand-in for counts: frequent tokens "
        "mostly come first; special tokens do not count.",
    )
