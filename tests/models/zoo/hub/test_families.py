"""Models of transformers are traced as they compute: every number beside their own eager attention."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from attention_lab.models import load_model
from attention_lab.models.engine.size import CELL
from attention_lab.models.zoo.hub.loading import pattern_fields
from attention_lab.models.zoo.hub.model import HubModel
from tests.models.zoo.hub import families
from tests.models.zoo.hub.conftest import Opened
from tests.models.zoo.hub.families import (
    ANSWER,
    FAMILIES,
    PATTERNS_ONLY,
    TEXT,
)

SEVERAL = ("albert", "bart", "bert", "deberta", "gemma2", "gpt2", "gpt-oss", "llama", "mpt", "t5")
"""One of each way to attend; the census reads the streams of all others, proved as they are opened."""


def settings_of(model: HubModel) -> dict[str, Any]:
    return {"target": ANSWER} if model.kind == "encoder-decoder" else {}


@torch.no_grad()
def eager(model: HubModel, family: str) -> Any:
    """What transformers' own class computes, from the same folder, by its eager attention."""
    import transformers

    untouched = getattr(transformers, FAMILIES[family][0]).from_pretrained(
        model.folder.path, attn_implementation="eager"
    )
    reading = model.read(TEXT, **settings_of(model))
    given = dict(zip(("input_ids", "decoder_input_ids"), reading.inputs, strict=False))
    return untouched.eval()(**given, use_cache=False, output_attentions=True, output_hidden_states=True)


def patterns_of(made: Any, kind: str) -> dict[str, Tensor]:
    return {
        f"{stack.split('.')[0]}.{layer}.{stack.split('.')[1]}.pattern": pattern[0]
        for stack, field in pattern_fields(kind).items()
        for layer, pattern in enumerate(getattr(made, field))
    }


@pytest.mark.parametrize("family", PATTERNS_ONLY)  # test_census compares all others
def test_patterns_and_logits_are_those_of_eager_attention(opened: Opened, family: str) -> None:
    check_eager(opened(family), family)


def test_a_t5_may_have_more_layers_that_write_than_layers_that_read(tmp_path: Path) -> None:
    sizes = {"num_layers": 1, "num_decoder_layers": 3}
    model = load_model(f"hf:{families.save('t5', tmp_path, **sizes)}")
    assert [model.attention(f"{stack}.self").n_layers for stack in ("encoder", "decoder")] == [1, 3]
    check_eager(model, "t5")
    answered = model.trace(TEXT)  # with the answer that it writes itself
    assert answered.tokens["decoder"][1:] and model.answer(TEXT).tokens == answered.tokens


