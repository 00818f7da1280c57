"""A position scheme of one's own, as somebody would put it into the folder of schemes: one file."""

import torch
from torch import Tensor, nn

from attention_lab.models.config import ModelConfig
from attention_lab.models.engine.position_scheme import PositionScheme, register


@register("alternating")
class Alternating(PositionScheme):
    """Every other position is louder, by a trained gain; its queries and keys are turned by half a circle."""

    pairs_channels = True

    def __init__(self, config: ModelConfig, *, causal: bool = False) -> None:
        super().__init__(config)
        self.gain = nn.Parameter(torch.ones(1))

    def forward(self, embeddings: Tensor, start: int = 0) -> Tensor:
        return embeddings * (1 + self.gain * self._odd(embeddings, start))

    def rotate(self, x: Tensor, start: int = 0) -> Tensor:
        return x * (1 - 2 * self._odd(x, start))

    def _odd(self, x: Tensor, start: int) -> Tensor:
        return (torch.arange(start, start + x.shape[-2], device=x.device) % 2)[:, None].to(x.dtype)
