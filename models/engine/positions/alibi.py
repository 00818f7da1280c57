"""ALiBi: attention with linear biases. A key loses score with its distance, in each head at another rate."""

import math
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from ...config import ModelConfig
from ..position_scheme import Bias, ByDistance, Keys, OneText, PositionScheme, Queries, register
from ..position_scheme import key_minus_query as key_minus_query


def alibi_slopes(n_heads: int) -> Float[Tensor, " head"]:
    """Score lost per position of distance, float64: 2^(-8/n), 2^(-16/n), ..., 2^-8 for n heads.

    Press et al. 2022, section 3. If n is no power of 2, as in their code: the slopes of the next power below,
    then every other slope of the next power above.
    """
    below = 2 ** int(math.log2(n_heads))
    step = 8 / below
    exponents = [step * (i + 1) for i in range(below)] + [step * (i + 0.5) for i in range(n_heads - below)]
    return 2.0 ** -torch.tensor(exponents, dtype=torch.float64)


def alibi_bias(
    n_heads: int,
    n_query: int,
    n_key: int,
    *,
    dtype: torch.dtype = torch.float64,
    device: torch.device | None = None,
) -> Float[Tensor, "head n_query n_key"]:
    """-slope * |query position - key position|; the last query stands at the last key.

    The paper has causal models only, where this is its bias. To both sides alike, as the authors later
    suggested for encoders, it cannot tell before from after.
    """
    query = torch.arange(n_key - n_query, n_key, device=device)[:, None]
    distance = (query - torch.arange(n_key, device=device)).abs()  # [query, key]
    return -_slopes_at(n_heads, dtype, device)[:, None, None] * distance


@lru_cache(maxsize=8)
def _slopes_at(n_heads: int, dtype: torch.dtype, device: torch.device | None) -> Tensor:
    """`alibi_slopes` on a device, to which they are copied once and not in every layer."""
    with torch.inference_mode(False):  # training may read what a look has kept
        return alibi_slopes(n_heads).to(dtype).to(device)


@register("alibi")
class Alibi(PositionScheme):
    """Adds `alibi_bias` to the scores: fixed, nothing to train."""

    def __init__(self, config: ModelConfig, *, causal: bool = False) -> None:
        super().__init__(config)
        self.n_heads = config.n_heads

    def bias(self, q: Queries, k: Keys, *, layer: int, scale: float) -> Bias:
        """The same in every layer and for every content, [1, head, query, key]."""
        return alibi_bias(self.n_heads, q.shape[2], k.shape[2], dtype=q.dtype, device=q.device)[None]

    def added(self, q: OneText, k: OneText, *, layer: int, scale: float, causal: bool) -> ByDistance:
        away = key_minus_query(q.shape[1], k.shape[1]).abs()
        return ByDistance(-alibi_slopes(self.n_heads).to(q)[:, None] * away, q.shape[1])
