"""Knobs on models of transformers, small and with random weights: against the library's own arithmetic."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from models import load_model
from models.contrast import Side, contrast, knobs
from tests.models.zoo.hub.families import TEXT, save


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("gpt2", tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="module")
def side(folder: Path) -> Side:
    return Side(load_model(f"hf:{folder}"), TEXT)


@pytest.mark.parametrize("value", ["bfloat16", "float16"])
def test_a_format_is_that_of_the_library(folder: Path, side: Side, value: str) -> None:
    dtype = getattr(torch, value)
    own = transformers.GPT2LMHeadModel.from_pretrained(folder, attn_implementation="eager").to(dtype).eval()
    found = knobs()["format"].applied(side, value)
    reading = side.read()
    with torch.no_grad():
        made = own(reading.inputs[0], output_attentions=True, use_cache=False)
    trace = found.trace(reading)
    assert trace["logits"].dtype == torch.float32 and trace["logits"].equal(made.logits[0].float())
    assert trace["decoder.1.self.pattern"].equal(made.attentions[1][0].float())
    assert found.model.number_format == value and side.model.number_format == "float32"


def test_rows_of_transposed_matrices_are_rounded_too(side: Side) -> None:
    before, after = (
        model.net.transformer.h[0].mlp.c_fc.weight
        for model in (side.model, knobs()["format"].applied(side, "int8").model)
    )
    steps = before.abs().amax(dim=0) / 127  # [in, out]: a row of the usual layout is a column here
    torch.testing.assert_close(after, (before / steps).round() * steps)
    assert not after.equal(before)


def test_scores_are_heated_and_unscaled_beside_the_mask(side: Side) -> None:
    before = side.trace()
    scores = before["decoder.0.self.scores"]
    hot = knobs()["temperature"].applied(side, "4").trace()
    torch.testing.assert_close(hot["decoder.0.self.pattern"], (scores / 4).softmax(dim=-1))
    off = knobs()["scale"].applied(side, "off").trace()
    wanted = (scores * side.model.attention("decoder.self").d_head ** 0.5).softmax(dim=-1)
    torch.testing.assert_close(off["decoder.0.self.pattern"], wanted)
    near = knobs()["mask"].applied(side, "window:2").trace()["decoder.1.self.pattern"]
    assert near.triu(1).eq(0).all() and near.tril(-2).eq(0).all() and near.diagonal(-1, 1, 2).gt(0).all()


def test_what_a_model_of_transformers_cannot_have_is_said(side: Side) -> None:
    for name in ("positions", "heads"):
        why = knobs()[name].why_not(side)
        assert (
            why.startswith(f"{name} can only be changed in models of our engine")
            and "open one of ours" in why
        )
    with pytest.raises(ValueError, match=r"mask='none' would let .* look where it never looks"):
        knobs()["mask"].applied(side, "none")
    all_of_it = f"padding:{len(side.read().tokens['decoder'])}"
    with pytest.raises(ValueError, match=f"mask='{all_of_it}' hides all keys from a query; choose one that"):
        contrast(side, knobs()["mask"].applied(side, all_of_it))


def test_order_is_compared_word_by_word(side: Side) -> None:
    c = contrast(side, knobs()["order"].applied(side, "reversed"))
    both = [(i, j) for i, j in c.aligned["decoder"].pairs if i is not None and j is not None]
    assert len(both) > 10 and both != sorted(both, key=lambda pair: pair[1])


def refusal(tmp_path: Path, family: str, knob: str) -> Any:
    return knobs()[knob].why_not(Side(load_model(f"hf:{save(family, tmp_path)}"), TEXT))


def test_scales_that_are_not_seen_and_scores_beside_sinks_are_left_alone(tmp_path: Path) -> None:
    assert "are not scaled by 1/√d_head where that can be seen" in refusal(tmp_path / "t5", "t5", "scale")
    assert "shifted beside its sinks" in refusal(tmp_path / "oss", "gpt-oss", "temperature")


def test_a_cap_and_a_bias_stand_where_they_stood(tmp_path: Path) -> None:
    capped = Side(load_model(f"hf:{save('gemma2', tmp_path / 'gemma2', query_pre_attn_scalar=8)}"), TEXT)
    at, cap = "decoder.0.self", capped.model.attention("decoder.self").cap
    assert cap == 0.5
    off = knobs()["scale"].applied(capped, "off").trace()
    q, k = capped.trace()[f"{at}.q"], capped.trace()[f"{at}.k"].repeat_interleave(2, dim=0)
    scores = off[f"{at}.scores"]
    wanted = (cap * torch.tanh(q @ k.mT / cap)).masked_fill(scores.isneginf(), -torch.inf)
    torch.testing.assert_close(scores, wanted)
    biased = Side(load_model(f"hf:{save('t5', tmp_path / 't5')}"), TEXT)
    assert biased.model.attention("encoder.self").has_bias
    for side, where in ((capped, at), (biased, "encoder.0.self")):
        hot = knobs()["temperature"].applied(side, "0.5").trace()[f"{where}.pattern"]
        torch.testing.assert_close(hot, (side.trace()[f"{where}.scores"] / 0.5).softmax(dim=-1))
