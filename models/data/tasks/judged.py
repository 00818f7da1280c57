"""What a model did with each example of a batch: scores, intervals and lists of errors stand on it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from models.data.tasks.batch import IGNORED, Batch


class Each(NamedTuple):
    """For each example a sum, and what it is divided by: the score of some is their sums' quotient."""

    above: Float[Tensor, " example"]
    below: Float[Tensor, " example"]

    def joined(self, other: Each) -> Each:
        """Those of both, one after the other."""
        return Each(torch.cat([self.above, other.above]), torch.cat([self.below, other.below]))


class At(NamedTuple):
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

    def loss(self, asked: Bool[Tensor, "example position"] | None = None) -> Each:
        """Nats per answer, of those that are asked or of some of them."""
        counted = self.asked if asked is None else asked
        return per_example(self.nats, counted)

    def shares(self, asked: Bool[Tensor, "example position"] | None = None) -> Each:
        """Answers that are right, of those that are asked or of some of them."""
        counted = self.asked if asked is None else asked
        return per_example(self.right.double(), counted)

    def whole(self) -> Each:
        """Examples that are right throughout."""
        return of_examples((self.right | ~self.asked).all(dim=1))


class Judged(NamedTuple):
    """Losses by the names of `Task.terms`, and the scores, the most important first; for each example."""

    losses: dict[str, Each]
    scores: dict[str, Each]


def per_example(values: Float[Tensor, "example position"], counted: Bool[Tensor, "example position"]) -> Each:
    """Sums of what counts of each example, and how much counts."""
    return Each(torch.where(counted, values, 0.0).double().sum(dim=1), counted.double().sum(dim=1))


def of_examples(right: Tensor, counted: Tensor | None = None) -> Each:
    """The share of examples [example] that are right, of all or of those that count."""
    counts = torch.ones_like(right, dtype=torch.bool) if counted is None else counted.bool()
    return Each((right.bool() & counts).double(), counts.double())


def answers_at(logits: Tensor, targets: Tensor, batch: Batch) -> At:
    """From logits [answer, output] and targets [answer] of what a batch asks, or of all its positions."""
    logits, asked = logits.float(), batch.targets != IGNORED
    nats = cross_entropy(logits, targets, ignore_index=IGNORED, reduction="none")
    top, best = logits.max(dim=-1)
    sure = (top - logits.logsumexp(dim=-1)).exp()
    place = asked if len(targets) != asked.numel() else torch.ones_like(asked)

    def spread(values: Tensor) -> Tensor:
        found = torch.zeros(asked.shape, dtype=values.dtype, device=values.device)
        found[place] = values
        return found.cpu()

    return At(asked.cpu(), spread(nats).double(), batch.targets.cpu(), spread(best), spread(sure))
