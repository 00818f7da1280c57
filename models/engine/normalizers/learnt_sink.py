"""A softmax beside one more score that each head has learnt and that belongs to no key (gpt-oss, 2025)."""

import torch
from torch import Tensor, nn

from ...config import ModelConfig
from ..normalizer import register
from .softmax import Softmax


@register("learnt-sink")
class LearntSink(Softmax):
    """exp(s_i) / (exp(sink) + sum of exp(s_j)); a head's sink starts at 0, as softmax-plus-one has it."""

    note = "A learnt score that belongs to no key takes part of every row: its weights add up to less than 1."

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.scores = nn.Parameter(torch.zeros(config.n_heads))

    def sinks(self) -> Tensor:
        return self.scores
