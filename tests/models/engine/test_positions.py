"""The waves and the learned vectors, added to the embeddings."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import T5Config
from transformers.models.bloom import modeling_bloom as bloom
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.t5.modeling_t5 import T5Attention

from attention_lab.models import ModelConfig
from attention_lab.models.engine.positions import (
    POSITIONS,
    PositionScheme,
    alibi_slopes,
    relative_buckets,
    rotate,
    sinusoids,
    waves,
)

SIZES: dict[str, Any] = {"n_layers": 1, "n_heads": 2, "d_model": 6, "vocab_size": 9, "max_len": 12}


def scheme(name: str, **fields: Any) -> PositionScheme:
    return POSITIONS[name](ModelConfig(kind="encoder-only", positions=name, **SIZES | fields))


@pytest.mark.parametrize("base", [10_000, 2.5])
@pytest.mark.parametrize("d_model", [1, 6, 7])
def test_sinusoids_are_those_of_the_paper(d_model: int, base: int | float):
    """Vaswani et al. 2017, 3.5, where the base is 10,000."""
    expected = [
        [
            (math.cos if c % 2 else math.sin)(position / base ** (2 * (c // 2) / d_model))
            for c in range(d_model)
        ]
        for position in (halves / 2 for halves in range(-8, 24))
    ]
    table = torch.tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(sinusoids(12, d_model, base), table[8::2], rtol=0, atol=1e-12)
    torch.testing.assert_close(waves(torch.arange(-8, 24) / 2, d_model, base), table, rtol=0, atol=1e-12)


def test_waves_keep_their_precision_through_float32_and_stay_out_of_checkpoints():
    module = scheme("sinusoidal").float()
    module(torch.zeros(1, 12, 6))
    precise = module.double()(torch.zeros(1, 12, 6, dtype=torch.float64))
    torch.testing.assert_close(precise[0], sinusoids(12, 6), rtol=0, atol=0)
    assert not module.state_dict()


# ALiBi's slopes: against Bloom in transformers.


@pytest.mark.parametrize("n_heads", [1, 2, 3, 4, 6, 7, 8, 12, 16, 20, 33])
def test_slopes_are_those_of_bloom(n_heads: int):
    theirs = bloom.build_alibi_tensor(torch.ones(1, 2, dtype=torch.long), n_heads, torch.float32)
    torch.testing.assert_close(alibi_slopes(n_heads).float(), theirs[:, 0, 1], rtol=1e-6, atol=0)


# Rotary positions: against GPT-J's in transformers; zoo/hub/test_into_engine.py has Llama's and others'.


def random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def test_equals_gptj():
    x, n, d_head = random(2, 3, 40, 8), 40, 8  # [batch, head, position, d_head]
    table = gptj.create_sinusoidal_positions(n, d_head)
    sin, cos = table.expand(2, -1, -1).split(d_head // 2, dim=-1)
    expected = gptj.apply_rotary_pos_emb(x.transpose(1, 2), sin, cos).transpose(1, 2)
    torch.testing.assert_close(rotate(x, torch.arange(n)), expected, rtol=0, atol=2e-5)


def test_an_odd_number_of_channels_is_refused():
    with pytest.raises(ValueError) as error:
        rotate(torch.zeros(1, 5), torch.arange(1))
    assert str(error.value) == "d_head=5 is odd, but channels turn in pairs; try d_head=6"


# T5's relative bias: against T5 in transformers, exactly.


def scheme_t5(*, causal: bool) -> PositionScheme:
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
    ours = scheme_t5(causal=causal)
    theirs = T5Attention(
        T5Config(d_model=6, num_heads=3, d_kv=2, is_decoder=causal),
        has_relative_attention_bias=True,
        layer_idx=0,
    )
    theirs.relative_attention_bias.load_state_dict(ours.table.state_dict())
    bias = ours.bias(torch.zeros(2, 3, n_query, 2), torch.zeros(2, 3, n_key, 2), layer=0, scale=0.1)
    assert torch.equal(bias, theirs.compute_bias(n_query, n_key, past_seen_tokens=n_key - n_query))


@pytest.mark.parametrize(("bidirectional", "n_buckets", "max_distance"), [(True, 3, 128), (False, 32, 16)])
def test_buckets_that_cannot_be_cut_are_refused(bidirectional: bool, n_buckets: int, max_distance: int):
    with pytest.raises(ValueError) as error:
        relative_buckets(torch.arange(3), bidirectional, n_buckets, max_distance)
    assert str(error.value) == (
        f"n_buckets={n_buckets}, max_distance={max_distance}: a direction needs 2 buckets or more, and "
        "max_distance must exceed half of them; try n_buckets=32, max_distance=128"
    )


# Transformer-XL's relative positions: test_position_scheme compares them with a loop over the paper's terms.


def scheme_transformer_xl(**fields: int) -> PositionScheme:
    sizes = {"n_layers": 2, "n_heads": 3, "d_model": 8, "d_head": 4, "vocab_size": 5, "max_len": 9} | fields
    config = ModelConfig(kind="encoder-only", positions="transformer-xl", **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return POSITIONS["transformer-xl"](config).double()


def test_u_and_v_start_as_in_the_papers_code():
    ours = scheme_transformer_xl(n_heads=64, d_head=64)
    for parameter in (ours.u, ours.v):
        assert parameter.std().item() == pytest.approx(0.02, rel=0.05)
        assert parameter.mean().item() == pytest.approx(0, abs=0.002)
