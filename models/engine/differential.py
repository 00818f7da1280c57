"""Differential attention: heads stand in pairs, and each pair hands on a difference of two mixtures."""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from ..config import ModelConfig
from .trace import Scope, record


class Difference(nn.Module):
    """Each pair of heads hands on a difference of mixtures (Ye et al. 2024, arXiv 2410.05258, 2.1).

    Head i and head i + n_heads / 2 are a pair. Each has a pattern of its own, and mixes the values of both
    key heads of its pair, side by side. Of the first head's mixture the second's is taken away, times
    lambda = exp(q1 . k1) - exp(q2 . k2) + lambda_init, which is learnt, one number a layer. What is left is
    divided by its root mean square and multiplied by 1 - lambda_init, without a gain, as DiffLlama of
    transformers does. In the first layer lambda_init is 0.2; in later ones it comes near 0.8.
    """

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.n_pairs, self.eps = config.n_heads // 2, config.norm_eps
        self.initial = 0.8 - 0.6 * math.exp(-0.3 * layer)
        vectors = (nn.Parameter(0.1 * torch.randn(config.head_size)) for _ in range(4))
        self.q1, self.k1, self.q2, self.k2 = vectors

    def values(self, v: Float[Tensor, "batch key_head key d_head"]) -> Float[Tensor, "batch key_head key _"]:
        """Each key head's own value and its partner's side by side, for both: [..., 2 * d_head]."""
        return torch.cat(v.chunk(2, dim=1), dim=-1).repeat(1, 2, 1, 1)

    def forward(
        self, z: Float[Tensor, "batch query width"], *, trace: Scope | None = None
    ) -> Float[Tensor, "batch query half_width"]:
        """All heads' z side by side, 2 * d_head channels each, as pairs side by side.

        A trace holds each head's share of them, too: those of a pair add up to what it hands on.
        """
        z = z.unflatten(-1, (2 * self.n_pairs, -1)).transpose(1, 2)  # [batch, head, query, 2 * d_head]
        first, second = z.chunk(2, dim=1)
        factor = (self.q1 @ self.k1).exp() - (self.q2 @ self.k2).exp() + self.initial
        factor = record(trace, "lambda", factor.expand(1, self.n_pairs))
        taken = factor[..., None, None] * second
        left = record(trace, "difference", first - taken)  # [batch, pair, query, 2 * d_head]
        handed = (1 - self.initial) * F.rms_norm(left, left.shape[-1:], eps=self.eps)
        if trace is not None:
            per_unit = (1 - self.initial) * (left.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt()
            taken = taken * per_unit
            shares = record(trace, "head_out", torch.cat([handed + taken, -taken], dim=1))
            handed = torch.stack(shares.chunk(2, dim=1)).sum(dim=0)
        return handed.transpose(1, 2).flatten(2)


def fused(q: Tensor, k: Tensor, v: Tensor, *, dropout: float = 0.0, **options: Any) -> Tensor:
    """PyTorch's own attention. Its fast kernels take values as wide as queries, so wider ones go through in
    parts, unless dropout draws, which has to drop the same keys of all parts.
    """
    parts = (v,) if dropout else v.split(q.shape[-1], dim=-1)
    mixed = [F.scaled_dot_product_attention(q, k, part, dropout_p=dropout, **options) for part in parts]
    return mixed[0] if len(mixed) == 1 else torch.cat(mixed, dim=-1)
