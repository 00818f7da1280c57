"""Layers and stacks: against torch.nn's own, with the same weights."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models import ModelConfig
from models.engine import masks
from models.engine.attention import MultiHeadAttention
from models.engine.layers import FeedForward, Layer, Stack

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
TOKENS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0], [5, 3, 0, 0, 0]])
PRECISIONS = [torch.float32, torch.float64]


def config(norm: str, **fields: Any) -> ModelConfig:
    sizes: dict[str, Any] = {
        "n_layers": 3,
        "n_heads": 4,
        "d_model": 16,
        "d_ff": 24,
        "vocab_size": 10,
        "max_len": 9,
    }
    return ModelConfig(kind="encoder-decoder", norm=norm, positions="none", **sizes, **fields)


def shaken(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """The module with every parameter random, so that no bias or gain goes untested."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / 3)
    return module.to(dtype)


def random(*shape: int, dtype: torch.dtype, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def torch_options(config: ModelConfig, dtype: torch.dtype) -> dict[str, Any]:
    return {
        "d_model": config.d_model,
        "nhead": config.n_heads,
        "dim_feedforward": config.d_ff,
        "dropout": 0.0,
        "activation": config.activation,
        "norm_first": config.norm == "pre",
        "bias": config.bias,
        "batch_first": True,
        "dtype": dtype,
    }


def copy_attention(theirs: nn.MultiheadAttention, ours: MultiHeadAttention) -> None:
    projections = [ours.q_proj, ours.k_proj, ours.v_proj]
    theirs.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
    if theirs.in_proj_bias is not None:
        theirs.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
    theirs.out_proj.load_state_dict(ours.out_proj.state_dict())


@torch.no_grad()
def copy_layer(theirs: nn.Module, ours: Layer) -> None:
    norms = (
        [ours.self_norm, ours.ff_norm]
        if ours.cross_norm is None
        else [ours.self_norm, ours.cross_norm, ours.ff_norm]
    )
    for i, norm in enumerate(norms, start=1):
        getattr(theirs, f"norm{i}").load_state_dict(norm.state_dict())
    copy_attention(theirs.self_attn, ours.self_attention)
    if ours.cross_attention is not None:
        copy_attention(theirs.multihead_attn, ours.cross_attention)
    theirs.linear1.load_state_dict(ours.feed_forward.linear_in.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.linear_out.state_dict())


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("fields", [{}, {"activation": "gelu"}, {"bias": False}])
def test_encoder_layer_equals_torch(norm: str, dtype: torch.dtype, fields: dict[str, Any]):
    settings = config(norm, **fields)
    ours = shaken(Layer(settings), dtype)
    theirs = nn.TransformerEncoderLayer(**torch_options(settings, dtype))
    copy_layer(theirs, ours)
    x = random(3, 5, 16, dtype=dtype)
    expected = theirs(x, src_key_padding_mask=TOKENS == 0)
    torch.testing.assert_close(ours(x, masks.padding(TOKENS, 0)), expected, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("fields", [{}, {"activation": "gelu"}, {"bias": False}])
def test_decoder_layer_equals_torch(norm: str, dtype: torch.dtype, fields: dict[str, Any]):
    settings = config(norm, **fields)
    ours = shaken(Layer(settings, cross=True), dtype)
    theirs = nn.TransformerDecoderLayer(**torch_options(settings, dtype))
    copy_layer(theirs, ours)
    x, memory = random(3, 4, 16, dtype=dtype), random(3, 5, 16, dtype=dtype, seed=2)
    expected = theirs(x, memory, tgt_mask=~masks.causal(4, 4)[0, 0], memory_key_padding_mask=TOKENS == 0)
    actual = ours(x, None, memory, masks.padding(TOKENS, 0), causal=True)
    torch.testing.assert_close(actual, expected, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_stacks_equal_torch(norm: str, dtype: torch.dtype):
    """Post-norm stacks, like torch.nn's without `norm`, end with their last layer."""
    settings = config(norm)
    last = nn.LayerNorm(16, dtype=dtype) if norm == "pre" else None
    encoder, decoder = shaken(Stack(settings), dtype), shaken(Stack(settings, causal=True, cross=True), dtype)
    layer = nn.TransformerEncoderLayer(**torch_options(settings, dtype))
    their_encoder = nn.TransformerEncoder(layer, 3, norm=last, enable_nested_tensor=False)
    their_decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(**torch_options(settings, dtype)), 3, norm=last
    )
    x, y = random(3, 5, 16, dtype=dtype), random(3, 4, 16, dtype=dtype, seed=2)
    for ours, theirs in [(encoder, their_encoder), (decoder, their_decoder)]:
        for our_layer, their_layer in zip(ours.layers, theirs.layers, strict=True):
            copy_layer(their_layer, our_layer)
        if theirs.norm is not None:
            theirs.norm = ours.norm
    memory, expected = (
        encoder(x, masks.padding(TOKENS, 0)),
        their_encoder(x, src_key_padding_mask=TOKENS == 0),
    )
    torch.testing.assert_close(memory, expected, rtol=0, atol=TOLERANCE[dtype])
    written = their_decoder(
        y, memory, tgt_mask=~masks.causal(4, 4)[0, 0], memory_key_padding_mask=TOKENS == 0
    )
    actual = decoder(y, None, memory, masks.padding(TOKENS, 0))
    torch.testing.assert_close(actual, written, rtol=0, atol=TOLERANCE[dtype] * 3)


@pytest.mark.parametrize(
    ("activation", "theirs"),
    [("relu", nn.ReLU()), ("gelu", nn.GELU()), ("gelu-tanh", nn.GELU(approximate="tanh"))],
)
def test_feed_forward_is_two_linear_maps_around_the_activation(activation: str, theirs: nn.Module):
    ours = shaken(FeedForward(config("pre", activation=activation)), torch.float64)
    x = random(2, 3, 16, dtype=torch.float64)
    expected = nn.Sequential(ours.linear_in, theirs, ours.linear_out)(x)
    torch.testing.assert_close(ours(x), expected, rtol=0, atol=1e-12)
