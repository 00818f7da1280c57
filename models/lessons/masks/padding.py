"""Padding in cross-attention: a mask that is a rectangle, and what the padding would do without it."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from models.engine import masks
from models.lessons.masks.equation import Masked, masked_softmax

D_K = 8


class Padded(NamedTuple):
    """Cross-attention to a source that has been filled up with padding."""

    scores: Float[Tensor, "query key"]
    allowed: Bool[Tensor, "query key"]
    seen: Float[Tensor, "query key"]
    """The weights when padding is a word like any other."""
    hidden: Masked
    alone: Float[Tensor, "query word"]
    """The weights over the words when there is no padding at all."""
    wasted: Float[Tensor, " query"]
    """What each query gives to padding that nobody hides."""

    @property
    def change(self) -> float:
        """The largest difference that hidden padding makes to a weight over the words."""
        words = self.hidden.pattern[:, : self.alone.shape[1]]
        return (words - self.alone).abs().max().item()


def cross_attention(n_queries: int, n_words: int, n_padding: int, *, seed: int = 0) -> Padded:
    """Random queries and keys (standard normal, from `seed`); the last `n_padding` keys are padding."""
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(n_queries, D_K, generator=generator, dtype=torch.float64)
    words = torch.randn(n_words, D_K, generator=generator, dtype=torch.float64)
    pad = torch.randn(1, D_K, generator=generator, dtype=torch.float64)  # one token, so one key
    k = torch.cat([words, pad.expand(n_padding, -1)])
    scores = q @ k.mT / D_K**0.5  # [query, key]
    ids = torch.tensor([[1] * n_words + [0] * n_padding])
    allowed = masks.padding(ids, 0)[0, 0].expand(n_queries, -1)  # one row for all queries
    seen = scores.softmax(dim=-1)
    return Padded(
        scores,
        allowed,
        seen,
        masked_softmax(scores, allowed),
        scores[:, :n_words].softmax(dim=-1),
        seen[:, n_words:].sum(dim=-1),
    )
