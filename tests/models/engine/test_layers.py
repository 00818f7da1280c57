"""Layers and stacks: against torch.nn's own, with the same weights."""

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.engine import masks, sparse
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.models.engine.feed_forward import FeedForward
from attention_lab.models.engine.long_text import LongTrace
from attention_lab.models.engine.normalizers import NORMALIZERS
from attention_lab.models.engine.transformer import Layer, Stack
from attention_lab.models.zoo.engine_model import UntrainedModel
from tests.models.engine.plain import plain_logits, plain_weights

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
    return ModelConfig(kind="encoder-decoder", norm=norm, positions="none", **sizes | fields)


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
@pytest.mark.parametrize("n_layers", [1, 3])
def test_stacks_equal_torch(norm: str, dtype: torch.dtype, fields: dict[str, Any], n_layers: int):
    """Post-norm stacks, like torch.nn's without `norm`, end with their last layer."""
    settings = config(norm, n_layers=n_layers, **fields)
    last = nn.LayerNorm(16, dtype=dtype) if norm == "pre" else None
    encoder, decoder = shaken(Stack(settings), dtype), shaken(Stack(settings, causal=True, cross=True), dtype)
    layer = nn.TransformerEncoderLayer(**torch_options(settings, dtype))
    their_encoder = nn.TransformerEncoder(layer, n_layers, norm=last, enable_nested_tensor=False)
    their_decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(**torch_options(settings, dtype)), n_layers, norm=last
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


Make = Callable[..., Transformer]


# What BERT has and the paper's transformer has not: token types, embedding norm, output transform.

KINDS = ["encoder-only", "decoder-only", "encoder-decoder"]
NORMS = ["pre", "post", "none"]
SOURCE, TARGET = [3, 1, 4, 10, 5, 9, 0, 0], [2, 6, 5, 3, 0]


def inputs(kind: str) -> list[torch.Tensor]:
    return [torch.tensor([each]) for each in (SOURCE, TARGET)[: 1 + (kind == "encoder-decoder")]]


