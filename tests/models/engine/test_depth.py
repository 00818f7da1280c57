"""Attention over depth: what each sublayer reads is a mixture, and whoever needs a sum says so."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from attention_lab.models import ModelConfig, Trace, Transformer
from attention_lab.models.engine.size import addresses
from attention_lab.models.interventions.edit import Edit
from attention_lab.models.interventions.edited_pass import Prepared
from attention_lab.models.interventions.head_paths import direct_heads
from attention_lab.models.interventions.head_sweep import sweep_heads, sweep_positions
from attention_lab.pages.lab.block.flow import of_model
from attention_lab.pages.lab.block.lens import read_levels
from tests.models.interventions.conftest import Letters
from tests.models.kinds import KINDS

Make = Callable[..., Transformer]
IDS = torch.tensor([[3, 1, 4, 10, 5, 9, 2]])


def traced(model: Transformer, edit: Any = None) -> Trace:
    trace, given = Trace(edit=edit), [IDS] * (1 + (model.config.kind == "encoder-decoder"))
    model(*given, trace=trace)
    return trace


@pytest.mark.parametrize("norm", ["pre", "both", "after", "none"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_stream_is_a_mixture_of_what_was_added_so_far(make: Make, kind: str, norm: str):
    model = make(kind, norm=norm, depth_attention=True, n_layers=3)
    trace = traced(model)
    assert list(trace) == addresses(model.config)
    for side in model.config.stacks:
        sources, modules = [trace[f"{side}.0.resid_pre"]], model.get_submodule(f"{side}.layers")
        for layer in range(3):
            assert layer == 0 or torch.equal(trace[f"{side}.{layer}.resid_pre"], stream)
            places = [("self", "resid_self"), ("cross", "resid_cross"), ("ff", "resid_post")]
            places = [each for each in places if f"{side}.{layer}.{each[0]}.out" in trace]
            for number, (kind_, after) in enumerate(places):
                sources.append(trace[f"{side}.{layer}.{kind_}.out"])
                weights, stream = trace[f"{side}.{layer}.{kind_}.depth"], trace[f"{side}.{layer}.{after}"]
                stacked = torch.stack(sources, dim=1)  # [query, source, d_model]
                keys = F.rms_norm(stacked, stacked.shape[-1:], eps=model.config.norm_eps)
                query = modules[layer].depth[number].query
                torch.testing.assert_close(weights, (keys @ query).softmax(dim=-1), atol=1e-12, rtol=0)
                torch.testing.assert_close((weights[:, None] @ stacked)[:, 0], stream, atol=1e-12, rtol=0)


def test_a_new_model_takes_the_mean():
    sizes: dict[str, Any] = {"n_layers": 2, "n_heads": 2, "d_model": 8, "vocab_size": 11, "max_len": 8}
    trace = traced(
        Transformer(ModelConfig(kind="decoder-only", depth_attention=True, **sizes), seed=0).eval()
    )
    for at, name in enumerate(("0.self", "0.ff", "1.self", "1.ff"), start=2):
        assert torch.allclose(trace[f"decoder.{name}.depth"], torch.full((7, at), 1 / at))


def test_an_edit_of_a_sublayer_is_read_by_all_that_follow(make: Make):
    model, at = make("decoder-only", depth_attention=True, n_layers=3), "decoder.0.self.out"
    trace = traced(model, lambda address, x: x * 2 if address == at else x)
    sources = [trace["decoder.0.resid_pre"]]
    sources += [trace[f"decoder.{layer}.{name}.out"] for layer in range(3) for name in ("self", "ff")]
    expected = (trace["decoder.2.ff.depth"][:, None] @ torch.stack(sources, dim=1))[:, 0]
    torch.testing.assert_close(trace["decoder.2.resid_post"], expected)
    assert not torch.allclose(sources[1], traced(model)[at])


def test_what_needs_a_sum_is_refused_with_a_sentence(make: Make):
    lm = Letters("letters", make("decoder-only", depth_attention=True))
    reading = lm.read("abcabd")
    for ask in (
        lambda: direct_heads(lm, reading, "logits 3-5 at 2"),
        lambda: sweep_positions(lm, reading, "logits 3-5 at 2", lm.read("abcabe")),
        lambda: of_model(lm, reading, "decoder.1"),
        lambda: read_levels(lm, reading),
    ):
        with pytest.raises(
            ValueError, match=r"^the stream of 'letters' is no sum, .* depth_attention=False$"
        ):
            ask()
    with pytest.raises(
        ValueError, match=r"read by all later ones, .*; edit decoder\.1\.self\.out and decoder"
    ):
        lm.trace(reading, edits=["decoder.1: off"])
    assert lm.word_values("decoder.self", 1, 0) is None and lm.word_values("decoder.self", 0, 0) is not None


@torch.no_grad()
def test_heads_are_swept_as_they_are_edited(make: Make):
    lm = Letters("letters", make("decoder-only", depth_attention=True))
    reading = lm.read("abcabd")
    sweep = sweep_heads(lm, reading, "logits 3-5 at 2")
    edits = Prepared(lm, reading, [Edit.read("decoder.0.self heads 1: zero")], {}).applied(reading)
    logits = lm.trace(reading, edit=edits)["logits"][2]
    found = float(sweep.effects["decoder.self"][0, 1]) + sweep.before
    assert found == pytest.approx(float(logits[3] - logits[5]), abs=1e-9)
