"""Pairs of sentences for masked language models: the second follows the first, or comes from elsewhere."""

import re
from collections.abc import Iterator
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import NamedTuple

from models.data.encodings import AUTO
from models.data.own_names import own_name
from models.data.text_sources import GRAMMAR, sentences, test_sentences, texts_of
from models.limits import in_force

_LINKS = ("because", "so that", "even though", "although")  # words that begin a second clause
_MAX_CHARACTERS = 20_000  # of a sentence: more than any model here reads
_END = re.compile(r"(?<=[.!?])\s+|\n+")


class Passages(NamedTuple):
    """Texts of one sentence each, and pairs (first, second) of which the second follows the first."""

    singles: list[str]
    pairs: list[tuple[str, str]]


def passages_of(
    source: str, file: str, held_out: bool, *, tested: bool = False, encoding: str = AUTO
) -> Passages:
    """Sentences of a part of the text; `tested`: of a text that has a part for a test. The grammar's stand
    alone, so their pairs are two clauses of one.

    Raises ValueError for a source that is not here, a file that is no text, and fewer than 2 sentences.
    """
    if source == GRAMMAR and not file:
        singles = sentences(held_out)
        return Passages(singles, [pair for pair in map(_clauses, singles) if pair])
    text = texts_of(source, file, tested=tested, encoding=encoding)[held_out]
    singles = list(islice(_sentences(text), in_force().sentences))
    if len(singles) < 2:
        called = own_name(Path(file)) if file else source
        raise ValueError(
            f"{called!r} has {len(singles)} sentences in its {'held-out ' * held_out}part; "
            "take a longer text, with full stops or line ends"
        )
    return Passages(singles, list(pairwise(singles)))


def test_passages_of(source: str, file: str, *, encoding: str = AUTO) -> Passages:
    """Those of the test part: sentences that are neither trained on nor held out, which may be none."""
    if source == GRAMMAR and not file:
        singles = test_sentences()
        return Passages(singles, [pair for pair in map(_clauses, singles) if pair])
    most = in_force().sentences
    texts = texts_of(source, file, tested=True, encoding=encoding)
    training, held_out, test = (list(islice(_sentences(text), most)) for text in texts)
    known = {*training, *held_out}
    pairs = [pair for pair in pairwise(test) if pair[0] not in known]
    return Passages([sentence for sentence in test if sentence not in known], pairs)


def _sentences(text: str) -> Iterator[str]:
    """One after another: a file of full stops alone has millions."""
    start = 0
    for end in chain((found.span() for found in _END.finditer(text)), [(len(text), len(text))]):
        part = text[start : min(end[0], start + _MAX_CHARACTERS)].strip()
        if part:
            yield part
        start = end[1]


def _clauses(sentence: str) -> tuple[str, str] | None:
    """A sentence cut where its second clause begins; None where it has one only."""
    for link in _LINKS:
        first, found, second = sentence.partition(f" {link} ")
        if found and first and second:
            return first, f"{link} {second}"
    return None
