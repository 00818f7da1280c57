"""Entropy, cross-entropy and KL divergence of two distributions over words, term by term, in nats."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Terms:
    """What each word adds, y being the target and p the model's answer.

    H(y, p) = H(y) + KL(y || p) holds for every word, and so for the sums.
    """

    entropy: Float[Tensor, "*row word"]
    """-y ln y."""
    divergence: Float[Tensor, "*row word"]
    """y ln(y / p); below 0 where the model gives a word more than its target."""
    cross: Float[Tensor, "*row word"]
    """-y ln p; inf where p is 0 and y is not."""


def targets(
    words: Int[Tensor, "*position"], n_words: int, smoothing: int | float | Float[Tensor, "*position"] = 0.0
) -> Float[Tensor, "*position word"]:
    """(1 - eps) one-hot + eps / n: label smoothing with a uniform prior (Szegedy et al. 2016, section 7).

    eps = 0 is one-hot; Vaswani et al. 2017, 5.4 train with 0.1.
    """
    eps = torch.as_tensor(smoothing, dtype=torch.float64)[..., None]
    one_hot = torch.nn.functional.one_hot(words, n_words).double()
    return (1 - eps) * one_hot + eps / n_words


def normalised(parts: Float[Tensor, " word"]) -> Float[Tensor, " word"]:
    """Parts divided by their sum. Raises ValueError if one is below 0, or all are 0."""
    if (parts < 0).any():
        raise ValueError(f"p has {parts.min().item():g}, but no probability is below 0; write 0 or more")
    if parts.sum() == 0:
        raise ValueError("p is 0 for every word, but its probabilities sum to 1; give one word more than 0")
    return parts / parts.sum()


def terms(y: Float[Tensor, "*_ word"], p: Float[Tensor, "*_ word"]) -> Terms:
    """The terms of each word; y and p are broadcast against each other, and 0 ln 0 counts as 0.

    Cover and Thomas 2006, 2.1 and 2.3.
    """
    y, p = torch.broadcast_tensors(y, p)
    entropy, cross = torch.special.entr(y), -torch.xlogy(y, p)
    return Terms(entropy, cross - entropy, cross)


def with_sum(values: Float[Tensor, "*row word"]) -> Float[Tensor, "*row column"]:
    """The values, followed by their sum."""
    return torch.cat([values, values.sum(dim=-1, keepdim=True)], dim=-1)


def bits(nats: Float[Tensor, "*row"]) -> Float[Tensor, "*row"]:
    """A bit is the surprise of one of two equal chances, ln 2 nats."""
    return nats / math.log(2)
