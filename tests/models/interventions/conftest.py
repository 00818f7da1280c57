"""Small models of letters, of every kind, that are edited."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from attention_lab.models import ModelConfig, Transformer
from attention_lab.models.data.tasks import Reading
from attention_lab.models.zoo.engine_model import EngineModel

LETTERS = "_abcdefghij"
SIZES: dict[str, Any] = {
    "n_layers": 2, "n_heads": 2, "d_model": 8, "vocab_size": len(LETTERS), "max_len": 12, "pad_id": 0
}  # fmt: skip


class Letters(EngineModel):
    """It reads letters; an encoder-decoder's target is "hi" and what follows in it."""

    outputs = tuple(LETTERS)

    def read(self, text: str, *, target: str = "hij", **settings: Any) -> Reading:
        if not text or not set(text) <= set(LETTERS):
            raise ValueError("only the letters a to j can be read; type some")
        ids = torch.tensor([[LETTERS.index(letter) for letter in text]])
        if self.config.kind != "encoder-decoder":
            return Reading((ids,), {self.config.stacks[0]: list(text)}, text)
        written = torch.tensor([[LETTERS.index(letter) for letter in target]])
        return Reading((ids, written), {"encoder": list(text), "decoder": list(target)}, text)

    def code(self, text: str, **settings: Any) -> str:
        return ""


@pytest.fixture
def letters() -> Callable[..., Letters]:
    """letters(kind, field=value, ...): a small float64 model, with no trivial weight."""

    def build(kind: str, **fields: Any) -> Letters:
        net = Transformer(ModelConfig(kind=kind, **{**SIZES, **fields}), seed=0)
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for parameter in net.parameters():
                if parameter.dim() == 1:
                    parameter += torch.randn(parameter.shape, generator=generator) / 4
        return Letters("letters", net.double())

    return build
