"""How a model knows the order of its tokens: an open registry of schemes.

A scheme is a module built from the config; each stack owns one. It acts on the embeddings through `forward`.
A new one is a subclass under a new name:

    @register("alternating")
    class Alternating(PositionScheme):
        def forward(self, embeddings, start=0): ...
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from models.config import POSITION_SCHEMES, ModelConfig


class PositionScheme(nn.Module):
    """Leaves the embeddings as they are; the base of every scheme."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()

    def forward(
        self, embeddings: Float[Tensor, "batch position d_model"], start: int = 0
    ) -> Float[Tensor, "batch position d_model"]:
        """Embeddings that know their positions; `start` is the first one's (above 0 under a cache)."""
        return embeddings


POSITIONS: dict[str, type[PositionScheme]] = {"none": PositionScheme}
Scheme = TypeVar("Scheme", bound=type[PositionScheme])


def register(name: str) -> Callable[[Scheme], Scheme]:
    """Enters a scheme into `POSITIONS`. Raises ValueError when the name is taken."""

    def enter(scheme: Scheme) -> Scheme:
        if name in POSITIONS:
            raise ValueError(f"positions={name!r} is registered already; choose a name of its own")
        POSITIONS[name] = scheme
        if name not in POSITION_SCHEMES:
            POSITION_SCHEMES.append(name)
        return scheme

    return enter


def sinusoids(n_positions: int, d_model: int) -> Float[Tensor, "position d_model"]:
    """Sines in even channels, cosines in odd ones, float64; wavelengths from 2 pi to 10,000 * 2 pi positions.

    Vaswani et al. 2017, 3.5. An odd d_model ends with a sine.
    """
    position = torch.arange(n_positions, dtype=torch.float64)[:, None]
    even_channel = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position * torch.exp(-math.log(10_000.0) * even_channel / d_model)  # [position, channel pair]
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :d_model]


@lru_cache(maxsize=8)
def _table(n_positions: int, d_model: int, dtype: torch.dtype) -> Tensor:
    """`sinusoids`, remembered: a page that makes a model with every move of a slider asks for them again."""
    return sinusoids(n_positions, d_model).to(dtype)


@register("sinusoidal")
class Sinusoidal(PositionScheme):
    """Adds fixed waves; see `sinusoids`."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self._size = (config.max_len, config.d_model)
        # A buffer would be rounded once and for all by `.float()` and written into every checkpoint.
        self._table = _table(*self._size, torch.get_default_dtype())

    def forward(
        self, embeddings: Float[Tensor, "batch position d_model"], start: int = 0
    ) -> Float[Tensor, "batch position d_model"]:
        """Embeddings plus the waves at start, start + 1, ..."""
        if self._table.dtype != embeddings.dtype or self._table.device != embeddings.device:
            self._table = sinusoids(*self._size).to(embeddings)
        return embeddings + self._table[start : start + embeddings.shape[1]]


@register("learned")
class Learned(PositionScheme):
    """Adds one trained vector per position, stored and scaled as the token embeddings are."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.embedding = nn.Embedding(config.max_len, config.d_model)
        self.scale = config.d_model**0.5

    def forward(
        self, embeddings: Float[Tensor, "batch position d_model"], start: int = 0
    ) -> Float[Tensor, "batch position d_model"]:
        """Embeddings plus the vectors of start, start + 1, ..."""
        return embeddings + self.embedding.weight[start : start + embeddings.shape[1]] * self.scale
