"""T5's relative bias: one trained number for each head and each bucket of distances."""

import math

import torch
from jaxtyping import Int
from torch import Tensor, nn

from ...config import ModelConfig
from ..position_scheme import (
    Bias,
    ByDistance,
    Keys,
    OneText,
    PositionScheme,
    Queries,
    by_query_and_key,
    distances,
    register,
)
from ..position_scheme import key_minus_query as key_minus_query


def relative_buckets(
    distance: Int[Tensor, "*shape"], bidirectional: bool, n_buckets: int = 32, max_distance: int = 128
) -> Int[Tensor, "*shape"]:
    """The bucket of each distance (query position minus key position), 0 to n_buckets - 1.

    Raffel et al. 2020, 2.1, as in their code: half of the buckets hold one distance each, the rest grow
    logarithmically up to `max_distance`, and all beyond share the last. Bidirectional: later keys have the
    upper half of the buckets to themselves. Otherwise later keys, which are masked, count as distance 0.
    Raises ValueError when the buckets cannot be cut so.
    """
    one_way = n_buckets // 2 if bidirectional else n_buckets
    exact = one_way // 2
    if exact < 1 or max_distance <= exact:
        raise ValueError(
            f"n_buckets={n_buckets}, max_distance={max_distance}: a direction needs 2 buckets or more, and "
            "max_distance must exceed half of them; try n_buckets=32, max_distance=128"
        )
    later = (distance < 0) * one_way if bidirectional else 0
    distance = distance.abs() if bidirectional else distance.clamp(min=0)
    # In float32, like T5's code: another precision would round some distances into a neighbouring bucket.
    growth = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact)
    logarithmic = (exact + (growth * (one_way - exact)).long()).clamp(max=one_way - 1)
    return torch.where(distance < exact, distance, logarithmic) + later


@register("t5")
class RelativeBias(PositionScheme):
    """Adds to the scores what is trained for the head and the bucket; one table serves all layers."""

    def __init__(self, config: ModelConfig, *, causal: bool = False) -> None:
        super().__init__(config)
        self.bidirectional = not causal
        self.table = nn.Embedding(32, config.n_heads)  # [bucket, head]

    def bias(self, q: Queries, k: Keys, *, layer: int, scale: float) -> Bias:
        """The same in every layer and for every content, [1, head, query, key]."""
        n_query, n_key = q.shape[2], k.shape[2]
        buckets = relative_buckets(distances(n_query, n_key, device=q.device), self.bidirectional)
        per_distance = self.table(buckets).T[:, None].expand(-1, n_query, -1)  # [head, query, distance]
        return by_query_and_key(per_distance, n_key)[None]

    def added(self, q: OneText, k: OneText, *, layer: int, scale: float, causal: bool) -> ByDistance:
        buckets = relative_buckets(-key_minus_query(q.shape[1], k.shape[1]), self.bidirectional)
        return ByDistance(self.table(buckets).T.detach().contiguous(), q.shape[1])