@pytest.mark.parametrize(("kind", "norm"), list(product(KINDS, NORMS)))
@pytest.mark.parametrize("bias", [True, False])
def test_an_embedding_norm_and_an_output_transform_equal_plain_loops(
    make: Make, kind: str, norm: str, bias: bool
):
    fields = {"embedding_norm": True, "output_transform": True, "tied_embeddings": False, "norm_eps": 0.02}
    model = make(kind, norm=norm, bias=bias, activation="gelu", **fields)
    target = TARGET if kind == "encoder-decoder" else None
    expected = torch.tensor(plain_logits(model, SOURCE, target), dtype=torch.float64)
    torch.testing.assert_close(model(*inputs(model.config.kind))[0], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("embedding_norm", [True, False])
def test_token_types_equal_plain_loops_and_are_all_the_first_where_they_are_left_out(
    make: Make, embedding_norm: bool
):
    model = make("encoder-only", token_types=3, embedding_norm=embedding_norm, positions="learned")
    types = [0, 0, 2, 1, 1, 2, 0, 0]
    expected = torch.tensor(plain_logits(model, SOURCE, types=types), dtype=torch.float64)
    found = model(*inputs(model.config.kind), types=torch.tensor([types]))
    torch.testing.assert_close(found[0], expected, rtol=0, atol=1e-10)
    first = torch.tensor(plain_logits(model, SOURCE), dtype=torch.float64)
    torch.testing.assert_close(model(*inputs(model.config.kind))[0], first, rtol=0, atol=1e-10)
    assert (first - expected).abs().max() > 0.1


@pytest.mark.parametrize(
    ("kind", "n_types", "types", "sentence"),
    [
        (
            "encoder-only", 2, [0, 1],
            "types of shape [1, 2] do not fit tokens of shape [1, 8]; give one type for each token",
        ),
        *[
            ("encoder-only", 2, [0] * 7 + [at], f"type {at} is none of the types 0 to 1; give one of them")
            for at in (2, -1)
        ],
        *[
            (kind, None, [0] * 8, "types given, but token_types=None tells no tokens apart; leave types out")
            for kind in KINDS
        ],
    ],
)  # fmt: skip
def test_types_that_there_are_not_are_refused(
    make: Make, kind: str, n_types: int | None, types: list[int], sentence: str
):
    model = make(kind, token_types=n_types)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        model(*inputs(model.config.kind), types=torch.tensor([types]))


def test_a_model_of_the_defaults_has_no_weights_of_what_it_does_without(make: Make):
    names = {name for kind in KINDS for name in make(kind).state_dict()}
    assert not [name for name in names if any(part in name for part in ("types", "embedding_norm", "transf"))]


# Normalizers that may look at nothing: against plain loops, with gradients, masks, caches and long texts.

OTHERS = ["softmax-plus-one", "sigmoid"]


def weights(how: str, scores: Tensor, mask: Tensor | None) -> Tensor:
    config = ModelConfig(kind="decoder-only", n_layers=1, n_heads=2, d_model=4, vocab_size=5, max_len=7)
    return NORMALIZERS[how](config).double()(scores, mask)


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("how", ["softmax", *OTHERS])
def test_weights_and_their_gradients_are_those_of_the_formula(how: str) -> None:
    """Large scores, hidden keys and a row with all hidden included; gradients by differences."""
    scores, open_ = 9 * drawn(1, 2, 3, 4), drawn(1, 1, 3, 4, seed=1) > -0.3
    open_[0, 0, 1] = False
    masked = scores.masked_fill(~open_, -torch.inf)
    found = weights(how, masked, open_)
    expected = [
        [plain_weights(how, row, may) for row, may in zip(head, open_[0, 0].tolist(), strict=True)]
        for head in scores[0].tolist()
    ]
    torch.testing.assert_close(found[0], torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12)
    assert (found[0, :, 1] == 0).all()

    def of(x: Tensor) -> Tensor:
        return weights(how, x.masked_fill(~open_, -torch.inf), open_)

    assert torch.autograd.gradcheck(of, drawn(1, 2, 3, 4, seed=2).requires_grad_())


def test_where_all_scores_are_low_nothing_is_looked_at() -> None:
    low = torch.full((1, 2, 1, 5), -30.0)
    sums = {how: float(weights(how, low, None)[0, 0].sum()) for how in ("softmax", *OTHERS)}
    assert sums["softmax"] == pytest.approx(1)
    assert max(sums["sigmoid"], sums["softmax-plus-one"]) < 1e-11


@pytest.mark.parametrize("how", OTHERS)
@pytest.mark.parametrize("positions", ["rotary", "alibi"])
def test_both_paths_agree_and_so_do_their_gradients(make: Make, how: str, positions: str) -> None:
    model = make("decoder-only", normalizer=how, positions=positions)
    found = []
    for trace in (None, Trace()):
        logits = model(torch.tensor([[3, 1, 0, 4, 5]]), trace=trace)
        found.append([logits, *torch.autograd.grad(logits.square().sum(), model.parameters())])
    torch.testing.assert_close(*found, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("how", OTHERS)
def test_an_edit_of_scores_decides_anew_which_keys_are_counted(make: Make, how: str) -> None:
    """Hiding the last key of an encoder is what a mask that hides it is."""
    model, ids = make("encoder-only", normalizer=how, n_layers=1), torch.tensor([[3, 1, 4]])
    hidden = torch.tensor([False, False, True])
    edited, masked = (
        Trace(edit=lambda at, x: x.masked_fill(hidden, -torch.inf) if "scores" in at else x),
        Trace(),
    )
    model(ids, trace=edited)
    model(ids, mask=~hidden[None, None, None], trace=masked)
    torch.testing.assert_close(edited["logits"], masked["logits"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("how", OTHERS)
def test_sparse_masks_are_computed_whole(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks know the softmax alone."""
    monkeypatch.setattr(sparse, "LEAST", 8)
    config = ModelConfig(
        kind="decoder-only", n_layers=1, n_heads=2, d_model=8, vocab_size=9, max_len=64, pad_id=None,
        mask="causal+window", mask_argument="3", normalizer=how,
    )  # fmt: skip
    model, ids = Transformer(config, seed=0).eval(), torch.arange(64)[None] % 9
    torch.testing.assert_close(model(ids), model(ids, trace=Trace()), rtol=1e-4, atol=1e-4)


def test_long_texts_know_the_softmax_plus_one_and_refuse_the_sigmoid() -> None:
    sizes = {
        "kind": "decoder-only",
        "n_layers": 2,
        "n_heads": 2,
        "d_model": 8,
        "vocab_size": 50,
        "max_len": 90,
    }
    ids = torch.randint(1, 50, (1, 90), generator=torch.Generator().manual_seed(2))
    model, whole, long = (
        Transformer(ModelConfig(**sizes, normalizer=OTHERS[0]), seed=1).eval(),
        Trace(),
        LongTrace(),
    )
    with torch.no_grad():
        torch.testing.assert_close(model(ids, trace=long), model(ids, trace=whole), atol=1e-4, rtol=1e-4)
    for address, of in long.heads.items():
        expected = whole[f"{address}.pattern"][1]
        torch.testing.assert_close(of.whole(1, size=90).cells, expected, atol=1e-6, rtol=0)
    sigmoid = Transformer(ModelConfig(**sizes, normalizer="sigmoid"), seed=1)
    sentence = "Sigmoid cannot read long texts; give a shorter text, or a model with another normalizer"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        sigmoid(ids, trace=LongTrace())


@pytest.mark.parametrize("how", OTHERS)
def test_models_say_that_rows_need_not_sum_to_1(how: str) -> None:
    sizes = {"n_layers": 1, "n_heads": 2, "d_model": 8, "vocab_size": 9, "max_len": 9}
    lm = UntrainedModel(ModelConfig(kind="encoder-only", **sizes, normalizer=how))
    assert lm.attention("encoder.self").note == NORMALIZERS[how].note != ""
    assert UntrainedModel(ModelConfig(kind="encoder-only", **sizes)).attention("encoder.self").note == ""
