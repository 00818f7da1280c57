"""Multi-head attention: against plain loops, on the fast path and traced, and with its cache."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.config import POSITION_SCHEMES
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.models.engine.positions import POSITIONS, LayerPositions
from attention_lab.models.engine.trace import within
from tests.models.engine.plain import Weights, plain_attention


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


@pytest.mark.parametrize(("kind", "norm"), [("decoder-only", "pre"), ("encoder-decoder", "post")])
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


def test_past_max_len_is_refused(make: Make):
    model = make("decoder-only", max_len=5)
    cache = model.new_cache()
    model.decode(TARGET, cache=cache)
    with pytest.raises(ValueError) as error:
        model.decode(TARGET[:, :1], cache=cache)
    assert str(error.value) == "6 tokens do not fit max_len=5; cut the sequence, or raise max_len"
