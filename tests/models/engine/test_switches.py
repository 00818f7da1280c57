"""What models of later years add: each switch against plain loops, traced, cached and counted."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.engine.long_text import LongTrace
from attention_lab.models.engine.normalizers import NORMALIZERS
from attention_lab.models.engine.size import addresses, cache_bytes, count_parameters
from tests.models.engine.plain import plain_logits
from tests.models.kinds import KINDS

Make = Callable[..., Transformer]
SIZES = {"n_layers": 3, "n_heads": 4, "d_model": 16, "d_ff": 12, "max_len": 24}
SWITCHES: list[dict[str, Any]] = [
    {"norm": "none", "residual": False},
    {"norm": "post", "residual": False},
    {"norm": "post", "feed_forward": False},
    {"norm": "none", "residual": False, "feed_forward": False},
    {"embedding_norm": True, "output_transform": True, "tied_embeddings": False, "norm_eps": 0.02},
    {"embedding_norm": True, "norm": "none", "bias": False, "activation": "gelu"},
    {"normalizer": "softmax-plus-one", "positions": "alibi"},
    {"normalizer": "sigmoid", "positions": "rotary"},
    {"n_kv_heads": 2},
    {"n_kv_heads": 1, "positions": "transformer-xl"},
    {"d_latent": 6, "positions": "rotary"},
    {"norm_type": "rms", "bias": False},
    {"gated": True, "activation": "silu"},
    {"gated": True, "activation": "gelu"},
    {"qk_norm": "head", "positions": "rotary"},
    {"qk_norm": "all", "n_kv_heads": 2},
    {"score_cap": 0.5, "logit_cap": 0.7},
    *({"score_cap": 0.5, "positions": name} for name in ("transformer-xl", "t5", "alibi")),
    {"parallel": True},
    {"norm": "after"},
    {"norm": "both", "norm_type": "rms"},
    {"local_window": 2, "global_every": 2},
    {"local_window": 3, "global_every": 3, "positions": "rotary", "local_rotary_base": 50.0},
    {"positions": "rotary", "rotary_share": 0.5, "rotary_base": 100.0},
    {"positions": "rotary", "rotary_stretch": "linear", "rotary_factor": 3.0},
    {"positions": "rotary", "rotary_stretch": "ntk", "rotary_factor": 3.0},
    {"positions": "rotary", "rotary_stretch": "yarn", "rotary_factor": 2.0, "d_head": 8},
    {"positions": "rotary", "rotary_stretch": "llama3", "rotary_factor": 4.0, "rotary_trained": 9},
    {"positions": "alibi", "positionless_every": 2},
    {"head_gate": "head"},
    {"head_gate": "channel"},
    {"value_residual": True},
    {"exclusive": True, "n_kv_heads": 2},
    {"differential": True, "score_cap": 0.5},
    {"differential": True, "n_kv_heads": 2, "positions": "rotary", "norm": "both", "norm_type": "rms"},
    {"differential": True, "d_latent": 6, "normalizer": "learnt-sink", "value_residual": True},
    {"differential": True, "positions": "transformer-xl", "d_head": 3},
    {"depth_attention": True},
    {"depth_attention": True, "norm": "both", "norm_type": "rms", "feed_forward": False},
    {"depth_attention": True, "norm": "after", "local_window": 3, "differential": True},
    {"n_experts": 4, "n_active": 2},
    {"n_experts": 3, "gated": True, "activation": "silu", "bias": False},
    {"n_experts": 3, "n_active": 3, "gated": True, "activation": "gelu-quick", "ff_limit": 0.2},
    {"normalizer": "learnt-sink"},
    {"normalizer": "softpick"},
    {"normalizer": "scalable-softmax"},
    {
        "n_kv_heads": 2, "qk_norm": "head", "norm": "both", "norm_type": "rms", "gated": True,
        "activation": "silu", "positions": "rotary", "local_window": 4, "global_every": 3,
        "head_gate": "channel", "value_residual": True, "exclusive": True, "normalizer": "learnt-sink",
        "bias": False,
    },
]  # fmt: skip


def said(switch: Any) -> str:
    return switch if isinstance(switch, str) else ",".join(f"{k}={v}" for k, v in switch.items())


EACH = pytest.mark.parametrize("switch", SWITCHES, ids=said)


def in_turn(*kinds: str) -> pytest.MarkDecorator:
    """Each switch in a model of one of these kinds."""
    models = [(kinds[at % len(kinds)], switch) for at, switch in enumerate(SWITCHES)]
    return pytest.mark.parametrize(("kind", "switch"), models, ids=said)


SOURCE, TARGET = [3, 1, 4, 10, 5, 9, 0], [2, 6, 5, 7]


def made(make: Make, kind: str, switch: dict[str, Any], **more: Any) -> Transformer:
    return make(kind, **SIZES, **switch, **more)


def inputs(model: Transformer) -> list[Tensor]:
    rows = [SOURCE, TARGET] if model.config.kind == "encoder-decoder" else [SOURCE]
    return [torch.tensor([row]) for row in rows]


@EACH
@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_those_of_plain_loops(make: Make, kind: str, switch: dict[str, Any]) -> None:
    model = made(make, kind, switch)
    rows = plain_logits(model, SOURCE, TARGET if kind == "encoder-decoder" else None)
    torch.testing.assert_close(
        model(*inputs(model))[0], torch.tensor(rows, dtype=torch.float64), rtol=0, atol=1e-9
    )
    plain = make(kind, **SIZES, positions=switch.get("positions", "sinusoidal"))
    assert not torch.allclose(model(*inputs(model)), plain(*inputs(model)), atol=1e-4)


@in_turn(*KINDS)
def test_a_trace_changes_no_number_and_holds_what_the_glossary_says(
    make: Make, kind: str, switch: dict[str, Any]
) -> None:
    model = made(make, kind, switch)
    results = []
    for trace in (None, Trace()):
        logits = model(*inputs(model), trace=trace)
        loss = F.cross_entropy(logits[0], torch.arange(logits.shape[1]))
        results.append([logits, *torch.autograd.grad(loss, list(model.parameters()))])
    assert trace is not None
    torch.testing.assert_close(results[1], results[0], rtol=0, atol=1e-10)
    assert list(trace) == addresses(model.config)
    side = model.config.stacks[-1]
    at, layer = f"{side}.1.self", model.get_submodule(side).layers[1]
    q, k, v, pattern, z = (trace[f"{at}.{name}"] for name in ("q", "k", "v", "pattern", "z"))
    assert [len(each) for each in (q, k, v)] == [4, model.config.key_heads, model.config.key_heads]
    shared = 4 // len(v)
    torch.testing.assert_close(pattern @ v.repeat_interleave(shared, dim=0), z, rtol=0, atol=1e-12)
    changes = model.config.exclusive or model.config.head_gate != "none" or model.config.differential
    read = trace[f"{at}.head_out"] if changes else z
    read = read[:2] + read[2:] if model.config.differential else read
    out = layer.self_attention.out_proj(read.transpose(0, 1).flatten(1))
    after = {"after": layer.self_norm, "both": layer.self_out_norm}.get(model.config.norm)
    out = out if after is None else after(out)
    torch.testing.assert_close(out, trace[f"{at}.out"], rtol=0, atol=1e-12)


@in_turn(*KINDS[1:])
def test_a_cache_changes_no_number_and_is_as_large_as_counted(
    make: Make, kind: str, switch: dict[str, Any]
) -> None:
    model, ids = made(make, kind, switch, dtype=torch.float32), torch.tensor([[3, 1, 4, 10, 5, 9, 2, 6]])
    source = ids if kind == "encoder-decoder" else None
    memory, cache = None if source is None else model.encode(source), model.new_cache()
    with torch.no_grad():
        whole = model.decode(ids, memory, source)
        parts = [model.decode(part, memory, source, cache=cache) for part in ids.split(3, dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, rtol=1e-4, atol=1e-4)
    n_bytes = sum(each.nbytes for layer in cache.layers for one in layer for each in one.kept or ())
    assert n_bytes == cache_bytes(model.config, 1, 8)


@in_turn(*KINDS[::-1])
def test_parameters_are_counted(make: Make, kind: str, switch: dict[str, Any]) -> None:
    model = made(make, kind, switch)
    assert count_parameters(model.config).total == sum(p.numel() for p in model.parameters())
    assert len(model.anew(3).state_dict()) == len(model.state_dict())


@EACH
def test_long_texts_have_the_same_patterns_or_say_why_not(make: Make, switch: dict[str, Any]) -> None:
    model = make("decoder-only", **{**SIZES, **switch, "max_len": 90, "vocab_size": 50})
    ids = torch.randint(1, 50, (1, 90), generator=torch.Generator().manual_seed(2))
    whole, long = Trace(), LongTrace()
    if not NORMALIZERS[model.config.normalizer].fused:
        with pytest.raises(ValueError, match="cannot read long texts; give a shorter text"):
            model(ids, trace=long)
        return
    with torch.no_grad():
        torch.testing.assert_close(model(ids, trace=long), model(ids, trace=whole), atol=1e-8, rtol=0)
    for address, heads in long.heads.items():
        expected = whole[f"{address}.pattern"][1].float()
        torch.testing.assert_close(heads.whole(1, size=90).cells.float(), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"n_kv_heads": 3}, "n_kv_heads=3 does not divide n_heads=4; try one of 1, 2, 4"),
        (
            {"positions": "rotary", "rotary_share": 0.2},
            "rotary_share=0.2 turns 0.8 of d_head=4 channels, but they turn in pairs; try 0.5 or 1",
        ),
        (
            {"differential": True, "n_heads": 5, "d_head": 4},
            "n_heads=5 is odd, but differential attention takes heads in pairs; try n_heads=6, or "
            "differential=False",
        ),
        (
            {"differential": True, "n_kv_heads": 1},
            "n_kv_heads=1 is odd, but differential attention takes heads in pairs; try n_kv_heads=2, or ",
        ),
        (
            {"differential": True, "head_gate": "head"},
            "head_gate='head' and differential=True both change what heads hand on; give one of them",
        ),
        (
            {"differential": True, "exclusive": True},
            "exclusive=True and differential=True both change what heads hand on; give one of them",
        ),
        (
            {"depth_attention": True, "parallel": True},
            "parallel=True says what is added to the stream, but with depth_attention=True nothing is; give "
            "norm='pre', residual=True and parallel=False",
        ),
        ({"depth_attention": True, "norm": "post"}, "norm='post' says what is added to the stream"),
        ({"depth_attention": True, "residual": False}, "residual=False says what is added to the stream"),
        ({"qk_norm": "some"}, "qk_norm='some' is unknown; choose one of none, head, all"),
    ],
    ids=str,
)
def test_what_makes_no_model_is_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        ModelConfig(kind="decoder-only", vocab_size=5, **{**SIZES, **fields})


def published(**fields: Any) -> int:
    rest: dict[str, Any] = {"norm_type": "rms", "gated": True, "activation": "silu", "bias": False}
    config = ModelConfig(kind="decoder-only", positions="rotary", max_len=8_192, **{**rest, **fields})
    return count_parameters(config).total


def test_parameters_of_published_models() -> None:
    """Llama 3 8B has 8,030,261,248 and Qwen 3 0.6B 596,049,920, as their cards say."""
    llama = published(
        n_layers=32, n_heads=32, n_kv_heads=8, d_model=4_096, d_ff=14_336, vocab_size=128_256,
        tied_embeddings=False,
    )  # fmt: skip
    assert llama == 8_030_261_248
    qwen = published(
        n_layers=28, n_heads=16, n_kv_heads=8, d_model=1_024, d_head=128, d_ff=3_072, vocab_size=151_936,
        qk_norm="head",
    )  # fmt: skip
    assert qwen == 596_049_920
