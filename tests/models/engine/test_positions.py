"""The waves and the learned vectors, added to the embeddings."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig, T5Config
from transformers.models.bloom import modeling_bloom as bloom
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.llama import modeling_llama as llama
from transformers.models.t5.modeling_t5 import T5Attention

from attention_lab.models import ModelConfig, Transformer
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.models.engine.positions import (
    POSITIONS,
    LayerPositions,
    PositionScheme,
    alibi_bias,
    alibi_slopes,
    relative_buckets,
    rotate,
    sinusoids,
    waves,
)
from attention_lab.models.engine.trace import Trace, within

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
        for position in range(-4, 12)
    ]
    table = torch.tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(sinusoids(12, d_model, base), table[4:], rtol=0, atol=1e-12)
    torch.testing.assert_close(waves(torch.arange(-4, 12), d_model, base), table, rtol=0, atol=1e-12)


def test_waves_between_whole_positions():
    halves = waves(torch.tensor([0.5, 1.5]), 4)
    torch.testing.assert_close(halves[:, 0], torch.tensor([0.5, 1.5], dtype=torch.float64).sin())
    assert torch.equal(sinusoids(3, 4), sinusoids(3, 4, 10_000.0))


def test_a_shift_turns_every_wave_by_the_same_angle():
    """Vaswani et al. 2017, 3.5: so the dot product of two positions depends on their distance alone."""
    table = sinusoids(40, 32)
    products = table @ table.T
    for shift in range(10):
        diagonal = products.diagonal(shift)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))


@pytest.mark.parametrize("name", ["none", "sinusoidal", "learned"])
def test_start_continues_where_the_cache_ends(name: str):
    module, x = scheme(name), torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
    in_parts = torch.cat([module(x[:, :2]), module(x[:, 2:], start=2)], dim=1)
    torch.testing.assert_close(in_parts, module(x), rtol=0, atol=0)


def test_none_adds_nothing():
    x = torch.ones(1, 3, 6)
    assert torch.equal(scheme("none")(x), x)


def test_learned_vectors_are_trained():
    module = scheme("learned")
    module(torch.zeros(1, 3, 6)).sum().backward()
    gradient = module.embedding.weight.grad
    assert (gradient[:3] != 0).all()
    assert (gradient[3:] == 0).all()


def test_waves_keep_their_precision_through_float32_and_stay_out_of_checkpoints():
    module = scheme("sinusoidal").float()
    module(torch.zeros(1, 12, 6))
    precise = module.double()(torch.zeros(1, 12, 6, dtype=torch.float64))
    torch.testing.assert_close(precise[0], sinusoids(12, 6), rtol=0, atol=0)
    assert not module.state_dict()


# ALiBi: against Bloom in transformers, and the paper's own words.


@pytest.mark.parametrize("n_heads", [1, 2, 3, 4, 6, 7, 8, 12, 16, 20, 33])
def test_slopes_are_those_of_bloom(n_heads: int):
    theirs = bloom.build_alibi_tensor(torch.ones(1, 2, dtype=torch.long), n_heads, torch.float32)
    torch.testing.assert_close(alibi_slopes(n_heads).float(), theirs[:, 0, 1], rtol=1e-6, atol=0)


def test_eight_heads_halve_from_head_to_head():
    """Press et al. 2022, section 3: 1/2, 1/4, ..., 1/256."""
    assert alibi_slopes(8).tolist() == pytest.approx([1 / 2**i for i in range(1, 9)], rel=1e-15)


@pytest.mark.parametrize("n_heads", [3, 8])
def test_after_a_causal_softmax_the_bias_is_blooms(n_heads: int):
    """Bloom adds slope * key position: another number in each row, which softmax does not see."""
    n, causal = 9, torch.ones(9, 9, dtype=torch.bool).tril()
    theirs = bloom.build_alibi_tensor(torch.ones(1, n, dtype=torch.long), n_heads, torch.float32)
    scores = torch.randn(n_heads, n, n, generator=torch.Generator().manual_seed(0))
    ours, expected = (
        (scores + bias).masked_fill(~causal, -torch.inf).softmax(dim=-1)
        for bias in (alibi_bias(n_heads, n, n, dtype=torch.float32), theirs)
    )
    torch.testing.assert_close(ours, expected, rtol=0, atol=1e-6)


def test_the_bias_is_minus_slope_times_distance_to_both_sides():
    bias, slopes = alibi_bias(3, 4, 6), alibi_slopes(3).tolist()
    expected = [[[-slope * abs(i + 2 - j) for j in range(6)] for i in range(4)] for slope in slopes]
    torch.testing.assert_close(bias, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-15)


def test_the_scheme_has_nothing_to_train_and_scales_nothing():
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=3, d_model=6, vocab_size=5, max_len=9, positions="alibi"
    )
    scheme = POSITIONS["alibi"](config)
    assert not list(scheme.parameters())
    q, k = torch.zeros(2, 3, 4, 2), torch.zeros(2, 3, 6, 2)
    bias = scheme.bias(q, k, layer=0, scale=0.1)
    assert torch.equal(bias, alibi_bias(3, 4, 6)[None].float())


# Rotary positions: against the rotary code of GPT-J and of Llama in transformers.


def random(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def test_equals_gptj():
    x, n, d_head = random(2, 3, 40, 8), 40, 8  # [batch, head, position, d_head]
    table = gptj.create_sinusoidal_positions(n, d_head)
    sin, cos = table.expand(2, -1, -1).split(d_head // 2, dim=-1)
    expected = gptj.apply_rotary_pos_emb(x.transpose(1, 2), sin, cos).transpose(1, 2)
    torch.testing.assert_close(rotate(x, torch.arange(n)), expected, rtol=0, atol=2e-5)


def test_equals_llama_after_a_permutation_of_channels():
    x, n, d_head = random(2, 3, 40, 8), 40, 8
    config = LlamaConfig(hidden_size=24, num_attention_heads=3, head_dim=d_head)
    cos, sin = llama.LlamaRotaryEmbedding(config)(x, torch.arange(n)[None])
    halves = torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    theirs, _ = llama.apply_rotary_pos_emb(halves, halves, cos, sin)
    first, second = theirs.chunk(2, dim=-1)
    expected = torch.stack([first, second], dim=-1).flatten(-2)
    torch.testing.assert_close(rotate(x, torch.arange(n)), expected, rtol=0, atol=2e-5)


def test_scores_of_our_attention_equal_llamas_with_permuted_weights():
    """The rows of W_Q and W_K in Llama's order: then q . k after turning is the same number."""
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=2, d_model=16, vocab_size=5, max_len=9, positions="rotary"
    )
    layer, scheme, x = MultiHeadAttention(config), POSITIONS["rotary"](config), random(1, 6, 16)
    trace = Trace()
    layer(x, x, positions=LayerPositions(scheme, 0, 0), trace=within(trace, "here"))
    theirs = LlamaConfig(hidden_size=16, num_attention_heads=2)
    cos, sin = llama.LlamaRotaryEmbedding(theirs)(x, torch.arange(6)[None])
    order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
    rows = torch.cat([order, order + 8])
    q, k = (
        torch.nn.functional.linear(x, p.weight[rows], p.bias[rows]).view(1, 6, 2, 8).transpose(1, 2)
        for p in (layer.q_proj, layer.k_proj)
    )
    q, k = llama.apply_rotary_pos_emb(q, k, cos, sin)
    torch.testing.assert_close(trace["here.scores"], (q @ k.mT)[0] / 8**0.5, rtol=0, atol=2e-5)


