"""Multi-head attention: against torch.nn and plain loops, on the fast path and traced."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.config import POSITION_SCHEMES
from attention_lab.models.engine import masks
from attention_lab.models.engine.attention import DecoderCache, KeyValueCache, MultiHeadAttention
from attention_lab.models.engine.positions import POSITIONS, LayerPositions, alibi_bias
from attention_lab.models.engine.trace import within
from tests.models.engine.plain import Weights, plain_attention

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


def config(**fields: Any) -> ModelConfig:
    sizes: dict[str, Any] = {"n_layers": 1, "n_heads": 3, "d_model": 12, "vocab_size": 5, "max_len": 9}
    return ModelConfig(kind="encoder-only", **sizes, **fields)


def attention(dtype: torch.dtype = torch.float64, **fields: Any) -> MultiHeadAttention:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return MultiHeadAttention(config(**fields)).to(dtype).eval()


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def random_mask(*shape: int, seed: int = 0) -> Tensor:
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) > 0.4
    return mask.index_fill(-1, torch.tensor([0]), True)  # no row without any


def both_paths(layer: MultiHeadAttention, *args: Any, **options: Any) -> list[tuple[Tensor, Trace | None]]:
    trace = Trace()
    return [(layer(*args, **options), None), (layer(*args, **options, trace=within(trace, "here")), trace)]


def torch_attention(layer: MultiHeadAttention) -> nn.MultiheadAttention:
    width, dtype = layer.out_proj.in_features, layer.q_proj.weight.dtype
    theirs = nn.MultiheadAttention(width, layer.n_heads, batch_first=True, dtype=dtype).eval()
    projections = [layer.q_proj, layer.k_proj, layer.v_proj]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        theirs.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
    theirs.out_proj.load_state_dict(layer.out_proj.state_dict())
    return theirs


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", ["none", "causal", "padding", "both"])
def test_equals_torch_multihead_attention(dtype: torch.dtype, kind: str):
    layer = attention(dtype)
    x = random(1, 6, 12, dtype=dtype)
    tokens = torch.tensor([[3, 1, 4, 1, 0, 0]])
    causal = masks.causal(6, 6) if kind in ("causal", "both") else None
    padding = masks.padding(tokens, 0) if kind in ("padding", "both") else None
    expected, weights = torch_attention(layer)(
        x,
        x,
        x,
        attn_mask=None if causal is None else ~causal[0, 0],
        key_padding_mask=None if padding is None else tokens == 0,
        average_attn_weights=False,
    )
    atol = TOLERANCE[dtype]
    for out, trace in both_paths(layer, x, x, padding, causal=causal is not None):
        torch.testing.assert_close(out, expected, rtol=0, atol=atol)
        if trace is not None:
            torch.testing.assert_close(trace["here.pattern"], weights[0], rtol=0, atol=atol)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_cross_attention_equals_torch(dtype: torch.dtype):
    layer, x, memory = attention(dtype), random(1, 4, 12, dtype=dtype), random(1, 7, 12, seed=1, dtype=dtype)
    mask = masks.padding(torch.tensor([[5, 6, 7, 0, 8, 0, 0]]), 0)
    expected, _ = torch_attention(layer)(x, memory, memory, key_padding_mask=~mask[:, 0, 0])
    for out, _ in both_paths(layer, x, memory, mask):
        torch.testing.assert_close(out, expected, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("shape", [(1, 1, 5, 7), (1, 3, 5, 7), (1, 1, 1, 7), (1, 3, 1, 7)])
@pytest.mark.parametrize(
    "fields",
    [
        {}, {"d_head": 5}, {"attention_scale": False}, {"attention_scale": 2.5},
        {"normalizer": "softmax-plus-one"}, {"normalizer": "sigmoid"},
    ],
)  # fmt: skip
def test_equals_plain_loops(shape: tuple[int, ...], fields: dict[str, Any]):
    layer, x, memory, mask = (
        attention(**fields),
        random(1, 5, 12),
        random(1, 7, 12, seed=1),
        random_mask(*shape),
    )
    allowed = mask.expand(1, 3, 5, 7)[0].tolist()
    rows = plain_attention(Weights(layer), config(**fields), "", x[0].tolist(), memory[0].tolist(), allowed)
    expected = torch.tensor(rows, dtype=torch.float64)
    for out, _ in both_paths(layer, x, memory, mask):
        torch.testing.assert_close(out[0], expected, rtol=0, atol=1e-10)


def test_head_masks_are_per_head():
    """A head that may see only key 2 has that key's value as z, whatever the others do."""
    layer, x = attention(), random(1, 5, 12)
    mask = torch.ones(1, 3, 5, 5, dtype=torch.bool)
    mask[0, 1] = torch.arange(5) == 2
    _, (_, trace) = both_paths(layer, x, x, mask)
    torch.testing.assert_close(trace["here.z"][1], trace["here.v"][1, 2].expand(5, 4))
    assert (trace["here.pattern"][0] > 0).all()


