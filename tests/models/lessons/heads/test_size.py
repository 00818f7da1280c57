"""Parts counted by formula are the modules' own parameters."""

import pytest
import torch

from models import ModelConfig, Transformer
from models.lessons.heads import size
from models.lessons.heads.cost import count


@pytest.mark.parametrize("fields", [{}, {"bias": False}, {"norm": "post"}, {"d_head": 7, "d_ff": 5}])
@pytest.mark.parametrize(("n_layers", "n_heads", "d_model"), [(1, 1, 8), (2, 4, 16), (3, 3, 24)])
def test_a_models_parts(n_layers: int, n_heads: int, d_model: int, fields: dict):
    config = ModelConfig(
        kind="encoder-only", n_layers=n_layers, n_heads=n_heads, d_model=d_model, vocab_size=9, max_len=5,
        **fields,
    )  # fmt: skip
    model = Transformer(config, seed=0)
    parts = size.model_parameters(config)
    assert sum(parts.values()) == sum(p.numel() for p in model.parameters())
    layers = model.encoder.layers
    assert parts["attention"] == sum(count(layer.self_attention) for layer in layers)
    assert parts["feed-forward"] == sum(count(layer.feed_forward) for layer in layers)
    norms = [m for m in model.modules() if isinstance(m, torch.nn.LayerNorm)]
    assert parts["norms"] == sum(map(count, norms))
    assert parts["embedding"] == count(model.embedding)


def test_a_trained_layer(translator):
    layer = translator.model.encoder.layers[1]
    assert size.attention_parameters(translator.config) == count(layer.self_attention) == 16_640
    assert size.feed_forward_parameters(translator.config) == count(layer.feed_forward)


def test_positions_with_parameters_are_refused():
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=1, d_model=8, vocab_size=9, max_len=5, positions="learned"
    )
    with pytest.raises(ValueError, match="positions='learned' may have parameters; counted are none, sin"):
        size.model_parameters(config)
