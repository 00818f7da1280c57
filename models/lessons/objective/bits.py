"""How surprised a model is by each letter of a real text, in nats, bits, and as perplexity."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from models.lessons.objective.entropy import bits
from models.zoo.trained import TrainedModel


@dataclass(frozen=True)
class Reader:
    """What a language model expected at each letter but the first, before which it has read nothing."""

    letters: list[str]
    """Those that were predicted."""
    nats: Float[Tensor, " letter"]
    """-ln of the probability that the letter had."""
    n_words: int
    n_choices: int
    """Letters that the model chooses from."""

    @property
    def bits_per_letter(self) -> float:
        return bits(self.nats.mean()).item()

    @property
    def bits_per_word(self) -> float:
        """All bits of the text over its words: the same surprise, counted in larger pieces."""
        return bits(self.nats.sum()).item() / self.n_words

    @property
    def perplexity(self) -> float:
        """e^nats: how many equally likely letters would surprise as much, on average."""
        return self.nats.mean().exp().item()


@torch.no_grad()
def surprise(lm: TrainedModel[Any], text: str) -> Reader:
    """-ln p(letter | all letters before it), for each letter from the second on.

    Raises ValueError for texts that the model cannot read, and where there is no second letter.
    """
    reading = lm.read(text)
    if reading.unknown:
        raise ValueError(f"the model has never seen {reading.unknown[0].text!r}; use plain English letters")
    (ids,) = reading.inputs  # [1, letter]
    if ids.shape[1] < 2 or not text.split():
        raise ValueError("the text has no letter after its first; write a few words")
    log_p = lm.model(ids)[0, :-1].double().log_softmax(dim=-1)  # [letter, choice]
    nats = -log_p[torch.arange(len(log_p)), ids[0, 1:]]
    return Reader(reading.tokens["decoder"][1:], nats, len(text.split()), log_p.shape[-1])


def running_mean(values: Float[Tensor, " letter"]) -> Float[Tensor, " letter"]:
    """The mean of the first 1, 2, 3, ... values."""
    return values.cumsum(dim=0) / torch.arange(1, len(values) + 1)
