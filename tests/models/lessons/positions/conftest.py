"""An untrained suite: small, of every scheme, with words of the grammar."""

import pytest
import torch

from models.config import ModelConfig
from models.data.stream import english_text
from models.data.tokenizers import SPECIALS, WordTokenizer
from models.zoo.suite import SCHEMES, LanguageModel, untrained

LENGTH = 16


@pytest.fixture(scope="session")
def suite() -> dict[str, LanguageModel]:
    tokenizer = WordTokenizer([*SPECIALS, *sorted(set(english_text(0, "training", 4_000)) - set(SPECIALS))])
    models = {}
    for scheme in SCHEMES:
        config = ModelConfig(
            kind="decoder-only",
            n_layers=2,
            n_heads=2,
            d_model=12,
            vocab_size=len(tokenizer),
            max_len=LENGTH if scheme == "learned" else 4 * LENGTH,
            positions=scheme,
            pad_id=None,
        )
        model = untrained(config, seed=0)
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():  # training moves every number away from where it starts
            for parameter in model.parameters():
                parameter += torch.randn(parameter.shape, generator=generator) / 5
        card = {"training": {"length": LENGTH}}
        models[scheme] = LanguageModel(scheme, model.double().eval(), tokenizer, card)
    return models


@pytest.fixture
def ids(suite: dict[str, LanguageModel]) -> torch.Tensor:
    return suite["none"].read("the dog did not cross the street because it was tired")
