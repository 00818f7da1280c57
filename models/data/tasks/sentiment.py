"""Say whether a review praises or blames: on a corpus made here, or on any table of texts and labels."""

import random
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from models.data.learnt_tokenizer import LearntTokenizer
from models.data.sentiment import Table, read_table, sample_review, vocabulary
from models.data.tasks.algorithmic import padded, random_of
from models.data.tasks.alphabet import Alphabet
from models.data.tasks.batch import Batch, Rarity, Reading, Sample
from models.data.tasks.labelled import classes_of, draw
from models.data.tasks.options import option
from models.data.tasks.task import Tally, Task, generator_of, share
from models.data.word_tokenizer import Unknown
from models.engine.transformer import Transformer

_SPECIALS = ("[PAD]", "[UNK]", "[CLS]")
_PAD, _UNKNOWN, _CLS = range(3)
_COUNTED = 2_000
_CLASSES = ("negative", "positive")
_PROBE = "the plot was dull , but the acting was anything but boring ."
_MOST_PROBED, _WATCHED_CHARACTERS = 64, 1_000  # positions; more than they need
_SHOWN, _SHOWN_CHARACTERS = 6, 300  # reviews at a time


@dataclass(frozen=True, kw_only=True)
class Sentiment(Task):
    """The model says whether a review praises or blames, in spite of negations and clauses that disagree."""

    name = "sentiment"
    title = "Sentiment of reviews"
    see = (
        "The answer is read at [CLS]: its row shows where the verdict comes from. Watch the words that judge "
        "look for their negation, and for but or although, which say which clause counts."
    )
    kind = "encoder-only"
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 64, "positions": "rotary"}
    training = {"steps": 1200, "batch_size": 64, "learning_rate": 3e-3}

    file: str = option("", "CSV of texts and labels; empty: reviews made here", file=(".csv", ".tsv", ".txt"))
    pool: str = option("cls", "where the answer is read: [CLS], or the mean", choices=("cls", "mean"))
    longest: int = option(48, "positions; longer texts of a file are cut in training", low=40, high=512)
    pieces: int = option(8000, "words and parts of words that are learnt from a file", low=100, high=50_000)

    @cached_property
    def table(self) -> Table | None:
        """The person's texts. Raises ValueError as `read_table` does."""
        return read_table(Path(self.file)) if self.file else None

    @cached_property
    def tokenizer(self) -> LearntTokenizer:
        """The corpus has all its words; a file's are learnt from what is trained on."""
        if self.table is None:
            return LearntTokenizer(
                "wordpiece",
                (*_SPECIALS, *vocabulary()),
                n_specials=len(_SPECIALS),
                unknown_id=_UNKNOWN,
            )
        texts = [text for text, _ in self.table.training]
        return LearntTokenizer.wordpiece(texts, self.pieces, specials=_SPECIALS, unknown_id=_UNKNOWN)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The possible verdicts."""
        return _CLASSES if self.table is None else self.table.classes

    def dictates(self) -> dict[str, Any]:
        return {
            "vocab_size": len(self.tokenizer),
            "pad_id": _PAD,
            "max_len": self.longest,
            "n_outputs": len(self.classes),
            "tied_embeddings": False,
            "pooling": "first" if self.pool == "cls" else "mean",
        }

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        """The corpus' batches say in `extra` which reviews are negated, and which have a contrast."""
        if self.table is not None:
            texts, labels, marks = *self._rows(self.table, generator, size, held_out), {}
        else:
            rng = random_of(generator)
            reviews = [sample_review(rng, held_out=held_out) for _ in range(size)]
            texts, labels = [r.text for r in reviews], [int(r.positive) for r in reviews]
            marks = {
                name: torch.tensor([getattr(r, name) for r in reviews]) for name in ("negated", "contrast")
            }
        rows = [self._ids(text)[: self.longest] for text in texts]
        return Batch((padded(rows, _PAD),), torch.tensor(labels)[:, None], marks)

    @torch.no_grad()
    def tally(self, model: Transformer, batch: Batch) -> Tally:
        """The share of right verdicts: of all, and of those that only a negation or a contrast tells."""
        right = (model(*batch.inputs).argmax(dim=-1) == batch.targets)[:, 0]
        marked = {f"accuracy, {name}": share(right[where]) for name, where in batch.extra.items()}
        return {"accuracy": share(right), **marked}

    @torch.no_grad()
    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """Held-out reviews with the model's verdict."""
        batch = self.batch(generator_of(seed, 0), _SHOWN, held_out=True)
        best = model(*(ids.to(next(model.parameters()).device) for ids in batch.inputs)).argmax(dim=-1)
        return [
            Sample(
                self.tokenizer.decode(ids)[:_SHOWN_CHARACTERS],
                self.classes[made],
                self.classes[wanted],
            )
            for ids, made, wanted in zip(
                batch.inputs[0].tolist(), best[:, 0].tolist(), batch.targets[:, 0].tolist(), strict=True
            )
        ]

    def probe(self) -> Reading:
        return self._reading(self._shown, min(self.longest, _MOST_PROBED))

    def read(self, text: str) -> Reading:
        """Any text; capitals are read as small letters. Raises ValueError where it is empty or too long."""
        n_tokens, room = len(self.tokenizer.encode(text)), self.longest - (self.pool == "cls")
        if not n_tokens:
            raise ValueError("the text is empty; type a sentence")
        if n_tokens > room:
            raise ValueError(f"the text has {n_tokens:,} words and signs; give at most {room}")
        return self._reading(text, self.longest)

    def outputs(self) -> tuple[str, ...]:
        return self.classes

    def made_of(self) -> Alphabet:
        names, before = self.tokenizer.labels, (_CLS,) * (self.pool == "cls")
        return Alphabet(names, range(len(_SPECIALS), len(names)), {"encoder": before})

    def rarity(self) -> Rarity | None:
        return None if self.table is not None else self._rarity

    @cached_property
    def _rarity(self) -> Rarity:
        rng = random.Random(0)
        counts: Counter[str] = Counter()
        for _ in range(_COUNTED):
            ids = self.tokenizer.encode(sample_review(rng, held_out=False).text)
            counts.update(self.tokenizer.labels[id_] for id_ in ids)
        return Rarity.counted(counts, _SPECIALS, f"{_COUNTED:,} reviews like those of its training")

    def learnt(self) -> dict[str, Any]:
        return {
            "tokenizer": self.tokenizer.to_json(),
            "classes": list(self.classes),
            "shown": self._shown,
        }

    def restore(self, learnt: dict[str, Any]) -> None:
        """Raises ValueError for what is no tokenizer, no classes, or no text to watch."""
        tokenizer, shown = LearntTokenizer.from_json(learnt.get("tokenizer", {})), learnt.get("shown")
        if not isinstance(shown, str) or tokenizer.vocabulary[: len(_SPECIALS)] != _SPECIALS:
            raise ValueError(f"shown={shown!r:.40} or the tokenizer is not as learnt returned it")
        # where the cached properties keep them
        vars(self).update(tokenizer=tokenizer, classes=classes_of(learnt), _shown=shown)

    @cached_property
    def _shown(self) -> str:
        """The text that is watched: our own, or the beginning of a table's first held-out one."""
        return _PROBE if self.table is None else self.table.held_out[0][0][:_WATCHED_CHARACTERS]

    def _rows(
        self, table: Table, generator: torch.Generator, size: int, held_out: bool
    ) -> tuple[list[str], list[int]]:
        rows = table.held_out if held_out else table.training
        chosen = [rows[at] for at in draw(len(rows), size, generator, once=held_out).tolist()]
        return [text for text, _ in chosen], [label for _, label in chosen]

    def _ids(self, text: str) -> list[int]:
        return [_CLS] * (self.pool == "cls") + self.tokenizer.encode(text)

    def _reading(self, text: str, most: int) -> Reading:
        ids = self._ids(text)[:most]
        labels = [self.tokenizer.labels[id_] for id_ in ids]
        words = dict.fromkeys(text.split())
        unknown = tuple(Unknown(word) for word in words if _UNKNOWN in self.tokenizer.encode(word))
        return Reading((torch.tensor([ids]),), {"encoder": labels}, text, unknown=unknown)