@settings(deadline=None, max_examples=25)
@given(data=st.data(), n_query=st.integers(1, 6), n_key=st.integers(1, 6), causal=st.booleans())
def test_any_mask_both_paths_agree_without_nan(data: st.DataObject, n_query: int, n_key: int, causal: bool):
    """Masks with rows that allow nothing included: both paths then give zeros, and finite gradients."""
    allowed = data.draw(st.lists(st.booleans(), min_size=n_query * n_key, max_size=n_query * n_key))
    mask = torch.tensor(allowed).view(1, 1, n_query, n_key).expand(2, 1, n_query, n_key)
    layer = attention()
    results = []
    for path in range(2):
        x, memory = random(2, n_query, 12).requires_grad_(), random(2, n_key, 12, seed=1).requires_grad_()
        rows = [
            both_paths(layer, x[i : i + 1], memory[i : i + 1], mask[i : i + 1], causal=causal) for i in (0, 1)
        ]
        out = torch.cat([row[path][0] for row in rows])
        gradients = torch.autograd.grad(out.square().sum(), [x, memory, *layer.parameters()])
        results.append([out, *gradients])
    assert all(tensor.isfinite().all() for tensor in results[0])
    torch.testing.assert_close(results[0], results[1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("positions", ["rotary", "alibi", "t5", "transformer-xl"])
@settings(deadline=None, max_examples=10)
@given(data=st.data(), n=st.integers(1, 6), per_head=st.booleans(), causal=st.booleans())
def test_with_positions_both_paths_agree_under_any_mask(
    positions: str, data: st.DataObject, n: int, per_head: bool, causal: bool
):
    """Rows that allow nothing included; gradients of the scheme's own parameters too."""
    size = (1, 3 if per_head else 1, n, n)
    allowed = data.draw(st.lists(st.booleans(), min_size=math.prod(size), max_size=math.prod(size)))
    layer, scheme = attention(), POSITIONS[positions](config(positions=positions)).double()
    results = []
    for path in range(2):
        x = random(1, n, 12).requires_grad_()
        at = LayerPositions(scheme, 0, 2)
        mask = torch.tensor(allowed).view(size)
        out, _ = both_paths(layer, x, x, mask, causal=causal, positions=at)[path]
        parameters = [x, *layer.parameters(), *scheme.parameters()]
        results.append([out, *torch.autograd.grad(out.square().sum(), parameters)])
    assert all(tensor.isfinite().all() for tensor in results[0])
    torch.testing.assert_close(results[0], results[1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("n_key", [4, 1100])  # the second is longer than a block of PyTorch's fused kernel
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_row_with_everything_masked_gives_zeros(n_key: int, dtype: torch.dtype):
    layer = attention(dtype, bias=False)
    x, memory = random(1, 3, 12, dtype=dtype), random(1, n_key, 12, seed=1, dtype=dtype)
    mask = torch.ones(1, 1, 3, n_key, dtype=torch.bool)
    mask[..., 1, :] = False
    mask[..., 2, : n_key - 1] = False
    for out, trace in both_paths(layer, x.requires_grad_(), memory.requires_grad_(), mask):
        assert (out[0, 1] == 0).all()
        assert (out[0, [0, 2]] != 0).all()
        for gradient in torch.autograd.grad(out.square().sum(), [x, memory, *layer.parameters()]):
            assert gradient.isfinite().all()
        if trace is not None:
            assert (trace["here.pattern"][:, 1] == 0).all()
            assert (trace["here.scores"][:, 1] == -torch.inf).all()
            torch.testing.assert_close(
                trace["here.pattern"].sum(-1)[:, [0, 2]], torch.ones(3, 2, dtype=dtype)
            )


def test_scores_are_scaled_dot_products_and_minus_infinity_where_masked():
    layer, x, mask = attention(attention_scale=0.5), random(1, 5, 12), random_mask(1, 1, 5, 5)
    _, (_, trace) = both_paths(layer, x, x, mask)
    products = torch.einsum("hqc,hkc->hqk", trace["here.q"], trace["here.k"])
    allowed = mask[0].expand(3, 5, 5)
    torch.testing.assert_close(trace["here.scores"][allowed], 0.5 * products[allowed])
    assert (trace["here.scores"][~allowed] == -torch.inf).all()
    assert (trace["here.pattern"][~allowed] == 0).all()


def test_heads_are_consecutive_channels():
    layer, x = attention(), random(1, 5, 12)
    _, (_, trace) = both_paths(layer, x, x)
    torch.testing.assert_close(trace["here.q"].transpose(0, 1).reshape(5, 12), layer.q_proj(x)[0])
    assert trace["here.v"].shape == (3, 5, 4)


@pytest.mark.parametrize(
    ("mask", "causal", "expected"),
    [
        (None, False, (False, None)),
        (None, True, (True, None)),
        (torch.ones(1, 1, 1, 5, dtype=torch.bool), False, (False, (1, 1, 1, 5))),
        (torch.ones(1, 1, 1, 5, dtype=torch.bool), True, (False, (1, 1, 5, 5))),
    ],
)
def test_the_fast_path_gives_the_kernel_no_mask_it_can_do_without(
    monkeypatch: pytest.MonkeyPatch, mask: Tensor | None, causal: bool, expected: tuple[bool, Any]
):
    calls = []
    real = F.scaled_dot_product_attention

    def spy(*args: Any, **options: Any) -> Tensor:
        calls.append((options["is_causal"], options["attn_mask"]))
        return real(*args, **options)

    monkeypatch.setattr(F, "scaled_dot_product_attention", spy)
    layer, x = attention(), random(1, 5, 12)
    layer(x, x, mask, causal=causal)
    ((is_causal, given_mask),) = calls
    assert (is_causal, None if given_mask is None else tuple(given_mask.shape)) == expected
    layer(x, x, mask, causal=causal, trace=within(Trace(), "here"))
    assert len(calls) == 1


def test_on_the_fast_path_a_bias_is_the_kernels_mask(monkeypatch: pytest.MonkeyPatch):
    given = []
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda q, *_, **options: given.append(options) or q
    )
    layer, x, scheme = attention(), random(1, 4, 12), POSITIONS["alibi"](config(positions="alibi"))
    layer(x, x, causal=True, positions=LayerPositions(scheme, 0, 0))
    expected = alibi_bias(3, 4, 4).masked_fill(~masks.causal(4, 4)[0], -torch.inf)
    assert torch.equal(given[0]["attn_mask"][0], expected)
    assert not given[0]["is_causal"]


def test_dropout_of_patterns_acts_in_training_on_both_paths():
    layer, x = attention(dropout=0.9).train(), random(1, 5, 12)
    evaluated = layer.eval()(x, x)
    layer.train()
    for out, trace in both_paths(layer, x, x):
        assert not torch.allclose(out, evaluated)
        if trace is not None:
            torch.testing.assert_close(trace["here.pattern"].sum(-1), torch.ones(3, 5, dtype=torch.float64))
            assert not torch.allclose(trace["here.z"], trace["here.pattern"] @ trace["here.v"])


# The key-value cache: same logits token by token, and nothing computed twice.

Make = Callable[..., Transformer]
SOURCE, TARGET = torch.tensor([[3, 1, 4, 0], [5, 9, 2, 6]]), torch.tensor([[1, 2, 0, 5, 6], [7, 8, 9, 1, 2]])


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", POSITION_SCHEMES)
def test_logits_in_parts_equal_logits_at_once(make: Make, kind: str, norm: str, positions: str):
    """Padding among the tokens read, and several new ones at a time, included."""
    model = make(kind, norm=norm, positions=positions)
    given = (model.encode(SOURCE), SOURCE) if kind == "encoder-decoder" else ()
    whole = model.decode(TARGET, *given)
    for parts in ([1, 1, 1, 1, 1], [3, 2], [2, 3], [5], [1, 3, 1]):
        cache = model.new_cache()
        in_parts = [model.decode(new, *given, cache=cache) for new in TARGET.split(parts, dim=1)]
        torch.testing.assert_close(torch.cat(in_parts, dim=1), whole, rtol=0, atol=1e-12)
        assert cache.length == 5


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
@pytest.mark.parametrize(
    "fields",
    [
        {"norm": "none"}, {"residual": False}, {"feed_forward": False}, {"norm": "none", "residual": False},
        {"normalizer": "softmax-plus-one"}, {"normalizer": "sigmoid"},
    ],
    ids=str,
)  # fmt: skip
def test_layers_with_parts_left_out_and_other_normalizers_too(make: Make, kind: str, fields: dict):
    model = make(kind, **fields)
    given = (model.encode(SOURCE), SOURCE) if kind == "encoder-decoder" else ()
    cache = model.new_cache()
    in_parts = [model.decode(new, *given, cache=cache) for new in TARGET.split([2, 1, 2], dim=1)]
    whole = model.decode(TARGET, *given)
    torch.testing.assert_close(torch.cat(in_parts, dim=1), whole, rtol=0, atol=1e-12)


def test_self_attention_projects_new_tokens_and_cross_attention_projects_once(make: Make):
    model = make("encoder-decoder")
    seen: dict[str, list[int]] = {"self_attention": [], "cross_attention": []}
    for name, lengths in seen.items():
        for projection in ("k_proj", "v_proj"):
            linear = getattr(getattr(model.decoder.layers[1], name), projection)
            linear.register_forward_hook(
                lambda _, args, __, lengths=lengths: lengths.append(args[0].shape[1])
            )
    memory, cache = model.encode(SOURCE), model.new_cache()
    for new in TARGET.split([2, 1, 1, 1], dim=1):
        model.decode(new, memory, SOURCE, cache=cache)
    assert seen == {"self_attention": [2, 2, 1, 1, 1, 1, 1, 1], "cross_attention": [4, 4]}


def test_selected_rows_go_on_as_if_they_had_been_alone(make: Make):
    model, memory = make("encoder-decoder"), None
    memory, cache, rows = model.encode(SOURCE), model.new_cache(), torch.tensor([1, 1, 0])
    model.decode(TARGET[:, :4], memory, SOURCE, cache=cache)
    cache.select(rows)
    logits = model.decode(TARGET[rows, 4:], memory[rows], SOURCE[rows], cache=cache)
    whole = model.decode(TARGET, memory, SOURCE)
    torch.testing.assert_close(logits[:, 0], whole[rows, -1], rtol=0, atol=1e-12)


def test_past_max_len_is_refused(make: Make):
    model = make("decoder-only", max_len=5)
    cache = model.new_cache()
    model.decode(TARGET, cache=cache)
    with pytest.raises(ValueError) as error:
        model.decode(TARGET[:, :1], cache=cache)
    assert str(error.value) == "6 tokens do not fit max_len=5; cut the sequence, or raise max_len"


def test_an_empty_cache_may_be_asked_anything():
    cache = DecoderCache(2)
    cache.select(torch.tensor([0]))
    assert cache.length == 0
    assert KeyValueCache(grows=False).fixed() is None
