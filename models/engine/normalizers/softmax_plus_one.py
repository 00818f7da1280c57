"""Softmax plus one: exp(s_i) / (1 + sum of exp(s_j)) (Miller 2023, "Attention is off by one")."""

import torch
from torch import Tensor

from ...config import ModelConfig
from ..normalizer import register
from .softmax import Softmax


@register("softmax-plus-one")
class SoftmaxPlusOne(Softmax):
    """A softmax beside one more score, 0, that belongs to no key."""

    note = "A score that belongs to no key takes part of every row: its weights add up to less than 1."

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.register_buffer("zeros", torch.zeros(config.n_heads), persistent=False)

    def sinks(self) -> Tensor:
        zeros: Tensor = self.get_buffer("zeros")
        return zeros
