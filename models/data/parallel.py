"""Pairs of sentences as rows of ids: the shipped grammar's, in both directions, or a table's."""

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from models.data.grammar import Pair, sample_pairs
from models.data.grammar.simple import Direction
from models.data.pronouns import PRONOUNS
from models.data.table_shape import SEPARATORS
from models.data.tables import How, Role, Source, read_rows
from models.data.text_files import read_text, rows_of
from models.data.word_tokenizer import EOS, SPECIALS, TO_ENGLISH, TO_FRENCH, UNK, WordTokenizer

UNKNOWN_SHARE = 0.05
NOTHING_NAMED = -100  # cross_entropy's ignore_index
_HELD_OUT_SHARE = 10  # one pair in ten
_POOL = 16  # batches drawn together and sorted by length, so that little is padding
TWICE = "that come twice"
_NAMES = (("source", "text", "from", "en", "english"), ("target", "translation", "to"))
ROLES = (Role("source_column", _NAMES[0]), Role("target_column", _NAMES[1]))
_NEEDS = (
    "call two of them source and target, or choose its source column and target column (on the command line: "
    "source_column and target_column); each line is a text and its translation, with a tab, a comma or a "
    "semicolon between"
)


class Row(NamedTuple):
    """What the encoder reads, with <eos>; what is written, without it; the noun that each pronoun means."""

    source: list[int]
    target: list[int]
    named: list[int]


def source_ids(tokenizer: WordTokenizer, words: Sequence[str], direction: Direction) -> list[int]:
    """What the encoder reads: the language to write in, the words, <eos>."""
    return [first_token(direction), *map(tokenizer.id, words), EOS]


def first_token(direction: Direction) -> int:
    return TO_FRENCH if direction == "en-fr" else TO_ENGLISH


def grammar_row(tokenizer: WordTokenizer, pair: Pair, direction: Direction) -> Row:
    """A pair of the grammar; a pronoun without an antecedent in its sentence names itself."""
    source = source_ids(tokenizer, pair.source(direction), direction)
    pronouns = {tokenizer.id(word) for word in PRONOUNS if word in tokenizer}
    named = [id_ if id_ in pronouns else NOTHING_NAMED for id_ in source]
    if mention := pair.mention(direction):
        named[mention.pronoun + 1] = source[mention.antecedent + 1]
    return Row(source, list(map(tokenizer.id, pair.target(direction))), named)


def grammar_batches(tokenizer: WordTokenizer, size: int, seed: int, start: int = 0) -> Iterator[list[Row]]:
    """Endless training batches from the one of step `start` on, always the same for a seed.

    A batch holds sentences of like lengths, in both directions.
    """
    pairs = sample_pairs(seed, "training")
    rng = random.Random(seed)
    step = 0
    while True:
        drawn = [_maybe_unknown(pair, rng) for pair in islice(pairs, _POOL * size)]
        pool = [(pair, rng.choice(pair.directions)) for pair in drawn]
        pool.sort(key=lambda example: len(example[0].english) + len(example[0].french))
        firsts = list(range(0, len(pool), size))
        rng.shuffle(firsts)
        for first in firsts:
            if step >= start:
                yield [grammar_row(tokenizer, *example) for example in pool[first : first + size]]
            step += 1


def _maybe_unknown(pair: Pair, rng: random.Random) -> Pair:
    """Now and then hides one noun behind <unk> on both sides, so that unknown words do little harm."""
    if pair.english_mention is None or pair.french_mention is None or rng.random() >= UNKNOWN_SHARE:
        return pair
    role = rng.choice(("antecedent", "rival"))
    english, french = list(pair.english), list(pair.french)
    english[getattr(pair.english_mention, role)] = SPECIALS[UNK]
    french[getattr(pair.french_mention, role)] = SPECIALS[UNK]
    return replace(pair, english=tuple(english), french=tuple(french))


class Table(NamedTuple):
    """(text, translation) pairs, split for good by the text."""

    training: list[tuple[str, str]]
    held_out: list[tuple[str, str]]


def read_parallel(path: Path, how: How | None = None) -> Table:
    """The pairs of a file, as `read_pairs` reads them."""
    return read_pairs(path, how)[0]


def read_pairs(path: Path, how: How | None = None) -> tuple[Table, Source]:
    """A text file of two columns, or of more of which two are named; a first line of names is skipped.

    Tabs, commas, semicolons or bars part the columns. Pairs that lack a side, and those that come twice, are
    left out and counted. Raises ValueError, with value, rule and remedy, for fewer than 20 or more than a
    million pairs, and as `read_rows` does.
    """
    rows = read_rows(path, how or How(), ROLES, needs=_NEEDS)
    pairs: dict[tuple[str, str], None] = {}
    for line, (text, translation) in rows.cells():
        if (text, translation) in pairs:
            rows.leave_out(TWICE, line)
        else:
            pairs[text, translation] = None
    table = Table([], [])
    for pair in pairs:
        table[_is_held_out(pair[0])].append(pair)
    if not table.held_out and len(table.training) >= 20:
        table.held_out.extend(table.training.pop() for _ in range(len(table.training) // _HELD_OUT_SHARE))
    if not table.held_out or len(table.training) < 10:
        raise ValueError(f"{rows.read.name!r} has {len(pairs)} different pairs; give 20 or more")
    return table, rows.source(ROLES)


def _is_held_out(text: str) -> bool:
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], "big") % _HELD_OUT_SHARE == 0


def as_before(path: Path) -> How:
    """How this table was read by runs from before they kept that."""
    text = read_text(path)
    first = re.sub('"[^"]*"', "", text.lstrip().partition("\n")[0])  # a quoted comma is no border
    separator = next((name for name in ("tab", "comma", "semicolon") if SEPARATORS[name] in first), "tab")
    quoted = separator != "tab"
    _, row = next(rows_of(text, path.name, SEPARATORS[separator], quoted=quoted), (0, []))
    named = len(row) == 2 and all(
        cell.strip().lower() in names for cell, names in zip(row, _NAMES, strict=True)
    )
    return How(
        separator=separator,
        header="yes" if named else "no",
        columns=("column 1", "column 2"),
        quotes="yes" if quoted else "no",
    )
