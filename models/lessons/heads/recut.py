"""The same weights, cut into more or fewer heads."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from models.config import ModelConfig
from models.engine.attention import MultiHeadAttention
from models.engine.trace import Trace, within
from models.lessons.heads.cut import concatenate
from models.lessons.heads.reading import Reading


class Recut(NamedTuple):
    """What the layer computes when W_Q, W_K, W_V and W_O are cut into n_heads heads."""

    n_heads: int
    d_head: int
    q: Float[Tensor, "head query d_head"]
    k: Float[Tensor, "head key d_head"]
    v: Float[Tensor, "head key d_head"]
    scores: Float[Tensor, "head query key"]
    pattern: Float[Tensor, "head query key"]
    out: Float[Tensor, "query d_model"]


def recuts(reading: Reading, head_counts: Sequence[int] = (1, 2, 4, 8)) -> list[Recut]:
    """The layer on the same input with each number of heads; the scale follows d_head.

    Raises ValueError for a number of heads that does not divide the columns of W_Q.
    """
    return [recut(reading, n_heads) for n_heads in head_counts]


@torch.no_grad()
def recut(reading: Reading, n_heads: int) -> Recut:
    """The layer with the very same matrices, cut into `n_heads`. Raises as `recuts` does."""
    config = with_heads(reading.config, n_heads)
    with torch.device("meta"):  # the new layer brings no weights of its own
        attention = MultiHeadAttention(config).eval()
    attention.load_state_dict(reading.attention.state_dict(), assign=True)
    trace = Trace()
    attention(reading.x[None], reading.x[None], trace=within(trace, "self"))
    names = ("q", "k", "v", "scores", "pattern", "out")
    return Recut(n_heads, config.head_size, **{name: trace[f"self.{name}"] for name in names})


def with_heads(config: ModelConfig, n_heads: int) -> ModelConfig:
    """The config whose matrices are as large, in `n_heads` heads. Raises ValueError where that cannot be."""
    width = config.n_heads * config.head_size
    if width % n_heads:
        possible = [n for n in range(1, width + 1) if width % n == 0]
        below = max(n for n in possible if n < n_heads)
        above = min((n for n in possible if n > n_heads), default=None)
        near = f"{below}" if above is None else f"{below} or {above}"
        raise ValueError(f"{width} columns cannot be cut into n_heads={n_heads} equal heads; try {near}")
    return replace(config, n_heads=n_heads, d_head=width // n_heads)


def summed_dot_products(
    q: Float[Tensor, "head query d_head"], k: Float[Tensor, "head key d_head"]
) -> Float[Tensor, "query key"]:
    """q . k of each head, summed over heads: however the same channels are cut, the sum is the same."""
    return (q @ k.mT).sum(dim=0)  # [head, query, key] -> [query, key]


@torch.no_grad()
def with_one_pattern(
    attention: MultiHeadAttention, v: Float[Tensor, "head key d_head"], pattern: Float[Tensor, "query key"]
) -> Float[Tensor, "query d_model"]:
    """The layer's output if all its heads had this pattern: then the number of heads would not matter."""
    return F.linear(concatenate(pattern @ v), attention.out_proj.weight, attention.out_proj.bias)


def difference(out: Float[Tensor, "query d_model"], reference: Float[Tensor, "query d_model"]) -> float:
    """Length of the difference over the length of the reference: 0 is equal, 1 is as far as from zeros."""
    return ((out - reference).norm() / reference.norm()).item()
