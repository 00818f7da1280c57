"""What passes between a task and the model it trains."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from models.data.word_tokenizer import Unknown

Split = Literal["training", "held out", "test"]
"""The parts of a task's examples; no example is in two of them."""
IGNORED = -100
"""A target that asks nothing: `cross_entropy`'s ignore_index."""


@dataclass(frozen=True)
class Batch:
    """Examples side by side: `model(*inputs)` answers what `targets` ask.

    inputs: token ids [batch, position] or vectors [batch, position, channel]; an encoder-decoder's are source
    and target. targets: ids [batch, position], IGNORED where nothing is asked, or numbers like the logits.
    extra: what else a task's own loss needs, each [batch, ...].
    """

    inputs: tuple[Tensor, ...]
    targets: Tensor
    extra: dict[str, Tensor] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def n_tokens(self) -> int:
        """Positions that are read or written, padding included: what the arithmetic costs."""
        return sum(ids.shape[0] * ids.shape[1] for ids in self.inputs)

    @property
    def n_asked(self) -> int:
        """How many answers the targets ask for."""
        if self.targets.is_floating_point():
            return self.targets.numel()
        return int((self.targets != IGNORED).sum())

    def to(self, device: torch.device | str) -> Batch:
        """The same on another device."""
        extra = {name: value.to(device) for name, value in self.extra.items()}
        return Batch(tuple(i.to(device) for i in self.inputs), self.targets.to(device), extra)

    def split(self, n_parts: int) -> list[Batch]:
        """At most `n_parts` batches of nearly the same size, in order."""
        inputs = [ids.tensor_split(n_parts) for ids in self.inputs]
        extra = {name: value.tensor_split(n_parts) for name, value in self.extra.items()}
        parts = [
            Batch(tuple(ids[at] for ids in inputs), targets, {name: v[at] for name, v in extra.items()})
            for at, targets in enumerate(self.targets.tensor_split(n_parts))
        ]
        return [part for part in parts if len(part)]


class Advice(NamedTuple):
    """A value of a setting that suits a text better than the one it was read with, and the sentence why."""

    setting: str
    value: Any
    because: str


@dataclass(frozen=True)
class Reading:
    """One example as a model reads it, to be traced: batch size 1, and a label for every position.

    tokens: labels under "encoder", "decoder" or both, as in `Trace.tokens`. picture: [row, column], 0..1, or
    [row, column, 3] in colour, where positions are parts of one. unknown: words that the model does not know.
    answer: what the model wrote after the text, as text. following: what the decoder goes on with after its
    last token, if that is known. forced: whether the answer was given to the model. advice: a setting that
    would suit the text better. allowed: a mask beside the model's own, [1, 1, query, key].
    """

    inputs: tuple[Tensor, ...]
    tokens: dict[str, list[str]]
    text: str = ""
    picture: Tensor | None = None
    unknown: tuple[Unknown, ...] = ()
    answer: str = ""
    following: str | None = None
    forced: bool = False
    advice: Advice | None = None
    allowed: Tensor | None = None


class Example(NamedTuple):
    """One example of a task as it is read alone, and the right answers [position], IGNORED where none is
    asked.
    """

    reading: Reading
    targets: Tensor


class Writing(NamedTuple):
    """How a model writes after what it has read, a token at a time.

    begun: the tokens before the first that it writes. most: how many it writes. ends: what ends it.
    finished: what was read, with the tokens that were written.
    """

    begun: tuple[int, ...]
    most: int
    ends: frozenset[int]
    finished: Callable[[list[int]], Reading]


def check_room(n: int, most: int, unit: str = "tokens") -> None:
    """Raises ValueError for a text with more tokens or words than a model reads."""
    if n > most:
        raise ValueError(
            f"the text has {n:,} {unit}, but this model reads at most {most:,}; remove {n - most:,}"
        )


class Aligned(NamedTuple):
    """A query and a key whose words belong together, surely or only possibly (Och & Ney 2003)."""

    query: int
    key: int
    sure: bool


class Rarity(NamedTuple):
    """How often each token occurs, by its label; one that is missing never does. said: counted where."""

    counts: Mapping[str, int | float]
    said: str

    @classmethod
    def counted(cls, counts: Mapping[str, int | float], special: Iterable[str], where: str) -> Rarity:
        """By counts in training data; special tokens are never rare."""
        said = f"Here, rarity is by counts in {where}; special tokens do not count."
        return cls({**counts, **dict.fromkeys(special, math.inf)}, said)


class Named(NamedTuple):
    """What a model says a pronoun means; positions count the encoder's tokens, special ones included.

    `antecedent` is where the named word stands; None if it is not in the text, or is the pronoun itself.
    """

    position: int
    word: str
    probability: float
    antecedent: int | None


@dataclass(frozen=True)
class Sample:
    """Something that a model made, to be looked at: words, or pictures in 0..1, [picture, row, column]."""

    given: str = ""
    made: str = ""
    wanted: str = ""
    originals: Tensor | None = None
    pictures: Tensor | None = None
