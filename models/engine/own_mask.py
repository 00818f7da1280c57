"""The mask that a model always wears."""

from functools import lru_cache

import torch
from torch import Tensor

from models.config import ModelConfig
from models.engine import masks


def own_mask(config: ModelConfig, n: int, device: torch.device) -> Tensor:
    """The config's mask over n tokens [batch or 1, head or 1, n, n], True = may attend."""
    if torch.compiler.is_exporting():
        # A graph for all lengths knows none, and keeps nothing; no mask changes where a text goes on.
        whole = masks.named(config.mask, config.mask_argument, config.max_len)
        return whole[..., :n, :n].to(device)
    return _named(config.mask, config.mask_argument, n, device)


@lru_cache(maxsize=8)
def _named(name: str, argument: str, n: int, device: torch.device) -> Tensor:
    """A mask is the same for every batch of a training run: make it once."""
    return masks.named(name, argument, n).to(device)
