"""Captured attention of torch's own layers, against the weights that they return themselves."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from models import Trace, capture

SIZES: dict[str, Any] = {"d_model": 12, "nhead": 2, "dim_feedforward": 20, "batch_first": True}


def seeded(make: Any, *args: Any, dtype: torch.dtype = torch.float64, **fields: Any) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return make(*args, **fields).to(dtype).eval()


def random(*shape: int, seed: int = 1, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def weights(attention: nn.MultiheadAttention, x: Tensor, memory: Tensor, **masks: Any) -> Tensor:
    """[head, query, key] as the layer itself returns them."""
    with torch.no_grad():
        return attention(x, memory, memory, average_attn_weights=False, **masks)[1][0]


def causal(n: int) -> Tensor:
    return nn.Transformer.generate_square_subsequent_mask(n, dtype=torch.float64)


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected.detach(), rtol=0, atol=1e-12)


def check_sums(trace: Trace, at: str) -> None:
    """The parts of one attention fit together, as our own trace's do."""
    q, k, v = trace[f"{at}.q"], trace[f"{at}.k"], trace[f"{at}.v"]
    scores, pattern = trace[f"{at}.scores"], trace[f"{at}.pattern"]
    open_ = scores != -torch.inf
    close(scores[open_], (q @ k.mT / q.shape[-1] ** 0.5)[open_])
    close(pattern, scores.softmax(-1))
    close(trace[f"{at}.z"], pattern @ v)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("mask", ["none", "bool", "float", "padding", "both"])
def test_multi_head_attention(need_weights: bool, mask: str) -> None:
    module = seeded(nn.MultiheadAttention, 12, 3, batch_first=True)
    x, memory = random(1, 4, 12), random(1, 5, 12, seed=2)
    masks: dict[str, Any] = {}
    if mask in ("bool", "both"):
        masks["attn_mask"] = torch.ones(4, 5, dtype=torch.bool).triu(2)
    if mask == "float":
        masks["attn_mask"] = random(3, 4, 5, seed=3)
    if mask in ("padding", "both"):
        masks["key_padding_mask"] = torch.tensor([[False, False, True, False, False]])
    output, trace = capture(module, x, memory, memory, need_weights=need_weights, **masks)
    own = module(x, memory, memory, need_weights=need_weights, **masks)
    assert torch.equal(output[0], own[0])
    assert (output[1] is None) if own[1] is None else torch.equal(output[1], own[1])
    close(trace["attention.pattern"], weights(module, x, memory, **masks))
    close(trace["attention.out"], own[0][0])
    close(module.out_proj(trace["attention.z"].transpose(0, 1).flatten(1)), own[0][0])
    assert list(trace) == [f"attention.{name}" for name in ("q", "k", "v", "scores", "pattern", "z", "out")]
    if mask != "float":
        check_sums(trace, "attention")


@pytest.mark.parametrize("fields", [{"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 7, "vdim": 5}])
def test_multi_head_attention_of_other_makes(fields: dict[str, Any]) -> None:
    module = seeded(nn.MultiheadAttention, 12, 3, **fields)  # sequence first
    x, k, v = random(4, 1, 12), random(5, 1, fields.get("kdim", 12)), random(5, 1, fields.get("vdim", 12))
    output, trace = capture(module, x, k, v, average_attn_weights=False)
    close(trace["attention.pattern"], output[1][0])
    close(trace["attention.out"], output[0][:, 0])


def test_one_sequence_without_a_batch() -> None:
    module = seeded(nn.MultiheadAttention, 12, 3)
    x = random(4, 12)
    output, trace = capture(module, x, x, x, average_attn_weights=False)
    close(trace["attention.pattern"], output[1])
    close(trace["attention.out"], output[0])


@pytest.mark.parametrize("norm_first", [True, False])
def test_an_encoder(norm_first: bool) -> None:
    layer = nn.TransformerEncoderLayer(**SIZES, norm_first=norm_first)
    module = seeded(nn.TransformerEncoder, layer, 2, enable_nested_tensor=False)
    x = random(1, 5, 12)
    output, trace = capture(module, x)
    assert torch.equal(output, module(x))
    for number, part in enumerate(module.layers):
        read = part.norm1(x) if norm_first else x
        close(trace[f"encoder.{number}.self.pattern"], weights(part.self_attn, read, read))
        check_sums(trace, f"encoder.{number}.self")
        x = part(x)


def test_a_transformer() -> None:
    module = seeded(nn.Transformer, num_encoder_layers=1, num_decoder_layers=2, **SIZES)
    source, target = random(1, 5, 12), random(1, 4, 12, seed=2)
    output, trace = capture(module, source, target, tgt_mask=causal(4), tgt_is_causal=True)
    assert torch.equal(output, module(source, target, tgt_mask=causal(4), tgt_is_causal=True))
    close(trace["encoder.0.self.pattern"], weights(module.encoder.layers[0].self_attn, source, source))
    memory, x = module.encoder(source), target
    for number, part in enumerate(module.decoder.layers):
        close(trace[f"decoder.{number}.self.pattern"], weights(part.self_attn, x, x, attn_mask=causal(4)))
        read = part.norm1(x + part.self_attn(x, x, x, attn_mask=causal(4))[0])
        close(trace[f"decoder.{number}.cross.pattern"], weights(part.multihead_attn, read, memory))
        check_sums(trace, f"decoder.{number}.cross")
        x = part(x, memory, tgt_mask=causal(4))


def test_a_decoder_alone() -> None:
    module = seeded(nn.TransformerDecoder, nn.TransformerDecoderLayer(**SIZES), 2)
    _, trace = capture(module, random(1, 4, 12), random(1, 5, 12), tgt_mask=causal(4))
    assert {at.rsplit(".", 1)[0] for at in trace} == {
        f"decoder.{layer}.{kind}" for layer in (0, 1) for kind in ("self", "cross")
    }
    assert trace["decoder.1.self.scores"][0, 0].tolist()[1:] == [-torch.inf] * 3


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_the_fast_path_runs_as_it_would_and_its_attention_is_seen(dtype: torch.dtype) -> None:
    module = seeded(nn.TransformerEncoder, nn.TransformerEncoderLayer(**SIZES), 2, dtype=dtype)
    x = random(1, 5, 12, dtype=dtype)
    with torch.no_grad():
        with profile(activities=[ProfilerActivity.CPU]) as seen:
            output, trace = capture(module, x)
        assert torch.equal(output, module(x))
    runs = [event.key for event in seen.key_averages()]
    assert "aten::_transformer_encoder_layer_fwd" in runs and "aten::scaled_dot_product_attention" in runs
    found = trace["encoder.0.self.pattern"].to(dtype)
    torch.testing.assert_close(found, weights(module.layers[0].self_attn, x, x))
    assert torch.backends.mha.get_fastpath_enabled()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_padding_that_the_fast_path_leaves_out() -> None:
    module = seeded(nn.TransformerEncoder, nn.TransformerEncoderLayer(**SIZES), 2, dtype=torch.float32)
    padding = torch.tensor([[False, False, False, True, True]])
    with torch.no_grad():
        output, trace = capture(module, random(1, 5, 12, dtype=torch.float32), src_key_padding_mask=padding)
    assert not output[0, 3:].any() and output[0, :3].all()
    pattern = trace["encoder.1.self.pattern"]
    assert not pattern[..., 3:].any()
    torch.testing.assert_close(pattern.sum(-1), torch.ones(2, 5))
