"""Two layers to look into: one with random weights, one that was trained."""

import pytest

from models import ModelConfig, UntrainedModel, load_model
from models.lessons.heads.reading import Reading, of_translator, of_untrained
from models.zoo.engine_model import Translator

SENTENCE = "the animal did not cross the street because it was too tired"


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
