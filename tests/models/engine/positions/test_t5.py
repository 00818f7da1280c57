"""T5's relative bias: against T5 in transformers, exactly."""

import pytest
import torch
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from models import ModelConfig, Transformer
from models.engine.positions import POSITIONS, PositionScheme, relative_buckets


def scheme(*, causal: bool) -> PositionScheme:
    config = ModelConfig(
        kind="encoder-only", n_layers=2, n_heads=3, d_model=6, vocab_size=5, max_len=9, positions="t5"
    )
    return POSITIONS["t5"](config, causal=causal)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("n_buckets", "max_distance"), [(32, 128), (16, 20), (8, 64), (5, 9)])
def test_buckets_are_those_of_t5(bidirectional: bool, n_buckets: int, max_distance: int):
    distance = torch.arange(-300, 301)
    expected = T5Attention._relative_position_bucket(-distance, bidirectional, n_buckets, max_distance)
    assert torch.equal(relative_buckets(distance, bidirectional, n_buckets, max_distance), expected)
    assert torch.equal(
        relative_buckets(distance.view(1, -1), bidirectional, n_buckets, max_distance), expected[None]
    )


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("n_query", "n_key"), [(1, 1), (7, 7), (200, 200), (1, 40), (3, 40)])
def test_the_bias_is_t5s(causal: bool, n_query: int, n_key: int):
    ours = scheme(causal=causal)
    theirs = T5Attention(
        T5Config(d_model=6, num_heads=3, d_kv=2, is_decoder=causal),
        has_relative_attention_bias=True,
        layer_idx=0,
    )
    theirs.relative_attention_bias.load_state_dict(ours.table.state_dict())
    bias = ours.bias(torch.zeros(2, 3, n_query, 2), torch.zeros(2, 3, n_key, 2), layer=0, scale=0.1)
    assert torch.equal(bias, theirs.compute_bias(n_query, n_key, past_seen_tokens=n_key - n_query))


def test_encoders_look_both_ways_decoders_one():
    config = ModelConfig(
        kind="encoder-decoder", n_layers=2, n_heads=3, d_model=6, vocab_size=5, max_len=9, positions="t5"
    )
    model = Transformer(config, seed=0)
    q = torch.zeros(1, 3, 5, 2)
    encoder, decoder = (
        stack.positions.bias(q, q, layer=0, scale=1.0)[0] for stack in (model.encoder, model.decoder)
    )
    assert (encoder[:, 0, 1:] != encoder[:, 0, :1]).all()
    assert torch.equal(decoder[:, 0], decoder[:, 0, :1].expand(3, 5))  # later keys, masked, are distance 0
    assert [name for name in model.state_dict() if "positions" in name] == [
        "encoder.positions.table.weight",
        "decoder.positions.table.weight",
    ]


def test_the_table_is_trained():
    ours = scheme(causal=True)
    q = torch.zeros(1, 3, 5, 2)
    ours.bias(q, q, layer=1, scale=1.0).sum().backward()
    assert ours.table.weight.grad[:6].tolist() == [
        [15.0] * 3,
        [4.0] * 3,
        [3.0] * 3,
        [2.0] * 3,
        [1.0] * 3,
        [0.0] * 3,
    ]


@pytest.mark.parametrize(("bidirectional", "n_buckets", "max_distance"), [(True, 3, 128), (False, 32, 16)])
def test_buckets_that_cannot_be_cut_are_refused(bidirectional: bool, n_buckets: int, max_distance: int):
    with pytest.raises(ValueError) as error:
        relative_buckets(torch.arange(3), bidirectional, n_buckets, max_distance)
    assert str(error.value) == (
        f"n_buckets={n_buckets}, max_distance={max_distance}: a direction needs 2 buckets or more, and "
        "max_distance must exceed half of them; try n_buckets=32, max_distance=128"
    )
