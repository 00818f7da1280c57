"""The logit lens: what a model would answer if its stack ended early.

nostalgebraist 2020, interpreting GPT: the logit lens. The model's own last norm
and output layer read the residual stream after every layer, as they read it after the last one.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.data.tasks import Reading
from models.zoo.model import Model

Logits = Float[Tensor, "level position word"]


class Read(NamedTuple):
    """A text under the lens. passed: how many layers the stream of each level has gone through, 0 being the
    embedding; levels are before and after layers that attend.
    """

    tokens: list[str]
    words: tuple[str, ...]
    logits: Logits
    d_model: int
    passed: tuple[int, ...]


def read(model: Model, reading: Reading) -> Read:
    """Logits at every level: the model reads the text again with the stream of that level in place of the
    last layer's, so that whatever follows its layers is its own.

    Raises ValueError for a model whose positions have no answers of their own.
    """
    side = list(reading.tokens)[-1]
    layers = model.attention(f"{side}.self").layers
    addresses = [f"{side}.{layers[0]}.resid_pre", *(f"{side}.{n}.resid_post" for n in layers)]
    wanted = {*addresses, "logits"}
    whole = model.trace(reading, reduce=lambda address, x: x if address in wanted else None)
    tokens, words = reading.tokens[side], model.names(reading)
    if not words or len(whole["logits"]) != len(tokens):
        raise ValueError(
            f"{model.name!r} has no word to answer with at each of its positions, so there is nothing to "
            "read there; choose a model that says the next word, or a hidden one"
        )
    earlier = [_ended_with(model, reading, addresses[-1], whole[at]) for at in addresses[:-1]]
    logits = torch.stack([*earlier, whole["logits"]])[..., : len(words)]
    return Read(
        tokens, tuple(words), logits, whole[addresses[0]].shape[-1], (layers[0], *(n + 1 for n in layers))
    )


def _ended_with(model: Model, reading: Reading, last: str, stream: Tensor) -> Tensor:
    """The model's logits where `stream` stands at the address that is the last of its layers'."""
    trace = model.trace(
        reading,
        reduce=lambda address, x: x if address == "logits" else None,
        edit=lambda address, x: stream if address == last else x,
    )
    logits: Tensor = trace["logits"]
    return logits


def answers(logits: Logits) -> Int[Tensor, "level position"]:
    """The word that each level finds the likeliest."""
    return logits.argmax(dim=-1)


def probability_of(logits: Logits, words: Int[Tensor, "*level position"]) -> Float[Tensor, "level position"]:
    """The probability at each level of one word for each position, or of one for each level and position."""
    words = words.expand(logits.shape[:2])
    return logits.softmax(dim=-1).gather(-1, words[..., None])[..., 0]


def rank_of(logits: Logits, words: Int[Tensor, "position"]) -> Int[Tensor, "level position"]:
    """The place of a word in the order of each level: 1 is the likeliest."""
    own = logits.gather(-1, words.expand(logits.shape[:2])[..., None])
    return 1 + (logits > own).sum(dim=-1)


def entropy(logits: Logits) -> Float[Tensor, "level position"]:
    """The entropy of each level's distribution, in nats."""
    p = logits.softmax(dim=-1)
    return -(p * p.clamp(min=1e-30).log()).sum(dim=-1)


def divergence(logits: Logits) -> Float[Tensor, "level position"]:
    """KL(final || level) in nats: what is lost by answering from there; 0 at the last level."""
    log_p = logits.log_softmax(dim=-1)
    return (log_p[-1].exp() * (log_p[-1] - log_p)).sum(dim=-1)


def settled(logits: Logits) -> Int[Tensor, "position"]:
    """The first level from which on the likeliest word is the final one."""
    same = answers(logits) == answers(logits)[-1]  # [level, position]
    agreeing = same.flip(0).cumprod(dim=0).sum(dim=0)  # how many levels, counted from the last
    return len(logits) - agreeing
