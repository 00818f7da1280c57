"""The tokenizer of a folder, which reads, writes and puts a text into a chat template; all of it apart.

Its file may say anything: rules that multiply a text, or a template that never ends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from transformers import AutoTokenizer

from models.data.tasks import Rarity
from models.data.tasks.alphabet import Alphabet
from models.files import FileError
from models.zoo.hub import apart
from models.zoo.hub.folder import Folder
from models.zoo.hub.tokens import alphabet_of, rarity_of, readable_all

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
