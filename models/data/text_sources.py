"""Provides the texts that language models read: the grammar's, named downloads, or a person's own file."""

from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from .downloads import required_file
from .grammar import sample_pairs
from .text_files import AUTO, read_text

GRAMMAR = "grammar"
TEXT_SOURCES = (GRAMMAR, "tiny-shakespeare", "enwik8")
TEXT_ENDINGS = (".txt", ".text", ".md", ".csv", ".tsv", ".json", ".xml", ".html", ".tex", ".py", ".log")
BYTES = ("enwik8",)  # a byte is a character, as wherever bits per character of it are quoted
HELD_OUT_SHARE = 10  # the last tenth
_SENTENCES = 5_000


class Texts(NamedTuple):
    """What is trained on, and what never is."""

    training: str
    held_out: str
    test: str = ""


def texts_of(source: str, file: str, *, tested: bool = False, encoding: str = AUTO) -> Texts:
    """The text of `file`, where one is named, else that of `source`; its last tenth is held out, and where
    it is `tested`, the tenth before that is kept for a test and not trained on.

    The grammar instead holds out sentences whose nouns never meet in training, and has others of them for a
    test. Raises ValueError for a source that is not here and a file that is no text.
    """
    if source == GRAMMAR and not file:
        parts = [sentences(held_out) for held_out in (False, True)] + [test_sentences()] * tested
        return Texts(*map("\n".join, parts))
    if file:
        text = read_text(Path(file).expanduser(), encoding)
    elif source in BYTES:
        text = required_file(source).read_bytes().decode("latin-1")
    else:
        text = read_text(required_file(source))
    tenth = len(text) // HELD_OUT_SHARE
    start, end = len(text) - (1 + tested) * tenth, len(text) - tenth
    return Texts(text[:start], text[end:], text[start:end])


@lru_cache(maxsize=2)
def sentences(held_out: bool) -> list[str]:
    """English sentences of the grammar; the held-out ones are a tenth as many."""
    count = _SENTENCES // HELD_OUT_SHARE if held_out else _SENTENCES
    pairs = sample_pairs(0, "held out" if held_out else "training")
    return [" ".join(pair.english) for pair in islice(pairs, count)]


@lru_cache(maxsize=1)
def test_sentences() -> list[str]:
    """As many English sentences as are held out, of the same kind: none is trained on or held out."""
    count, known = _SENTENCES // HELD_OUT_SHARE, set(sentences(True))
    candidates = (" ".join(pair.english) for pair in sample_pairs(2, "held out"))
    return list(islice((sentence for sentence in candidates if sentence not in known), count))
