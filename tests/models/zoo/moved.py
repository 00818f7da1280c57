"""Models as training leaves them, without a training."""

import torch

from attention_lab.models.config import ModelConfig
from attention_lab.models.engine.transformer import Transformer


def trained(config: ModelConfig) -> Transformer:
    """A model whose every weight, norms and biases included, has moved from where it began."""
    model = Transformer(config, seed=3).eval()
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.3 * torch.randn(weight.shape, generator=generator)
    return model
