"""Longer than trained: the same models, asked for more words than any training window had."""

from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Tensor

from models.data.tasks.next_word import NextWord
from models.zoo.engine_model import TrainedModel


class Asked(NamedTuple):
    """A model asked for a length: the mean loss at each position (nats), or why there is none."""

    losses: Float[Tensor, " position"] | None
    refusal: str = ""

    def between(self, start: int, end: int) -> float | None:
        """Mean loss at positions start + 1 to end; None where the model has no answer."""
        return None if self.losses is None else self.losses[start:end].mean().item()


def ask(lm: TrainedModel[NextWord], texts: Int[Tensor, "text word"], length: int) -> Asked:
    """Reads the first `length` words of each text and predicts the word after each of them."""
    try:
        return Asked(lm.task.nats(lm.model, texts[:, : length + 1]).mean(dim=0))
    except ValueError as refusal:
        return Asked(None, str(refusal))


def in_buckets(losses: Float[Tensor, " position"], width: int) -> Float[Tensor, " bucket"]:
    """Means over `width` positions each; the length must be a multiple of it."""
    return losses.unflatten(0, (-1, width)).mean(dim=-1)
