"""Transformer-XL's relative positions: content and distance, asked and answered separately."""

import torch
from torch import nn

from ...config import ModelConfig
from ..position_scheme import (
    Bias,
    ByQueryAndDistance,
    Keys,
    OneText,
    PositionScheme,
    Queries,
    by_query_and_key,
    distances,
    register,
    waves,
)
from ..position_scheme import key_minus_query as key_minus_query


@register("transformer-xl")
class TransformerXL(PositionScheme):
    """Scores (q + u) . k + (q + v) . W_R r, all times the scale, r being the waves at the distance.

    Dai et al. 2019, 3.3: of the four terms, q . k is attention's own and the others are the bias: q . W_R r
    (what the query makes of the distance), u . k (how much a key matters to everybody) and v . W_R r (how
    much a distance does). As in the paper's formula and its code, u and v (one vector a head) are shared by
    all layers, and W_R is each layer's own. A later key's distance is negative, so that an encoder tells
    before from after.
    """

    keeps_bias = True

    def __init__(self, config: ModelConfig, *, causal: bool = False) -> None:
        super().__init__(config)
        self.d_model = config.d_model
        per_head = (config.n_heads, 1, config.head_size)  # for all positions alike
        self.u = nn.Parameter(torch.randn(per_head) * 0.02)  # the deviation of the paper's code
        self.v = nn.Parameter(torch.randn(per_head) * 0.02)
        width = config.n_heads * config.head_size
        self.r_proj = nn.ModuleList(
            nn.Linear(config.d_model, width, bias=False) for _ in range(config.n_layers)
        )

    @classmethod
    def n_parameters(cls, config: ModelConfig) -> int:
        """u and v, and W_R of each layer."""
        width = config.n_heads * config.head_size
        return 2 * width + config.n_layers * config.d_model * width

    def bias(self, q: Queries, k: Keys, *, layer: int, scale: float) -> Bias:
        """The three terms that positions add to scale * q . k, [batch, head, query, key]."""
        n_heads, n_query, n_key = q.shape[1], q.shape[2], k.shape[2]
        r = waves(distances(n_query, n_key, device=q.device), self.d_model).to(q.dtype).to(q.device)
        r = self.r_proj[layer](r).unflatten(-1, (n_heads, -1)).transpose(0, 1)  # [head, distance, d_head]
        of_distance = by_query_and_key((q + self.v) @ r.mT, n_key)
        of_key = self.u @ k.mT  # [batch, head, 1, key]
        return scale * (of_distance + of_key)

    def added(self, q: OneText, k: OneText, *, layer: int, scale: float, causal: bool) -> ByQueryAndDistance:
        n_heads, n_query, n_key = q.shape[0], q.shape[1], k.shape[1]
        away = -key_minus_query(n_query, 1 if causal else n_key)  # of a causal stack, no later keys
        answers = self.r_proj[layer](waves(away, self.d_model).to(q)).unflatten(-1, (n_heads, -1))
        of_key = scale * (self.u @ k.mT)[:, 0]
        return ByQueryAndDistance(q, self.v, scale, answers.transpose(0, 1).contiguous(), of_key)
