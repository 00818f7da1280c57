"""Uses a folder's tokenizer in a process apart: it reads, writes, and fills the chat template.

Its file may say anything: rules that multiply a text, or a template that never ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from transformers import AutoTokenizer

from ...data.learnt_tokenizer import BYTE_OF, bytes_of
from ...data.tasks.batch import Alphabet, Rarity
from ...files import FileError
from . import isolation
from .model_folder import Folder

METASPACE = "▁"
"""SentencePiece writes a blank in front of a token as this."""


def readable(token: str, *, byte_level: bool) -> str:
    """A token as a person reads it: blanks as blanks, bytes that are no character as <0xE2>.

    WordPiece's ## stays: it says that a token continues a word.
    """
    if not byte_level:
        return token.replace(METASPACE, " ") if METASPACE in token else token
    if any(letter not in BYTE_OF for letter in token):
        return token
    raw = bytes_of(token)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return "".join(f"<0x{byte:02X}>" for byte in raw)


MASK = "[MASK]"
"""What a person writes for a hidden word, whatever the model's own token for it is."""
MOST_OPEN = 4
"""Tokenizers that are kept open where this work is done."""
Given = ParamSpec("Given")
Result = TypeVar("Result")


class OpenTokenizer:
    """A tokenizer of transformers, where its work is done."""

    def __init__(self, tokenizer: Any) -> None:
        self._own = tokenizer
        self.n_tokens, self.max_len, self.has_mask, self.has_template = self.facts()

    def facts(self) -> tuple[int, int, bool, bool]:
        """Its number of tokens, its longest text, and whether it has a mask and a chat template."""
        own = self._own
        return len(own), int(own.model_max_length), own.mask_token is not None, bool(own.chat_template)

    def ids(self, text: str, *, special: bool = True) -> list[int]:
        """The tokens of a text, with the special ones around it."""
        mask = self._own.mask_token
        text = text if mask is None else text.replace(MASK, mask)
        return list(self._own(text, add_special_tokens=special, verbose=False)["input_ids"])

    def answer_ids(self, text: str) -> list[int]:
        """The tokens of an answer that a decoder writes."""
        return list(self._own(text_target=text, verbose=False)["input_ids"])

    def templated(self, text: str) -> str:
        """What a user says, in the words around it that the model was trained with."""
        messages = [{"role": "user", "content": text}]
        return str(self._own.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))

    def decode(self, ids: list[int]) -> str:
        """The text of ids, without special tokens."""
        return str(self._own.decode(ids, skip_special_tokens=True))

    def readable(self, ids: list[int]) -> list[str]:
        """The tokens of ids, as a person reads them; special ones as they are."""
        special = set(self._own.all_special_ids)
        decoder = getattr(getattr(self._own, "backend_tokenizer", None), "decoder", None)
        byte_level = "ByteLevel" in repr(decoder)  # bytes written as letters
        tokens = self._own.convert_ids_to_tokens(ids)
        return [
            token if number in special else readable(token, byte_level=byte_level)
            for number, token in zip(ids, (str(token) for token in tokens), strict=True)
        ]

    def _left_out(self) -> set[int]:
        """The tokens that are special or were added later."""
        return {*self._own.all_special_ids, *self._own.added_tokens_decoder}

    def alphabet(self, side: str, n_ids: int) -> Alphabet:
        """What texts of one side are made of: the tokens below `n_ids` that are neither special nor added
        later, and the special ones that the tokenizer puts around a text.
        """
        left_out = self._left_out()
        own = [at for at in range(min(n_ids, len(self._own))) if at not in left_out]
        bare, whole = (
            list(self._own("a", add_special_tokens=special, verbose=False)["input_ids"])
            for special in (False, True)
        )
        n_before = next((at for at in range(len(whole)) if whole[at : at + len(bare)] == bare), 0)
        names = self.readable(list(range(len(self._own))))
        return Alphabet(names, own, {side: whole[:n_before]}, {side: whole[n_before + len(bare) :]})

    def rarity(self, ids: list[int]) -> Rarity:
        """Of these tokens by their places in the vocabulary: tokenizers fill it with frequent ones first."""
        left_out = self._left_out()
        counts = {
            token: math.inf if id_ in left_out else -float(id_)
            for token, id_ in zip(self.readable(ids), ids, strict=True)
        }
        return Rarity(
            counts,
            "Here, rarity is the place in the tokenizer's vocabulary, a stand-in for counts; "
            "special tokens do not count.",
        )


def _apart(
    method: Callable[Concatenate[OpenTokenizer, Given], Result],
) -> Callable[Concatenate[Tokenizer, Given], Result]:
    """What an open tokenizer does, done where nothing that its file says harms anybody."""

    def ask(self: Tokenizer, /, *args: Given.args, **keywords: Given.kwargs) -> Result:
        answer: Result = isolation.run(_answer, method.__name__, *self.where, args, keywords)
        return answer

    ask.__doc__ = method.__doc__
    return ask


class Tokenizer:
    """That of one folder. Every method raises ValueError, with a sentence, where its file makes it fail."""

    def __init__(self, folder: Folder) -> None:
        self.where = (str(folder.path), folder.title, folder.stamp)
        self.n_tokens, self.max_len, self.has_mask, self.has_template = self._facts()

    _facts = _apart(OpenTokenizer.facts)
    ids = _apart(OpenTokenizer.ids)
    answer_ids = _apart(OpenTokenizer.answer_ids)
    templated = _apart(OpenTokenizer.templated)
    decode = _apart(OpenTokenizer.decode)
    readable = _apart(OpenTokenizer.readable)
    alphabet = _apart(OpenTokenizer.alphabet)
    rarity = _apart(OpenTokenizer.rarity)


def _answer(
    method: str, path: str, title: str, stamp: int, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """What a method of an open tokenizer gives."""
    tokenizer = _opened(path, title, stamp)
    try:
        return getattr(tokenizer, method)(*args, **keywords)
    except BaseException as error:  # templates and tokenizers raise errors of every kind
        isolation.check_ordinary(error)
        raise ValueError(
            f"the tokenizer or chat template of {title} failed: {isolation.first_line(error)}; give another "
            "text, or save them again"
        ) from None


@lru_cache(MOST_OPEN)
def _opened(path: str, title: str, stamp: int) -> OpenTokenizer:
    """The tokenizer of a folder, as it was at this stamp. Raises FileError where it is damaged."""
    try:
        own = AutoTokenizer.from_pretrained(Path(path), local_files_only=True, trust_remote_code=False)
    except BaseException as error:  # tokenizers raise errors of every kind for what a damaged file holds
        isolation.check_ordinary(error)
        raise FileError(
            f"the tokenizer of {title} could not be read: {isolation.first_line(error)}; save it again as "
            "tokenizer.json"
        ) from None
    return OpenTokenizer(own)
