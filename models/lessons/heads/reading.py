"""One sentence as one self-attention layer of a model reads it."""

from typing import NamedTuple, cast

import torch
from jaxtyping import Float
from torch import Tensor

from models.config import ModelConfig
from models.engine.attention import MultiHeadAttention
from models.engine.layers import Layer
from models.engine.trace import Trace
from models.engine.transformer import Transformer
from models.lessons.known_words import check_known
from models.zoo.engine_model import Translator, UntrainedModel


class Reading(NamedTuple):
    """The layer, what enters its attention and what that computes; queries and keys are the same tokens."""

    tokens: list[str]
    config: ModelConfig
    layer: Layer
    x: Float[Tensor, "position d_model"]
    q: Float[Tensor, "head query d_head"]
    k: Float[Tensor, "head key d_head"]
    v: Float[Tensor, "head key d_head"]
    scores: Float[Tensor, "head query key"]
    pattern: Float[Tensor, "head query key"]
    z: Float[Tensor, "head query d_head"]
    out: Float[Tensor, "query d_model"]

    @property
    def attention(self) -> MultiHeadAttention:
        return self.layer.self_attention


class Strongest(NamedTuple):
    """The largest weight of a head's pattern, and where it stands."""

    query: int
    key: int
    weight: float


def strongest(pattern: Float[Tensor, "query key"]) -> Strongest:
    """Where a head looks hardest; the first such place if there are several."""
    at = int(pattern.argmax())
    query, key = divmod(at, pattern.shape[1])
    return Strongest(query, key, pattern[query, key].item())


def of_untrained(model: UntrainedModel, text: str) -> Reading:
    """The first layer of a model with random weights. Raises ValueError for a text it cannot read."""
    return _reading(model.model, model.trace(text), 0)


def of_translator(translator: Translator, text: str, layer: int) -> Reading:
    """Layer 0 or 1 of the trained encoder. Raises ValueError for a text with a word that it does not know."""
    check_known(translator.task.encode_source(text).unknown, len(translator.task.words))
    trace = translator.trace(translator.task.read(text, direction="en-fr"))
    return _reading(translator.model, trace, layer)


@torch.no_grad()
def _reading(model: Transformer, trace: Trace, number: int) -> Reading:
    assert model.encoder is not None
    layer = cast(Layer, model.encoder.layers[number])
    x = trace[f"encoder.{number}.resid_pre"]
    if layer.pre_norm:
        x = layer.self_norm(x)
    names = ("q", "k", "v", "scores", "pattern", "z", "out")
    computed = {name: trace[f"encoder.{number}.self.{name}"] for name in names}
    return Reading(trace.tokens["encoder"], model.config, layer, x, **computed)
