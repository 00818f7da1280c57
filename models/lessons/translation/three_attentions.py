"""The three attentions of an encoder-decoder (Vaswani et al. 2017, 3.2.3): one computation, other inputs."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from models.engine.trace import Trace


class Use(NamedTuple):
    """One of the three: whose tokens ask, whose are looked at, and whether later ones are hidden."""

    name: str
    address: str
    queries: str
    keys: str
    is_causal: bool


USES = (
    Use("encoder self-attention", "encoder.{layer}.self", "source", "source", False),
    Use("decoder self-attention, masked", "decoder.{layer}.self", "target", "target", True),
    Use("cross-attention", "decoder.{layer}.cross", "target", "memory", False),
)


class Vectors(NamedTuple):
    """A layer's queries, keys and values in one of the three attentions."""

    q: Float[Tensor, "head query d_head"]
    k: Float[Tensor, "head key d_head"]
    v: Float[Tensor, "head key d_head"]


def vectors(trace: Trace, use: Use, layer: int) -> Vectors:
    """What the model computed for them."""
    at = use.address.format(layer=layer)
    return Vectors(trace[f"{at}.q"], trace[f"{at}.k"], trace[f"{at}.v"])


def pattern(given: Vectors, use: Use) -> tuple[Float[Tensor, "head query key"], Bool[Tensor, "query key"]]:
    """softmax(q k^T / sqrt(d_head)) (equation 1), and where a query may look: causally, or everywhere."""
    n_query, n_key, d_head = given.q.shape[1], given.k.shape[1], given.q.shape[2]
    scores = given.q @ given.k.mT / math.sqrt(d_head)  # [head, query, key]
    may = torch.ones(n_query, n_key, dtype=torch.bool)
    if use.is_causal:
        may = may.tril()
    return scores.masked_fill(~may, -math.inf).softmax(dim=-1), may
