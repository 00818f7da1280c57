"""The logit lens: what a model would answer if its stack ended early.

nostalgebraist 2020, interpreting GPT: the logit lens. The model's own last norm
and output layer read the residual stream after every layer, as they read it after the last one.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.zoo.trained import TrainedModel

Logits = Float[Tensor, "level position word"]


class Read(NamedTuple):
    """A text under the lens. Level 0 is the embedding, level n the stream after n layers."""

    tokens: list[str]
    words: tuple[str, ...]
    logits: Logits


@torch.no_grad()
def read(model: TrainedModel[Any], text: str) -> Read:
    """Logits at every level. Raises ValueError for a text that the model's task cannot read."""
    reading = model.read(text)
    trace = model.trace(reading)
    stack, layers = model.config.stacks[0], range(model.config.n_layers)
    stream = [trace[f"{stack}.0.resid_pre"], *(trace[f"{stack}.{n}.resid_post"] for n in layers)]
    logits = [model.model.unembed(last_norm(model)(x)) for x in stream]
    return Read(trace.tokens[stack], model.outputs, torch.stack(logits))


def last_norm(model: TrainedModel[Any]) -> torch.nn.Module:
    """The norm between the last layer and the output layer; without pre-norm it does nothing."""
    stack = model.model.encoder or model.model.decoder
    assert stack is not None
    return stack.norm


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
