"""Sinusoidal positions: fixed waves, added to the embeddings."""

from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from ...config import ModelConfig
from ..position_scheme import PositionScheme, register, waves


def sinusoids(
    n_positions: int, d_model: int, base: int | float = 10_000.0
) -> Float[Tensor, "position d_model"]:
    """Sines in even channels, cosines in odd ones, float64; wavelengths from 2 pi to base * 2 pi positions.

    Vaswani et al. 2017, 3.5. An odd d_model ends with a sine.
    """
    return waves(torch.arange(n_positions), d_model, base)


@lru_cache(maxsize=8)
def _table(n_positions: int, d_model: int, dtype: torch.dtype) -> Tensor:
    """`sinusoids`, remembered: a page that makes a model with every move of a slider asks for them again."""
    return sinusoids(n_positions, d_model).to(dtype)


@register("sinusoidal")
class Sinusoidal(PositionScheme):
    """Adds fixed waves; see `sinusoids`."""

    def __init__(self, config: ModelConfig, *, causal: bool = False) -> None:
        super().__init__(config)
        self._size = (config.max_len, config.d_model)
        # A buffer would be rounded once and for all by `.float()` and written into every checkpoint.
        self._table = _table(*self._size, torch.get_default_dtype())

    @classmethod
    def n_parameters(cls, config: ModelConfig) -> int:
        """None: the waves are computed."""
        return 0

    def forward(
        self, embeddings: Float[Tensor, "batch position d_model"], start: int = 0
    ) -> Float[Tensor, "batch position d_model"]:
        """Embeddings plus the waves at start, start + 1, ..."""
        if self._table.dtype != embeddings.dtype or self._table.device != embeddings.device:
            self._table = sinusoids(*self._size).to(embeddings.dtype).to(embeddings.device)
        return embeddings + self._table[start : start + embeddings.shape[1]]
