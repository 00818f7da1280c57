"""Small models of every kind."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from attention_lab.models import ModelConfig, Transformer

SIZES: dict[str, Any] = {"n_layers": 2, "n_heads": 2, "d_model": 8, "vocab_size": 11, "max_len": 12}


@pytest.fixture
def make() -> Callable[..., Transformer]:
    """make(kind, field=value, ...): a small float64 model in evaluation mode, with no trivial weight."""

    def build(kind: str, *, seed: int = 0, dtype: torch.dtype = torch.float64, **fields: Any) -> Transformer:
        model = Transformer(ModelConfig(kind=kind, **{**SIZES, **fields}), seed=seed)
        generator = torch.Generator().manual_seed(seed + 1)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 1:
                    parameter += torch.randn(parameter.shape, generator=generator) / 4
        return model.eval().to(dtype)

    return build
