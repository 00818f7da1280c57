"""Opens the shipped suite of language models that differ only in how they know the order of words."""

from dataclasses import replace

from ..config import ModelConfig
from ..data.tasks.next_word import NextWord
from ..engine.transformer import Transformer
from . import load_model
from .engine_model import TrainedModel
from .folders import SHIPPED

SCHEMES = ("none", "sinusoidal", "learned", "rotary", "alibi", "t5", "transformer-xl")
FOLDER = SHIPPED / "positions"


def load_scheme(scheme: str) -> TrainedModel[NextWord]:
    """The shipped model of one scheme. Raises ValueError for an unknown one, and as `load_model` does."""
    if scheme not in SCHEMES:
        raise ValueError(f"scheme={scheme!r} is not in the suite; choose one of {', '.join(SCHEMES)}")
    return load_model(FOLDER / scheme)


def untrained(config: ModelConfig, seed: int) -> Transformer:
    """A new model from a seed. Weights that are not its positions' own are the same in every scheme."""
    model = Transformer(config, seed=seed)
    without = Transformer(replace(config, positions="none"), seed=seed)
    model.load_state_dict(without.state_dict(), strict=False)
    return model