def check_eager(model: HubModel, family: str) -> None:
    trace, made = model.trace(TEXT, **settings_of(model)), eager(model, family)
    expected = patterns_of(made, model.kind)
    assert {a for a in trace if a.endswith("pattern")} == set(expected)
    for address, pattern in expected.items():
        torch.testing.assert_close(trace[address], pattern, atol=1e-5, rtol=0)
    torch.testing.assert_close(trace["logits"], made.logits[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", SEVERAL)
def test_the_parts_of_every_attention_make_its_whole(opened: Opened, family: str) -> None:
    model = opened(family)
    trace = model.trace(TEXT, **settings_of(model))
    assert model.note == ""
    assert set(model.addresses()) <= set(trace)
    patterns = [address for address in trace if address.endswith("pattern")]
    for at in (address.removesuffix("pattern") for address in patterns):
        side, layer, kind, _ = at.split(".")
        about = model.attention(f"{side}.{kind}")
        q, k, v, scores = (trace[at + name].double() for name in ("q", "k", "v", "scores"))
        assert (len(q), len(k)) == (about.n_heads, about.n_key_heads)
        shared = about.n_heads // about.n_key_heads
        k, v = (each.repeat_interleave(shared, dim=0) for each in (k, v))
        mine = about.scales[int(layer)] * q @ k.mT
        mine = mine if about.cap is None else about.cap * torch.tanh(mine / about.cap)
        mine += trace[at + "bias"].double() if about.has_bias else 0
        seen = scores > -torch.inf
        torch.testing.assert_close(mine[seen], scores[seen], atol=1e-5, rtol=1e-5)
        pattern = trace[at + "pattern"].double()
        if about.normalizer == "softmax":
            torch.testing.assert_close(scores.softmax(-1), pattern, atol=1e-6, rtol=0)
        assert torch.equal(pattern > 0, seen) or about.normalizer == "learnt-sink"
        if about.normalizer == "learnt-sink":
            assert (pattern.sum(-1) < 1).all()
        torch.testing.assert_close(pattern @ v, trace[at + "z"].double(), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("family", SEVERAL)
def test_the_stream_is_transformers_hidden_states(opened: Opened, family: str) -> None:
    model = opened(family)
    trace, made = model.trace(TEXT, **settings_of(model)), eager(model, family)
    for stack in ("encoder", "decoder"):
        two = model.kind == "encoder-decoder"
        states = getattr(made, f"{stack}_hidden_states" if two else "hidden_states")
        if f"{stack}.0.resid_pre" not in trace:
            continue
        n_layers = model.attention(f"{stack}.self").n_layers
        for layer, state in enumerate(states[:n_layers]):
            torch.testing.assert_close(trace[f"{stack}.{layer}.resid_pre"], state[0], atol=1e-5, rtol=1e-5)
            if layer:
                before = trace[f"{stack}.{layer - 1}.resid_post"]
                torch.testing.assert_close(before, state[0], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(trace[f"{stack}.norm"], states[-1][0], atol=1e-5, rtol=1e-5)


def test_a_layer_whose_weights_are_shared_is_recorded_each_time_that_it_is_called(opened: Opened) -> None:
    model = opened("albert")
    trace = model.trace(TEXT)
    assert model.attention("encoder.self").n_layers == 3 and model.layout is not None
    assert len({id(layer.module) for layer in model.layout.layers}) == 1
    assert [a for a in trace if a.endswith("pattern")] == [f"encoder.{n}.self.pattern" for n in range(3)]
    last = trace["encoder.2.resid_pre"]
    assert torch.equal(trace["encoder.1.resid_post"], last) and not torch.equal(
        trace["encoder.0.resid_post"], last
    )


def test_a_layer_that_is_called_again_costs_again(opened: Opened) -> None:
    model = opened("albert")
    assert model.layout is not None
    count = lambda module: sum(p.numel() for p in module.parameters())  # noqa: E731
    weights = count(model.net) + 2 * count(model.layout.layers[0].module)
    cells = 3 * 4 * 10 * 10 * (4 * 8 + CELL)
    assert model.operations([10]) == 2 * weights * 10 + cells
    alone = opened("nystromformer")  # of which patterns alone are known, not the width of a head
    assert alone.operations([10]) == 2 * count(alone.net) * 10 + 2 * 4 * 10 * 10 * (4 * 8 + CELL)


@pytest.mark.parametrize("name", ["pattern", "scores", "resid_post"])
def test_what_follows_is_computed_from_what_an_edit_gives(opened: Opened, name: str) -> None:
    model = opened("llama")
    at = "decoder.0.resid_post" if name == "resid_post" else f"decoder.0.self.{name}"
    new = torch.zeros_like(model.trace(TEXT)[at])
    trace = model.trace(TEXT, edit=lambda address, value: new if address == at else value)
    assert torch.equal(trace[at], new)
    if name == "resid_post":
        assert torch.equal(trace["decoder.1.resid_pre"], new)
        return
    v = trace["decoder.0.self.v"].repeat_interleave(2, dim=0)
    pattern = new if name == "pattern" else torch.full_like(new, 1 / new.shape[-1])
    torch.testing.assert_close(trace["decoder.0.self.z"], pattern @ v, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("family", PATTERNS_ONLY)
def test_what_cannot_be_recorded_is_said_and_never_invented(opened: Opened, family: str) -> None:
    model = opened(family)
    trace = model.trace(TEXT)
    assert "shows only its attention weights" in model.note
    assert {address.rsplit(".", 1)[-1] for address in trace} == {"pattern", "logits"}
    assert not any(model.attention(stack).whole for stack in model.attentions)
    with pytest.raises(ValueError, match="nothing can be edited"):
        model.trace(TEXT, edit=lambda address, value: value)


def test_weights_in_half_the_bits_stay_so_and_are_traced_in_whole_numbers(tmp_path: Path) -> None:
    import transformers

    folder = families.save("llama", tmp_path)
    kept = transformers.LlamaForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    kept.save_pretrained(folder)
    model = load_model(f"hf:{folder}")
    assert model.net.dtype == torch.bfloat16
    trace = model.trace(TEXT)
    assert trace["decoder.0.self.pattern"].dtype == torch.float32
    kept.eval().set_attn_implementation("eager")
    made = kept(*model.read(TEXT).inputs, output_attentions=True)
    torch.testing.assert_close(trace["decoder.1.self.pattern"], made.attentions[1][0].float(), atol=0, rtol=0)
    hidden = trace["decoder.0.self.scores"][:, 0, 1:]
    assert torch.equal(hidden, torch.full_like(hidden, -torch.inf))
