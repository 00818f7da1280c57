"""Scalable softmax: scores grow with the keys that a query sees (Nakanishi 2025, arXiv 2501.19399)."""

import math

import torch
from torch import Tensor, nn

from ...config import ModelConfig
from ..normalizer import Mask, Normalizer, Scores, open_keys, register


@register("scalable-softmax")
class ScalableSoftmax(Normalizer):
    """n^(t s_i) / sum of n^(t s_j), n being the keys that the query sees and t learnt by each head.

    The largest weight of a softmax fades as texts grow; this one's does not. t starts where a text of
    max_len tokens has a plain softmax.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.steepness = nn.Parameter(torch.full((config.n_heads,), 1 / math.log(max(config.max_len, 2))))

    def forward(self, scores: Scores, mask: Mask | None) -> Scores:
        steepness: Tensor = self.steepness.to(scores.dtype)[:, None, None]
        factor = steepness * open_keys(scores, mask).log()  # [batch or 1, head, query or 1, 1]
        if mask is None:
            return (scores * factor).softmax(dim=-1)
        some = mask.any(dim=-1, keepdim=True)
        scores = (scores.masked_fill(~mask, 0.0) * factor).masked_fill(~mask & some, -torch.inf)
        return scores.softmax(dim=-1) * some  # zeros where all are masked
