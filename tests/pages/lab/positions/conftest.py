"""An untrained suite: small, of every scheme, with words of the grammar."""

import pytest
import torch

from attention_lab.models.config import ModelConfig
from attention_lab.models.data.tasks.next_word import NextWord
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.pages.lab.positions.inputs import SCHEMES, untrained

LENGTH = 16


@pytest.fixture(scope="session")
def suite() -> dict[str, TrainedModel[NextWord]]:
    models = {}
    for scheme in SCHEMES:
        task = NextWord(length=LENGTH, reach=LENGTH if scheme == "learned" else 4 * LENGTH)
        sizes = {"n_layers": 2, "n_heads": 2, "d_model": 12, "positions": scheme}
        model = untrained(ModelConfig(kind=task.kind, **sizes, **task.required_sizes()), seed=0)
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():  # training moves every number away from where it starts
            for parameter in model.parameters():
                parameter += torch.randn(parameter.shape, generator=generator) / 5
        models[scheme] = TrainedModel(scheme, task, model.double(), {})
    return models


@pytest.fixture
def ids(suite: dict[str, TrainedModel[NextWord]]) -> torch.Tensor:
    return suite["none"].read("the dog did not cross the street because it was tired").inputs[0][0]
