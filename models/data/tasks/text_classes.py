"""Defines the base of tasks that give one answer to a text, such as a review's verdict."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any

import torch
from pydantic import Field

from ...engine.transformer import Transformer
from ..learnt_tokenizer import LearntTokenizer
from ..word_tokenizer import Unknown
from .algorithmic import pad_rows
from .batch import Alphabet, Answers, Batch, Quotients, Rarity, Reading, Sample, Split, of_examples
from .task import Task, generator_of, learnt_value, option

SPECIALS = ("[PAD]", "[UNK]", "[CLS]")
_PAD, UNKNOWN, _CLS = range(3)
STRANGE = "⸙"
"""A word that nobody knows: it is read as [UNK]."""
_MOST_PROBED = 64  # positions
MOST_CLASSES = 256
_SHOWN, _SHOWN_CHARACTERS = 6, 300  # texts at a time


@dataclass(frozen=True)
class Labelled:
    """Texts, the number of the class of each, and which are of a kind that is scored apart, by its name."""

    texts: list[str]
    labels: list[int]
    marks: dict[str, list[bool]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TextClasses(Task):
    """The answer is read at [CLS], or in the mean of all positions.

    A subclass says what its `classes` are, has a `tokenizer` whose vocabulary begins with SPECIALS, draws
    `labelled` texts, and says which is `_probe_text` while it trains.
    """

    kind = "encoder-only"

    pool: str = option("cls", "where the answer is read: [CLS], or the mean", choices=("cls", "mean"))
    longest: int = option(48, "positions; longer texts of a file are cut in training", low=40, high=512)

    @property
    @abstractmethod
    def classes(self) -> tuple[str, ...]:
        """The possible answers."""

    @property
    @abstractmethod
    def tokenizer(self) -> LearntTokenizer:
        """Of all words that it reads."""

    @property
    @abstractmethod
    def _probe_text(self) -> str:
        """The text that is watched."""

    @abstractmethod
    def draw_labelled(self, generator: torch.Generator, size: int, *, held_out: bool) -> Labelled:
        """`size` texts of one split, with their answers."""

    def required_sizes(self) -> dict[str, Any]:
        return {
            "vocab_size": len(self.tokenizer),
            "pad_id": _PAD,
            "max_len": self.longest,
            "n_outputs": len(self.classes),
            "tied_embeddings": False,
            "pooling": "first" if self.pool == "cls" else "mean",
        }

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        """Its `extra` says which texts are of the kinds that are scored apart."""
        return self.laid(self.draw_labelled(generator, size, held_out=held_out))

    def laid(self, labelled: Labelled) -> Batch:
        """Texts with their answers as a batch."""
        rows = [self._ids(text)[: self.longest] for text in labelled.texts]
        marks = {name: torch.tensor(marked) for name, marked in labelled.marks.items()}
        return Batch((pad_rows(rows, _PAD),), torch.tensor(labelled.labels)[:, None], marks)

    def prompts_of(self, batch: Batch, split: Split, numbers: Sequence[int] | None) -> list[str]:
        known = [[id_ for id_ in row if id_ not in (_PAD, _CLS)] for row in batch.inputs[0].tolist()]
        return [self.tokenizer.decode(ids) for ids in known]

    def texts(self, seed: int) -> Iterator[str]:
        for step in count():
            yield from self.draw_labelled(generator_of(seed, step), 1, held_out=True).texts

    def scores_of(self, at: Answers, batch: Batch) -> dict[str, Quotients]:
        """The share of right answers: of all, and of each kind that is scored apart."""
        right = at.right[:, 0]
        marked = {f"accuracy, {name}": of_examples(right, where.cpu()) for name, where in batch.extra.items()}
        return {"accuracy": of_examples(right), **marked}

    @torch.no_grad()
    def samples(self, model: Transformer, seed: int) -> list[Sample]:
        """Held-out texts with the model's answer."""
        batch = self.batch(generator_of(seed, 0), _SHOWN, held_out=True)
        best = model(*(ids.to(next(model.parameters()).device) for ids in batch.inputs)).argmax(dim=-1)
        return [
            Sample(self.tokenizer.decode(ids)[:_SHOWN_CHARACTERS], self.classes[answer], self.classes[truth])
            for ids, answer, truth in zip(
                batch.inputs[0].tolist(), best[:, 0].tolist(), batch.targets[:, 0].tolist(), strict=True
            )
        ]

    def probe(self) -> Reading:
        return self._reading(self._probe_text, min(self.longest, _MOST_PROBED))

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
        return Alphabet(names, range(len(SPECIALS), len(names)), {"encoder": before})

    def learnt(self) -> dict[str, Any]:
        return {
            "tokenizer": self.tokenizer.to_json(),
            "classes": list(self.classes),
            "shown": self._probe_text,
        }

    def restore(self, learnt: dict[str, Any]) -> None:
        """Raises ValueError for what is no tokenizer, no classes, or no text to watch."""
        text = learnt_value(learnt, "shown", str)
        names = Annotated[list[str], Field(min_length=1, max_length=MOST_CLASSES)]
        classes = learnt_value(learnt, "classes", names)
        tokenizer = LearntTokenizer.from_json(learnt.get("tokenizer"), SPECIALS)
        # where the cached properties of subclasses keep them
        vars(self).update(tokenizer=tokenizer, classes=tuple(classes), _probe_text=text)

    def counted(self, texts: Iterable[str], source: str) -> Rarity:
        """How often each of its tokens occurs in some texts."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(self.tokenizer.labels[id_] for id_ in self.tokenizer.encode(text))
        return Rarity.counted(counts, SPECIALS, source)

    def _ids(self, text: str) -> list[int]:
        return [_CLS] * (self.pool == "cls") + self.tokenizer.encode(text)

    def _reading(self, text: str, most: int) -> Reading:
        ids = self._ids(text)[:most]
        labels = [self.tokenizer.labels[id_] for id_ in ids]
        words = dict.fromkeys(text.split())
        unknown = tuple(Unknown(word) for word in words if UNKNOWN in self.tokenizer.encode(word))
        return Reading((torch.tensor([ids]),), {"encoder": labels}, text, unknown=unknown)


def of_words(words: Iterable[str]) -> LearntTokenizer:
    """A tokenizer of texts that are made here, whose words are all known."""
    vocabulary = (*SPECIALS, *words)
    return LearntTokenizer("wordpiece", vocabulary, n_specials=len(SPECIALS), unknown_id=UNKNOWN)
