"""How surprised a model is by each token of a real text, in nats, bits, and as perplexity."""

import re
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.data.tasks import Reading
from models.lessons.objective.entropy import bits
from models.zoo.model import Model

_BYTES = re.compile("(?:<0x[0-9A-F]{2}>)+")
"""Tokens that are no characters, as models name them."""


@dataclass(frozen=True)
class Reader:
    """What a language model expected at each token but the first, before which it has read nothing.

    tokens: those that were predicted. nats: -ln of the probability that each had. n_words: of the whole text;
    n_characters and n_bytes (in UTF-8): of what the predicted tokens spell. n_choices: tokens that the model
    chooses from.
    """

    tokens: list[str]
    nats: Float[Tensor, " token"]
    n_words: int
    n_characters: int
    n_bytes: int
    n_choices: int

    @property
    def by_letter(self) -> bool:
        """Whether every token is one character."""
        return len(self.tokens) == self.n_characters and all(len(token) == 1 for token in self.tokens)

    @property
    def bits_in_all(self) -> float:
        return bits(self.nats.sum()).item()

    @property
    def bits_per_token(self) -> float:
        return bits(self.nats.mean()).item()

    @property
    def bits_per_character(self) -> float:
        return self.bits_in_all / self.n_characters

    @property
    def bits_per_byte(self) -> float:
        return self.bits_in_all / self.n_bytes

    @property
    def bits_per_word(self) -> float:
        """All bits of the text over its words: the same surprise, counted in larger pieces."""
        return self.bits_in_all / self.n_words

    @property
    def perplexity(self) -> float:
        """e^nats: how many equally likely tokens would surprise as much, on average."""
        return self.nats.mean().exp().item()


@torch.no_grad()
def surprise(lm: Model, reading: Reading) -> Reader:
    """-ln p(token | all tokens before it), for each token from the second on.

    Raises ValueError for a model that does not say at each token which one follows, for what it does not
    know, and where there is no second token.
    """
    check_continues(lm)
    if reading.unknown:
        raise ValueError(f"the model has never seen {reading.unknown[0].text!r}; leave it out")
    (ids,) = reading.inputs  # [1, token]
    spelt = _spelt(reading)
    if ids.shape[1] < 2 or not spelt or not reading.text.split():
        raise ValueError("the text has no letter after its first token; write a few words")
    trace = lm.trace(reading, reduce=lambda address, x: x if address == "logits" else None)
    log_p = trace["logits"][:-1].double().log_softmax(dim=-1)  # [token, choice]
    nats = -log_p[torch.arange(len(log_p)), ids[0, 1:].to(log_p.device)]
    return Reader(
        tokens=reading.tokens["decoder"][1:],
        nats=nats,
        n_words=len(reading.text.split()),
        n_characters=len(spelt.decode(errors="ignore")),
        n_bytes=len(spelt),
        n_choices=log_p.shape[-1],
    )


def check_continues(lm: Model) -> None:
    """Raises ValueError for a model that does not say which token follows."""
    if "continue" not in lm.abilities:
        raise ValueError(
            f"{lm.name!r} does not say at each token which one follows, so a text has no bits there; choose "
            "a model that continues texts, such as shakespeare or a GPT"
        )


def _spelt(reading: Reading) -> bytes:
    """The text without the first token, which is given; all of it where that one spells nothing of it."""
    text, first = reading.text.encode(), reading.tokens["decoder"][0]
    is_bytes = _BYTES.fullmatch(first)
    raw = bytes.fromhex(re.sub("<0x|>", "", first)) if is_bytes else first.encode()
    return next((text.removeprefix(own) for own in (raw, raw.lstrip()) if own and text.startswith(own)), text)


def running_mean(values: Float[Tensor, " token"]) -> Float[Tensor, " token"]:
    """The mean of the first 1, 2, 3, ... values."""
    return values.cumsum(dim=0) / torch.arange(1, len(values) + 1)
