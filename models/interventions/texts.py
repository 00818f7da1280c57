"""Texts within a line: in quotes, as JSON writes them."""

import json
import re

from models.names import shortened


def read_texts(words: str, example: str) -> tuple[str, ...]:
    """The texts of "one" "another". Raises ValueError for other words, and for an empty text."""
    found, decoder, rest = [], json.JSONDecoder(), words.strip()
    while rest:
        try:
            text, end = decoder.raw_decode(rest) if rest[0] == '"' else (None, 0)
        except json.JSONDecodeError:
            text, end = None, 0
        if text is None:
            raise ValueError(f"{shortened(rest)!r} is no text in double quotes; write such as {example}")
        found.append(text)
        rest = rest[end:].strip()
    return tuple(found)


def write_texts(texts: tuple[str, ...]) -> str:
    """The same texts, in quotes."""
    return " ".join(json.dumps(text, ensure_ascii=False) for text in texts)


def check_texts(texts: tuple[str, ...], example: str) -> None:
    """Raises ValueError where there is no text, or an empty one, or one that nobody can write."""
    if not texts or any(not isinstance(text, str) or not text.strip() for text in texts):
        raise ValueError(f"a text to take values from is empty; write such as {example}")
    for text in texts:
        if re.search(r"[\ud800-\udfff]", text):  # JSON can say them
            raise ValueError(
                f"a text to take values from holds half of a character; write whole ones, such as {example}"
            )
