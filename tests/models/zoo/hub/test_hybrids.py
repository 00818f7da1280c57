"""Models of which some layers alone attend: their layers carry the numbers that the modules' paths have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from attention_lab.models import compare, load_model
from attention_lab.models.contrast import Side, contrast, match_sides
from attention_lab.models.findings import copy_suppression, sinks
from attention_lab.models.interventions.head_sweep import sweep_heads, sweep_positions
from tests.models.zoo.hub import families
from tests.models.zoo.hub.families import TEXT

LAYERS = {"qwen3-next": (3, 7), "lfm2": (1, 3)}
OTHER = "the street did not cross the animal because it was too tired"  # as many tokens


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hybrids")
    for family in LAYERS:
        families.save(family, root / family)
    return root


@pytest.fixture(scope="module")
def models(folders: Path) -> dict[str, Any]:
    return {family: load_model(f"hf:{folders / family}") for family in LAYERS}


@torch.no_grad()
@pytest.mark.parametrize("family", LAYERS)
def test_patterns_lie_at_the_numbers_of_the_layers_that_attend(
    models: dict[str, Any], folders: Path, family: str
) -> None:
    model = models[family]
    assert model.attention("decoder.self").layers == LAYERS[family]
    trace = model.trace(TEXT)
    numbers = [int(address.split(".")[1]) for address in trace if address.endswith(".pattern")]
    assert tuple(numbers) == LAYERS[family]
    eager = AutoModelForCausalLM.from_pretrained(folders / family, attn_implementation="eager").eval()
    seen: dict[int, torch.Tensor] = {}
    for number in LAYERS[family]:
        attends = eager.model.layers[number].self_attn
        attends.register_forward_hook(lambda m, given, made, at=number: seen.update({at: made[1][0]}))
    eager(*model.read(TEXT).inputs, use_cache=False)
    for number, pattern in seen.items():
        torch.testing.assert_close(trace[f"decoder.{number}.self.pattern"], pattern, atol=1e-6, rtol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("family", LAYERS)
def test_an_edit_acts_at_the_number_and_is_refused_where_nothing_attends(
    models: dict[str, Any], folders: Path, family: str
) -> None:
    model, number = models[family], LAYERS[family][0]
    reading = model.read(TEXT)
    edited = model.trace(reading, edits=f"decoder.{number}.self: zero")
    plain = AutoModelForCausalLM.from_pretrained(folders / family).eval()
    attends = plain.model.layers[number].self_attn
    attends.register_forward_hook(lambda m, given, made: (0 * made[0], *made[1:]))
    expected = plain(*reading.inputs, use_cache=False).logits[0]
    torch.testing.assert_close(edited["logits"], expected, atol=1e-4, rtol=1e-4)
    first, last = LAYERS[family]
    with pytest.raises(ValueError, match=f"has nothing to edit in layer 0; give {first} and {last}$"):
        model.trace(reading, edits="decoder.0.self: zero")
    with pytest.raises(ValueError, match=f"has no layer 9; give {first} and {last}$"):
        model.trace(reading, edits="decoder.9.self: zero")
    moved = compare(model.trace(reading), edited).stream["decoder"]
    assert moved.shape[0] == 3 and moved[0].eq(0).all() and moved[1].gt(0).any()


def test_sweeps_name_the_layers_of_their_rows(models: dict[str, Any]) -> None:
    model = models["lfm2"]
    reading = model.read(TEXT)
    heads = sweep_heads(model, reading, "kl at 5")
    assert heads.layers == {"decoder.self": [1, 3]} and heads.effects["decoder.self"].shape == (2, 4)
    plain = model.trace(reading)
    for row, number in enumerate(heads.layers["decoder.self"]):
        edited = model.trace(reading, edits=f"decoder.{number}.self heads 2: zero")
        kl = float(compare(plain, edited).kl[5])
        assert float(heads.effects["decoder.self"][row, 2]) == pytest.approx(kl, rel=1e-3, abs=1e-6)
    for family, layers in LAYERS.items():
        found = sweep_positions(models[family], models[family].read(TEXT), "kl at 5", OTHER)
        assert found.layers == {"decoder": list(layers)} and len(found.effects["decoder"]) == 2


def test_a_contrast_has_a_row_for_every_number_and_matches_heads_by_theirs(models: dict[str, Any]) -> None:
    side = Side(models["qwen3-next"], TEXT)
    moved = contrast(side, Side(models["qwen3-next"], OTHER)).moved["decoder.self"]
    assert moved.shape == (8, 4)
    assert moved.isnan().all(dim=1).tolist() == [at not in (3, 7) for at in range(8)]
    assert moved[[3, 7]].gt(0).any()
    pairs = match_sides(side, side, "decoder.self", (TEXT,)).pairs
    assert [pair.a for pair in pairs] == [pair.b for pair in pairs]
    assert {pair.a.layer for pair in pairs} == {3, 7}


def test_findings_name_layers_by_their_numbers_or_refuse(models: dict[str, Any]) -> None:
    model = models["lfm2"]
    outcome = sinks.measure(model, lambda share: None, tokens=40, texts=1, first=2, sink=0.5, width=8)
    assert list(outcome.charts[0].x) == ["1", "3"]
    assert ", in layer 1;" in outcome.said or ", in layer 3;" in outcome.said
    with pytest.raises(ValueError, match="layer on, but before layer 3, other layers"):
        copy_suppression.measure(model, lambda share: None, tokens=4, texts=1, lowest=5)