def test_the_product_depends_on_the_distance_alone():
    q, k = random(2, 1, 8).double()
    everywhere = torch.arange(30)
    products = rotate(q.expand(30, 8), everywhere) @ rotate(k.expand(30, 8), everywhere).mT
    for distance in range(-29, 30):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), rtol=0, atol=1e-12)


@pytest.mark.parametrize("base", [3, 10_000.0])
def test_the_first_pair_turns_by_one_radian_and_the_last_by_the_base(base: int | float):
    x = torch.tensor([[1.0, 0.0, 1.0, 0.0]], dtype=torch.float64)
    (turned,) = rotate(x, torch.tensor([0.5]), base)
    angles = torch.tensor([0.5, 0.5 / base**0.5], dtype=torch.float64)
    torch.testing.assert_close(turned, torch.stack([angles.cos(), angles.sin()], dim=-1).flatten())


def test_turning_keeps_lengths_and_leaves_position_0_as_it_is():
    x = random(3, 20, 6).double()
    turned = rotate(x, torch.arange(20))
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    assert torch.equal(turned[:, 0], x[:, 0])


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
    ours = scheme_t5(causal=True)
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


# Transformer-XL's relative positions: against a float64 loop over the paper's four terms.


def scheme_transformer_xl(**fields: int) -> PositionScheme:
    sizes = {"n_layers": 2, "n_heads": 3, "d_model": 8, "d_head": 4, "vocab_size": 5, "max_len": 9} | fields
    config = ModelConfig(kind="encoder-only", positions="transformer-xl", **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return POSITIONS["transformer-xl"](config).double()


def wave(distance: int, d_model: int) -> list[float]:
    angles = [distance / 10_000 ** (2 * (c // 2) / d_model) for c in range(d_model)]
    return [math.cos(a) if c % 2 else math.sin(a) for c, a in enumerate(angles)]


@pytest.mark.parametrize(("n_query", "n_key"), [(5, 5), (2, 6), (1, 4)])
@pytest.mark.parametrize("layer", [0, 1])
@torch.no_grad()
def test_the_bias_is_the_papers_terms_b_c_d(n_query: int, n_key: int, layer: int):
    """Dai et al. 2019, 3.3: q W_R r, u k and v W_R r; keys after the query are at negative distances."""
    ours, generator = scheme_transformer_xl(), torch.Generator().manual_seed(1)
    q, k = (torch.randn(2, 3, n, 4, generator=generator, dtype=torch.float64) for n in (n_query, n_key))
    bias = ours.bias(q, k, layer=layer, scale=0.3)
    assert bias.shape == (2, 3, n_query, n_key)
    for batch in range(2):
        for head in range(3):
            w = ours.r_proj[layer].weight[head * 4 : (head + 1) * 4]
            u, v = ours.u[head, 0], ours.v[head, 0]
            for i in range(n_query):
                for j in range(n_key):
                    r = torch.tensor(wave(i + n_key - n_query - j, 8), dtype=torch.float64)
                    wr = w @ r
                    terms = q[batch, head, i] @ wr + u @ k[batch, head, j] + v @ wr
                    assert bias[batch, head, i, j].item() == pytest.approx(0.3 * terms.item(), abs=1e-12)


def test_u_and_v_serve_all_layers_and_each_layer_has_its_w_r():
    names = {name: list(p.shape) for name, p in scheme_transformer_xl().named_parameters()}
    assert names == {"u": [3, 1, 4], "v": [3, 1, 4], "r_proj.0.weight": [12, 8], "r_proj.1.weight": [12, 8]}


def test_u_and_v_start_as_in_the_papers_code():
    ours = scheme_transformer_xl(n_heads=64, d_head=64)
    for parameter in (ours.u, ours.v):
        assert parameter.std().item() == pytest.approx(0.02, rel=0.05)
        assert parameter.mean().item() == pytest.approx(0, abs=0.002)
