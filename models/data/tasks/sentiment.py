"""Say whether a review praises or blames: on a corpus made here, or on any table of texts and labels."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from models.data.learnt_tokenizer import LearntTokenizer
from models.data.sentiment import Table, read_table, sample_review, vocabulary
from models.data.sentiment.table import as_before
from models.data.tables import How, Source
from models.data.tasks.algorithmic import random_of
from models.data.tasks.batch import Batch, Rarity, Split
from models.data.tasks.finite import OLD, THREE, Finite, without_test
from models.data.tasks.labelled import draw
from models.data.tasks.options import option
from models.data.tasks.own_files import OwnTable, column
from models.data.tasks.text_classes import SPECIALS, UNKNOWN, Labelled, TextClasses, of_words

_COUNTED = 2_000
_CLASSES = ("negative", "positive")
_PROBE = "the plot was dull , but the acting was anything but boring ."
_WATCHED_CHARACTERS = 1_000  # more than a probe needs


@dataclass(frozen=True, kw_only=True)
class Sentiment(OwnTable, Finite, TextClasses):
    """The model says whether a review praises or blames, in spite of negations and clauses that disagree."""

    name = "sentiment"
    title = "Sentiment of reviews"
    see = (
        "The answer is read at [CLS]: its row shows where the verdict comes from. Watch the words that judge "
        "look for their negation, and for but or although, which say which clause counts."
    )
    see_own = (
        "The answer is read at [CLS]: its row shows which words each head looks at there. Whether these are "
        "the ones that decide, a change of the text tells; begin with the texts that it gets most wrong."
    )
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64, "positions": "rotary"}
    training = {"steps": 1200, "batch_size": 64, "learning_rate": 3e-3}
    columns = ("text_column", "label_column")

    file: str = option("", "CSV of texts and labels; empty: reviews made here", file=(".csv", ".tsv", ".txt"))
    text_column: str = column("texts")
    label_column: str = column("labels")
    pieces: int = option(8000, "words and parts of words that are learnt from a file", low=100, high=50_000)

    @cached_property
    def table(self) -> Table | None:
        """The person's texts. Raises ValueError as `read_table` does."""
        return read_table(Path(self.file).expanduser(), self.how) if self.file else None

    def _before(self, path: Path) -> How:
        return as_before(path)

    @property
    def _read(self) -> Source:
        assert (
            self.table is not None and self.table.source is not None
        )  # `OwnFile` asks where there is a file
        return self.table.source

    @cached_property
    def tokenizer(self) -> LearntTokenizer:
        """The corpus has all its words; a file's are learnt from what is trained on."""
        if self.table is None:
            return of_words(vocabulary())
        texts = [text for text, _ in self._rows["training"]]
        return LearntTokenizer.wordpiece(texts, self.pieces, specials=SPECIALS, unknown_id=UNKNOWN)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The possible verdicts."""
        return _CLASSES if self.table is None else self.table.classes

    def labelled(self, generator: torch.Generator, size: int, *, held_out: bool) -> Labelled:
        """Of the corpus, those are marked that are negated, and those that have a contrast."""
        if self.table is not None:
            part: Split = "held out" if held_out else "training"
            numbers = draw(len(self._rows[part]), size, generator, once=held_out, again=self.splits == OLD)
            return self._labelled(part, numbers.tolist())
        rng = random_of(generator)
        reviews = [sample_review(rng, held_out=held_out) for _ in range(size)]
        marks = {name: [getattr(r, name) for r in reviews] for name in ("negated", "contrast")}
        return Labelled([r.text for r in reviews], [int(r.positive) for r in reviews], marks)

    def count(self, split: Split) -> int | None:
        return None if self.table is None else len(self._rows[split])

    def widths(self, split: Split, numbers: Sequence[int]) -> list[int] | None:
        """Characters: tokens are counted in as many texts as are read, and no more."""
        return None if self.table is None else [len(self._rows[split][at][0]) for at in numbers]

    def numbered(self, split: Split, numbers: Sequence[int], generator: torch.Generator) -> Batch:
        return self.laid(self._labelled(split, numbers))

    def typed(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        """As the file has it, unless it is too long to be read whole."""
        cut = super().typed(batch, split, numbers)
        if self.table is None or numbers is None:
            return cut
        room = self.longest - (self.pool == "cls")
        whole = [self._rows[split][at][0] for at in numbers]
        fits = [len(self.tokenizer.encode(text)) <= room for text in whole]
        return [text if fit else short for text, fit, short in zip(whole, fits, cut, strict=True)]

    def _labelled(self, split: Split, numbers: Sequence[int]) -> Labelled:
        chosen = [self._rows[split][at] for at in numbers]
        return Labelled([text for text, _ in chosen], [label for _, label in chosen])

    @cached_property
    def _rows(self) -> dict[Split, Sequence[tuple[str, int]]]:
        """The texts of each part; in three parts, the test's are taken from those of training."""
        assert self.table is not None  # who asks has looked
        training, held_out = self.table.training, self.table.held_out
        if self.splits != THREE:
            return {"training": training, "held out": held_out, "test": ()}
        trained, tested = without_test(training, lambda row: row[0])
        return {"training": trained, "held out": held_out, "test": tested}

    def learnt(self) -> dict[str, Any]:
        return {**super().learnt(), **self.kept_reading()}

    def restore(self, learnt: dict[str, Any]) -> None:
        super().restore(learnt)
        self.take_reading(learnt)

    def rarity(self) -> Rarity | None:
        return None if self.table is not None else self._rarity

    @cached_property
    def _rarity(self) -> Rarity:
        rng = random.Random(0)
        texts = (sample_review(rng, held_out=False).text for _ in range(_COUNTED))
        return self.counted(texts, f"{_COUNTED:,} reviews like those of its training")

    @cached_property
    def _shown(self) -> str:
        """The text that is watched: our own, or the beginning of a table's first held-out one."""
        return _PROBE if self.table is None else self.table.held_out[0][0][:_WATCHED_CHARACTERS]
