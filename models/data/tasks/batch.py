"""Defines what passes between a task and its model: batches, readings, and which answers were right."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..word_tokenizer import Unknown

# What passes between a task and the model it trains.

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
        """The same on another device; a GPU fetches it by itself, from memory that is pinned for that."""
        waits = torch.device(device).type in ("cpu", "mps") or self.targets.device.type != "cpu"

        def moved(values: Tensor) -> Tensor:
            return values.to(device) if waits else values.pin_memory().to(device, non_blocking=True)

        extra = {name: moved(value) for name, value in self.extra.items()}
        return Batch(tuple(map(moved, self.inputs)), moved(self.targets), extra)

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
    """One example as it is read alone, and the right answers [position], IGNORED where none is asked."""

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
        sentence = f"Here, rarity is by counts in {where}; special tokens do not count."
        return cls({**counts, **dict.fromkeys(special, math.inf)}, sentence)


class Antecedent(NamedTuple):
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


# What a model did with each example of a batch: scores, intervals and lists of errors stand on it.


class Quotients(NamedTuple):
    """For each example a sum, and what it is divided by: the score of some is their sums' quotient."""

    above: Float[Tensor, " example"]
    below: Float[Tensor, " example"]

    def joined(self, other: Quotients) -> Quotients:
        """Those of both, one after the other."""
        return Quotients(torch.cat([self.above, other.above]), torch.cat([self.below, other.below]))


class Answers(NamedTuple):
    """The answers at every position of a batch, on the CPU; what is not `asked` has no meaning.

    nats: -ln of the right answer's probability. best: the likeliest answer. sure: its probability.
    """

    asked: Bool[Tensor, "example position"]
    nats: Float[Tensor, "example position"]
    targets: Int[Tensor, "example position"]
    best: Int[Tensor, "example position"]
    sure: Float[Tensor, "example position"]

    @property
    def right(self) -> Bool[Tensor, "example position"]:
        """Where something is asked and the likeliest answer is right."""
        return self.asked & (self.best == self.targets)

    def loss(self, asked: Bool[Tensor, "example position"] | None = None) -> Quotients:
        """Nats per answer, of those that are asked or of some of them."""
        return per_example(self.nats, self.asked if asked is None else asked)

    def shares(self, asked: Bool[Tensor, "example position"] | None = None) -> Quotients:
        """Answers that are right, of those that are asked or of some of them."""
        return per_example(self.right.double(), self.asked if asked is None else asked)

    def whole(self) -> Quotients:
        """Examples that are right throughout."""
        return of_examples((self.right | ~self.asked).all(dim=1))


class Judgement(NamedTuple):
    """Losses by the names of `Task.terms`, and the scores, the most important first; for each example."""

    losses: dict[str, Quotients]
    scores: dict[str, Quotients]


def per_example(
    values: Float[Tensor, "example position"], counted: Bool[Tensor, "example position"]
) -> Quotients:
    """Sums of what counts of each example, and how much counts."""
    return Quotients(torch.where(counted, values, 0.0).double().sum(dim=1), counted.double().sum(dim=1))


def of_examples(right: Tensor, counted: Tensor | None = None) -> Quotients:
    """The share of examples [example] that are right, of all or of those that count."""
    counts = torch.ones_like(right, dtype=torch.bool) if counted is None else counted.bool()
    return Quotients((right.bool() & counts).double(), counts.double())


def answers_at(logits: Tensor, targets: Tensor, batch: Batch) -> Answers:
    """From logits [answer, output] and targets [answer] of what a batch asks, or of all its positions."""
    logits, is_asked = logits.float(), batch.targets != IGNORED
    nats = cross_entropy(logits, targets, ignore_index=IGNORED, reduction="none")
    top, best = logits.max(dim=-1)
    sure = (top - logits.logsumexp(dim=-1)).exp()
    place = is_asked if len(targets) != is_asked.numel() else torch.ones_like(is_asked)

    def spread(values: Tensor) -> Tensor:
        whole = torch.zeros(is_asked.shape, dtype=values.dtype, device=values.device)
        whole[place] = values
        return whole.cpu()

    return Answers(is_asked.cpu(), spread(nats).double(), batch.targets.cpu(), spread(best), spread(sure))


# Random tokens, read twice in a row: a text of which nothing can be known but that it repeats.

MOST = 25
"""Different tokens of such a text, as in Olsson et al. 2022."""
LEAST = 2


class Alphabet(NamedTuple):
    """The tokens that texts of a model are made of.

    names: of every id. own: the ids of tokens that are not special. before, after: by side, "encoder" or
    "decoder", the ids that stand around a text. length: the most tokens that texts have, where it is less
    than the model can read.
    """

    names: Sequence[str]
    own: Sequence[int]
    before: Mapping[str, Sequence[int]]
    after: Mapping[str, Sequence[int]] = {}
    length: int | None = None


class Repeated(NamedTuple):
    """A reading in which `n` tokens stand twice, from the position `starts[side]` on."""

    reading: Reading
    starts: dict[str, int]
    n: int


def repeated(alphabet: Alphabet, max_len: int, seed: int) -> Repeated:
    """Different tokens of an alphabet, drawn alike often, and the same again; each side has its own.

    There are 25 of them, or as many as the alphabet has and the length takes. Raises ValueError where these
    are fewer than 2.
    """
    room = min(max_len, alphabet.length or max_len)
    longest = max(len(ids) + len(alphabet.after.get(side, ())) for side, ids in alphabet.before.items())
    n = min(MOST, (room - longest) // 2, len(alphabet.own))
    if n < LEAST:
        raise ValueError(
            f"a text of {room} tokens, {len(alphabet.own)} different, has no room for {LEAST} random "
            "tokens twice; choose a model of longer texts"
        )
    inputs, tokens = [], {}
    for side, before in alphabet.before.items():
        half = random.Random(f"{seed} {side}").sample(alphabet.own, n)
        ids = [*before, *half, *half, *alphabet.after.get(side, ())]
        inputs.append(torch.tensor([ids]))
        tokens[side] = [alphabet.names[id_] for id_ in ids]
    starts = {side: len(before) for side, before in alphabet.before.items()}
    return Repeated(Reading(tuple(inputs), tokens), starts, n)
