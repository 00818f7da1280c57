"""Learned positions: one trained vector each, added to the embeddings."""

from jaxtyping import Float
from torch import Tensor, nn

from ...config import ModelConfig
from ..position_scheme import PositionScheme, register


@register("learned")
class Learned(PositionScheme):
    """Adds one trained vector per position, stored and scaled as the token embeddings are."""

    counted = True

    def __init__(self, config: ModelConfig, *, causal: bool = False) -> None:
        super().__init__(config)
        self.embedding = nn.Embedding(config.max_len, config.d_model)
        self.scale = config.d_model**0.5

    @classmethod
    def n_parameters(cls, config: ModelConfig) -> int:
        """One vector for each position."""
        return config.max_len * config.d_model

    def forward(
        self, embeddings: Float[Tensor, "batch position d_model"], start: int = 0
    ) -> Float[Tensor, "batch position d_model"]:
        """Embeddings plus the vectors of start, start + 1, ..."""
        return embeddings + self.embedding.weight[start : start + embeddings.shape[1]] * self.scale
