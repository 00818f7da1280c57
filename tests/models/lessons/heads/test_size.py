"""Parts counted by formula are the modules' own parameters."""

import pytest

from models import ModelConfig, Transformer
from models.lessons.heads import size
from models.lessons.heads.cost import count


@pytest.mark.parametrize("fields", [{}, {"bias": False}, {"norm": "post"}, {"d_head": 7, "d_ff": 5}])
@pytest.mark.parametrize(("n_heads", "d_model"), [(1, 8), (4, 16), (3, 24)])
def test_a_layers_parts(n_heads: int, d_model: int, fields: dict):
    config = ModelConfig(
        kind="encoder-only", n_layers=2, n_heads=n_heads, d_model=d_model, vocab_size=9, max_len=5, **fields
    )
    layer = Transformer(config, seed=0).encoder.layers[1]
    attention, feed_forward = size.attention_parameters(config), size.feed_forward_parameters(config)
    assert attention == sum(p.numel() for p in layer.self_attention.parameters())
    assert feed_forward == sum(p.numel() for p in layer.feed_forward.parameters())
    whole = sum(p.numel() for p in layer.parameters())
    assert attention + feed_forward + size.norm_parameters(config) == whole == count(layer)


def test_a_trained_layer(translator):
    layer = translator.model.encoder.layers[1]
    assert size.attention_parameters(translator.config) == count(layer.self_attention) == 4 * 64 * 64 + 4 * 64
