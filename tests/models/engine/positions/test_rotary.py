"""Rotary positions: against the rotary code of GPT-J and of Llama in transformers."""

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.llama import modeling_llama as llama

from models import ModelConfig
from models.engine.attention import MultiHeadAttention
from models.engine.positions import POSITIONS, LayerPositions, rotate
from models.engine.trace import Trace, within


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
