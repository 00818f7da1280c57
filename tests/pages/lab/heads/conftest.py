"""The engine, called by hand, for what the heads page shows, and two layers to look into."""

import pytest

from attention_lab.models import ModelConfig, Trace, UntrainedModel, load_model
from attention_lab.pages.lab.any_model import Translator
from attention_lab.pages.lab.heads.inputs import SENTENCE, Inputs, Reading, of_translator, of_untrained


def engine(**fields) -> tuple[UntrainedModel, Trace]:
    """One layer of the model that Explore has for the same sizes, and its trace of the page's sentence."""
    sizes = {"n_layers": 1, "n_heads": 4, "d_model": 32, "vocab_size": 1_025, "max_len": 1_027, **fields}
    model = UntrainedModel(ModelConfig(kind="encoder-only", **sizes), seed=0)
    return model, model.trace(Inputs().text)


@pytest.fixture(scope="session")
def translated() -> Trace:
    return load_model("translator").trace(Inputs().text)


def untrained(*, n_heads: int = 4, d_model: int = 16, seed: int = 0, **fields) -> UntrainedModel:
    sizes = {"n_layers": 1, "n_heads": n_heads, "d_model": d_model, "vocab_size": 33, "max_len": 35}
    return UntrainedModel(ModelConfig(kind="encoder-only", **sizes, **fields), seed=seed)


@pytest.fixture(scope="session")
def translator() -> Translator:
    return load_model("translator")


@pytest.fixture(scope="session", params=["untrained", "wide", "post-norm", "trained 0", "trained 1"])
def reading(request: pytest.FixtureRequest, translator: Translator) -> Reading:
    """Layers of every kind that the page shows."""
    match request.param.split():
        case ["untrained"]:
            return of_untrained(untrained(), SENTENCE)
        case ["wide"]:
            return of_untrained(untrained(n_heads=3, d_head=16, bias=False), SENTENCE)
        case ["post-norm"]:
            return of_untrained(untrained(norm="post"), SENTENCE)
        case [_, layer]:
            return of_translator(translator, SENTENCE, int(layer))
