"""Attention on a graph: tokens are nodes, and its edges are the mask."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from models.config import ModelConfig
from models.engine.attention import MultiHeadAttention
from models.engine.trace import Trace, within
from models.engine.transformer import Transformer

CHANNELS = 4


class Step(NamedTuple):
    """One head of attention over the nodes' features."""

    features: Float[Tensor, "node channel"]
    scores: Float[Tensor, "query key"]
    pattern: Float[Tensor, "query key"]
    out: Float[Tensor, "node channel"]


def features_of(n: int, seed: int) -> Float[Tensor, "node channel"]:
    """Standard normal numbers for n nodes, one decimal each."""
    return torch.randn(n, CHANNELS, generator=torch.Generator().manual_seed(seed)).round(decimals=1)


@torch.no_grad()
def step(features: Float[Tensor, "node channel"], allowed: Bool[Tensor, "n n"], *, seed: int = 0) -> Step:
    """The engine's own attention, with random weights from `seed`, on nodes that see their neighbours.

    Graph attention (Velickovic et al. 2018) scores a pair by a small network; this is the Transformer's
    q · k under the same mask.
    """
    trace = Trace()
    out = _attention(features.shape[1], seed)(
        features[None], features[None], allowed[None, None], trace=within(trace, "nodes")
    )
    return Step(features, trace["nodes.scores"][0], trace["nodes.pattern"][0], out[0])


def answers(
    features: Float[Tensor, "node channel"], allowed: Bool[Tensor, "n n"], changed: int, *, seed: int = 0
) -> Float[Tensor, " node"]:
    """How far each node's output moves (Euclidean) when the features of node `changed` grow by 1."""
    other = features.clone()
    other[changed] += 1
    difference = step(other, allowed, seed=seed).out - step(features, allowed, seed=seed).out
    return difference.norm(dim=-1)


def _attention(width: int, seed: int) -> MultiHeadAttention:
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=1, d_model=width, vocab_size=1, max_len=1, positions="none"
    )
    model = Transformer(config, seed=seed)
    return next(module for module in model.modules() if isinstance(module, MultiHeadAttention))
