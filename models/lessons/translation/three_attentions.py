"""The three attentions of an encoder-decoder (Vaswani et al. 2017, 3.2.3): one computation, other inputs."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from models.data.tasks import Reading
from models.engine.trace import Trace
from models.zoo.model import Attention, Model


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


@dataclass(frozen=True)
class Looked:
    """One of the three in all layers of a model: its patterns, and what its heads have in common.

    may: where a query looks in some head of some layer.
    """

    attention: Attention
    patterns: Float[Tensor, "layer head query key"]
    may: Bool[Tensor, "query key"]

    def of(self, layer: int, head: int) -> Float[Tensor, "query key"]:
        """The pattern of a head of the layer of this number."""
        return self.patterns[self.attention.layers.index(layer), head]


def stack_of(use: Use) -> str:
    """The family of attentions that it is one of, such as "encoder.self"."""
    return use.address.replace(".{layer}", "")


def computed(trace: Trace, use: Use, attention: Attention) -> Looked:
    """Its patterns in every layer of a trace, from queries and keys alone."""
    made = [pattern(vectors(trace, use, layer), use) for layer in attention.layers]
    return Looked(attention, torch.stack([weights for weights, _ in made]), made[0][1])


def of_model(model: Model, reading: Reading) -> list[Looked]:
    """All three as an encoder-decoder computes them itself, with whatever it adds to its scores.

    Raises ValueError for a model that has not all three.
    """
    there = model.stacks(tuple(reading.tokens))
    if missing := [stack_of(use) for use in USES if stack_of(use) not in there]:
        raise ValueError(
            f"{model.name!r} has no {' and no '.join(missing)}; choose an encoder-decoder, such as the "
            "translator or a T5"
        )
    trace = model.trace(reading, reduce=lambda address, x: x if address.endswith(".pattern") else None)
    looked = []
    for use in USES:
        attention = model.attention(stack_of(use))
        layers = [trace[f"{use.address.format(layer=at)}.pattern"] for at in attention.layers]
        patterns = torch.stack(layers)
        looked.append(Looked(attention, patterns, (patterns > 0).any(dim=0).any(dim=0)))
    return looked
