"""Defines the sentiment of reviews, of a corpus made here or of any table of texts and labels."""

import hashlib
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch

from ..learnt_tokenizer import LearntTokenizer
from ..reviews import sample_review, vocabulary
from ..tables import ColumnRole, SplitTable, TableFormat, read_rows
from .algorithmic import random_of
from .batch import Batch, Rarity, Split
from .finite import OwnTable, column, draw
from .task import option
from .text_classes import SPECIALS, UNKNOWN, Labelled, TextClasses, of_words

MAX_CLASSES = 20
MIN_TEXTS = 20
TWICE, CONTRADICTING = "that come twice", "that come twice with another label"
_TEXT_NAMES = ("text", "review", "sentence", "comment", "content")
_LABEL_NAMES = ("label", "sentiment", "class", "target", "category")
ROLES = (ColumnRole("text_column", _TEXT_NAMES), ColumnRole("label_column", _LABEL_NAMES))
_NEEDS = "call two columns text and label, or choose them (on the command line: text_column and label_column)"
_HELD_OUT_SHARE = 10  # one text in ten
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)  # IMDb's reviews are full of them


def read_table(path: Path, how: TableFormat | None = None) -> SplitTable:
    """A CSV of two columns, or of more of which one holds texts, another labels.

    They are those that `how` names, or that are called text and label (or review and sentiment, ...). Rows
    without a text or a label are left out and counted. A text that comes twice counts once, with its first
    label; a tenth of the texts is held out, the same ones in any order. Raises ValueError, with value, rule
    and remedy, for a file that is no such table, and as `read_rows` does.
    """
    rows = read_rows(path, how or TableFormat(), ROLES, needs=_NEEDS)
    labels: dict[str, str] = {}  # the first of each text
    for line, (text, label) in rows.cells():
        text = _BREAK.sub(" ", text).strip()
        if text in labels:
            rows.leave_out(TWICE if labels[text] == label else CONTRADICTING, line)
        elif text:
            labels[text] = label
    name, classes = rows.read.name, tuple(sorted(set(labels.values())))
    if not 2 <= len(classes) <= MAX_CLASSES:
        column = f"{rows.columns[rows.at[1]]!r:.60}"
        has = f"{len(classes):,} different labels" if classes else "no label"
        if len(classes) == 1:
            has = f"only one label, {classes[0]!r:.40},"
        raise ValueError(
            f"{name!r} has {has} in its column {column}, but a classifier needs 2 to {MAX_CLASSES}; choose a "
            "column of labels, each many times"
        )
    if len(labels) < MIN_TEXTS:
        raise ValueError(f"{name!r} has {len(labels)} different texts; give {MIN_TEXTS} or more")
    number = {label: at for at, label in enumerate(classes)}
    order = sorted(labels, key=lambda text: hashlib.sha256(text.encode()).digest())
    examples = [(text, number[labels[text]]) for text in order]
    n_held_out = len(examples) // _HELD_OUT_SHARE
    training, held_out = tuple(examples[n_held_out:]), tuple(examples[:n_held_out])
    return SplitTable(training, held_out, classes, rows.source(ROLES))


_COUNTED = 2_000
_CLASSES = ("negative", "positive")
_PROBE = "the plot was dull , but the acting was anything but boring ."
_WATCHED_CHARACTERS = 1_000  # more than a probe needs


@dataclass(frozen=True, kw_only=True)
class Sentiment(OwnTable, TextClasses):
    """The model says whether a review praises or blames, in spite of negations and clauses that disagree."""

    name = "sentiment"
    title = "Sentiment of reviews"
    see = "[CLS] answers. Watch judging words look for their negation, and for but or although."
    see_own = "[CLS] answers: its row shows which words each head looks at."
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64, "positions": "rotary"}
    training = {"steps": 1200, "batch_size": 64, "learning_rate": 3e-3}
    columns = ("text_column", "label_column")

    file: str = option("", "CSV of texts and labels; empty: reviews made here", file=(".csv", ".tsv", ".txt"))
    text_column: str = column("texts")
    label_column: str = column("labels")
    pieces: int = option(8000, "words and parts of words that are learnt from a file", low=100, high=50_000)

    read_own = staticmethod(read_table)
    batch = TextClasses.batch  # of texts that are labelled here or in a table

    @cached_property
    def tokenizer(self) -> LearntTokenizer:
        """The corpus has all its words; a file's are learnt from what is trained on."""
        if self.table is None:
            return of_words(vocabulary())
        texts = [text for text, _ in self.rows["training"]]
        return LearntTokenizer.wordpiece(texts, self.pieces, specials=SPECIALS, unknown_id=UNKNOWN)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The possible verdicts."""
        return _CLASSES if self.table is None else self.table.classes

    def draw_labelled(self, generator: torch.Generator, size: int, *, held_out: bool) -> Labelled:
        """Of the corpus, those are marked that are negated, and those that have a contrast."""
        if self.table is not None:
            part: Split = "held out" if held_out else "training"
            numbers = draw(len(self.rows[part]), size, generator, once=held_out)
            return self._labelled(part, numbers.tolist())
        rng = random_of(generator)
        reviews = [sample_review(rng, held_out=held_out) for _ in range(size)]
        marks = {name: [getattr(r, name) for r in reviews] for name in ("negated", "contrast")}
        return Labelled([r.text for r in reviews], [int(r.positive) for r in reviews], marks)

    def numbered(self, split: Split, numbers: Sequence[int], generator: torch.Generator) -> Batch:
        return self.laid(self._labelled(split, numbers))

    def n_tokens(self, text: str) -> int:
        return len(self._ids(text))

    def _labelled(self, split: Split, numbers: Sequence[int]) -> Labelled:
        chosen = [self.rows[split][at] for at in numbers]
        return Labelled([text for text, _ in chosen], [label for _, label in chosen])

    def rarity(self) -> Rarity | None:
        return None if self.table is not None else self._rarity

    @cached_property
    def _rarity(self) -> Rarity:
        rng = random.Random(0)
        texts = (sample_review(rng, held_out=False).text for _ in range(_COUNTED))
        return self.counted(texts, f"{_COUNTED:,} reviews like those of its training")

    @cached_property
    def _probe_text(self) -> str:
        """The text that is watched: our own, or the beginning of a table's first held-out one."""
        return _PROBE if self.table is None else self.table.held_out[0][0][:_WATCHED_CHARACTERS]
