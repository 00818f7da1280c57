"""Tokens of any tokenizer as people read them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from transformers import AutoTokenizer

from models.data.tasks import Rarity
from models.data.tasks.batch import Alphabet
from models.files import FileError
from models.zoo.hub import apart
from models.zoo.hub.folder import Folder

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


# The tokenizer of a folder, which reads, writes and puts a text into a chat template; all of it apart.
# Its file may say anything: rules that multiply a text, or a template that never ends.

MASK = "[MASK]"
"""What a person writes for a hidden word, whatever the model's own token for it is."""
MOST_OPEN = 4
"""Tokenizers that are kept open where this work is done."""


class _Facts(NamedTuple):
    n_tokens: int
    max_len: int
    has_mask: bool
    has_template: bool


class Tokenizer:
    """That of one folder. Every method raises ValueError, with a sentence, where its file makes it fail."""

    def __init__(self, folder: Folder) -> None:
        self._where = (str(folder.path), folder.title, folder.stamp)
        facts: _Facts = self._ask(_facts)
        self.n_tokens, self.max_len, self.has_mask, self.has_template = facts

    def ids(self, text: str, *, special: bool = True) -> list[int]:
        """The tokens of a text, with the special ones around it."""
        found: list[int] = self._ask(_ids, text, special)
        return found

    def answer_ids(self, text: str) -> list[int]:
        """The tokens of an answer that a decoder writes."""
        found: list[int] = self._ask(_answer_ids, text)
        return found

    def templated(self, text: str) -> str:
        """What a user says, in the words around it that the model was trained with."""
        found: str = self._ask(_templated, text)
        return found

    def readable(self, ids: list[int]) -> list[str]:
        """The tokens of ids, as a person reads them; special ones as they are."""
        found: list[str] = self._ask(readable_all, ids)
        return found

    def decode(self, ids: list[int]) -> str:
        """The text of ids, without special tokens."""
        found: str = self._ask(_decoded, ids)
        return found

    def alphabet(self, side: str, n_ids: int) -> Alphabet:
        found: Alphabet = self._ask(alphabet_of, side, n_ids)
        return found

    def rarity(self, ids: list[int]) -> Rarity:
        found: Rarity = self._ask(rarity_of, ids)
        return found

    def _ask(self, function: Callable[..., Any], *given: Any) -> Any:
        return apart.run(_answer, function, *self._where, *given)


def _answer(function: Callable[..., Any], path: str, title: str, stamp: int, *given: Any) -> Any:
    """What a function makes of an open tokenizer."""
    tokenizer = _opened(path, title, stamp)
    try:
        return function(tokenizer, *given)
    except BaseException as error:  # templates and tokenizers raise errors of every kind
        apart.check_ordinary(error)
        raise ValueError(
            f"the tokenizer or chat template of {title} failed: {_first_line(error)}; give another text, or "
            "save them again from another source"
        ) from None


@lru_cache(MOST_OPEN)
def _opened(path: str, title: str, stamp: int) -> Any:
    """The tokenizer of a folder, as it was at this stamp. Raises FileError where it is damaged."""
    try:
        return AutoTokenizer.from_pretrained(Path(path), local_files_only=True, trust_remote_code=False)
    except BaseException as error:  # tokenizers raise errors of every kind for what a damaged file holds
        apart.check_ordinary(error)
        raise FileError(
            f"the tokenizer of {title} could not be read: {_first_line(error)}; save it again as "
            "tokenizer.json"
        ) from None


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200].rstrip(". ")


def _facts(tokenizer: Any) -> _Facts:
    return _Facts(
        len(tokenizer),
        int(tokenizer.model_max_length),
        tokenizer.mask_token is not None,
        bool(tokenizer.chat_template),
    )


def _ids(tokenizer: Any, text: str, special: bool) -> list[int]:
    mask = tokenizer.mask_token
    text = text if mask is None else text.replace(MASK, mask)
    return list(tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"])


def _answer_ids(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text_target=text, verbose=False)["input_ids"])


def _templated(tokenizer: Any, text: str) -> str:
    said = [{"role": "user", "content": text}]
    return str(tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True))


def _decoded(tokenizer: Any, ids: list[int]) -> str:
    return str(tokenizer.decode(ids, skip_special_tokens=True))
