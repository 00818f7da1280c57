"""Edits by their lines in models of transformers: every family, grouped queries, sinks, pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from attention_lab.models import compare, load_model
from attention_lab.models.interventions.head_paths import direct_heads
from attention_lab.models.interventions.head_sweep import sweep_heads, sweep_positions
from tests.models.zoo.hub import families
from tests.models.zoo.hub.conftest import Opened
from tests.models.zoo.hub.families import PATTERNS_ONLY, TEXT, TRANSLATORS
from tests.models.zoo.hub.test_families import settings_of

NO_PROJECTION = {"xlnet", "convbert"}
"""Those whose heads go through no matrix of their own: a sum of three axes, a matrix for heads and more."""
SEVERAL = ("albert", "bert", "gpt2", "gpt-oss", "mpt", "t5")
"""Layers that are called again, norms after and before, grouped queries with a sink, a bias, two stacks; the
census edits heads of all others.
"""
SWAPPED = "the street did not cross the animal because it was too tired"  # as many tokens


@pytest.mark.parametrize("family", SEVERAL)
def test_a_patch_from_the_text_itself_changes_no_bit_and_a_layer_that_is_off_adds_nothing(
    opened: Opened, family: str
) -> None:
    model = opened(family)
    given = settings_of(model)
    plain, side = model.trace(TEXT, **given), list(model.attentions)[-1].split(".")[0]
    parts = ("self.q", "self.k", "self.v", "self.pattern", "self", "resid_pre", "resid_post")
    edits = [f'{side}.{layer}.{part}: from "{TEXT}"' for part in parts for layer in (0, 1)]
    same = model.trace(TEXT, edits=edits, **given)
    assert all(torch.equal(same[address], plain[address]) for address in plain)
    off = model.trace(TEXT, edits=[f"{side}.0: off"], **given)
    assert off[f"{side}.1.resid_pre"].equal(plain[f"{side}.0.resid_pre"])


def test_k_and_v_count_the_key_heads_that_query_heads_share(opened: Opened) -> None:
    model = opened("llama")
    plain = model.trace(TEXT)
    edited = model.trace(TEXT, edits=["decoder.0.self.v heads 1: zero"])
    assert (edited["decoder.0.self.z"][2:] == 0).all()
    assert edited["decoder.0.self.z"][:2].equal(plain["decoder.0.self.z"][:2])
    with pytest.raises(ValueError) as error:
        model.trace(TEXT, edits=["decoder.0.self.k heads 3: zero"])
    assert str(error.value) == (
        "decoder.0.self.k heads 3: head 3 is not there, since 4 query heads share 2 key heads; give 0 to 1"
    )


def test_a_row_beside_a_sink_keeps_its_sum(opened: Opened) -> None:
    model = opened("gpt-oss")
    row = model.trace(TEXT)["decoder.1.self.pattern"][2, 2]
    edited = model.trace(TEXT, edits=["decoder.1.self.pattern heads 2 at 2: set 1=0.01 renormalised"])
    made = edited["decoder.1.self.pattern"][2, 2]
    assert made[1].item() == pytest.approx(0.01) and made.sum().item() == pytest.approx(row.sum().item())
    assert row.sum() < 1


def test_a_mask_of_a_window_hides_keys_from_rows_by_hand(opened: Opened) -> None:
    with pytest.raises(ValueError, match="the mask hides position 0 from 6"):
        opened("mistral").trace(TEXT, edits=["decoder.0.self.pattern at 6: only 0"])
    uniform = opened("mistral").trace(TEXT, edits=["decoder.0.self.pattern: uniform"])
    assert uniform["decoder.0.self.pattern"][0, 6].tolist()[3:8] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 0])


@pytest.mark.parametrize("family", PATTERNS_ONLY)
def test_a_model_of_patterns_alone_takes_no_edit(opened: Opened, family: str) -> None:
    side = "encoder"
    with pytest.raises(ValueError) as error:
        opened(family).trace(TEXT, edits=[f"{side}.0.self: zero"])
    assert (
        str(error.value)
        == f"{side}.0.self: nothing in {opened(family).name!r} can be edited; open another model"
    )


def test_heads_that_read_pictures_are_edited(tmp_path: Path) -> None:
    model = load_model(f"hf:{families.save_picture_model('vit', tmp_path)}")
    plain, other = model.trace("1"), model.trace("2")
    patched = model.trace("1", edits=['encoder.1.resid_pre: from "2"'])
    torch.testing.assert_close(patched["logits"], other["logits"])
    assert compare(plain, patched, model.outputs).kl.shape == (1,)


@pytest.mark.parametrize("family", TRANSLATORS)
def test_an_encoder_decoder_answers_as_it_does_by_itself_and_otherwise_under_edits(
    opened: Opened, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attention_lab.models.zoo.hub.model.MOST_WRITTEN", 8)
    model = opened(family)
    reading = model.read(TEXT)
    same = model.answer(reading)
    assert (same.answer, same.tokens) == (reading.answer, reading.tokens)
    assert same.inputs[1].equal(reading.inputs[1])
    lines = ["encoder.1.self: zero", "decoder.0.cross heads 1: scale -30", "decoder.1: off"]
    edited = model.answer(TEXT, edits=lines)
    step = model.trace(edited, edits=lines)["logits"].argmax(-1)  # the likeliest after those before
    written = edited.inputs[1][0].tolist()
    allowed = [at for at in range(1, len(written)) if written[at] != model.net.config.pad_token_id]
    assert [int(step[at - 1]) for at in allowed] == [written[at] for at in allowed]


@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma2"])
def test_a_decoder_goes_on_as_by_itself_and_otherwise_under_edits(opened: Opened, family: str) -> None:
    model = opened(family)
    plain = model.answer(TEXT)
    assert plain.answer == model.generate(TEXT, max_new_tokens=16, temperature=0.0)
    line = "decoder.1.self: scale -20"
    edited = model.answer(TEXT, edits=[line])
    n = len(model.read(TEXT).tokens["decoder"])
    likeliest = model.trace(edited, edits=[line])["logits"].argmax(-1).tolist()
    assert edited.inputs[0][0, n:].tolist() == likeliest[n - 1 : -1]
    assert edited.answer != plain.answer
    assert model.generate(TEXT, max_new_tokens=16, temperature=0.0, edits=[line]) == edited.answer
    ids = model.read(TEXT).inputs[0][0].tolist()
    for _ in range(4):  # step by step
        ids.append(int(model.trace(ids, edits=[line])["logits"][-1].argmax()))
    few = model.generate(TEXT, max_new_tokens=4, temperature=0.0, edits=[line])
    assert few == model.tokenizer.decode(ids[n:])


def test_a_model_that_fills_gaps_writes_nothing(opened: Opened) -> None:
    with pytest.raises(ValueError, match="writes nothing; look at the probabilities of its outputs"):
        opened("bert").answer(TEXT)


@pytest.mark.parametrize("family", sorted(NO_PROJECTION))
def test_heads_without_an_output_projection_are_not_swept(opened: Opened, family: str) -> None:
    model = opened(family)
    with pytest.raises(ValueError, match="are not known"):
        sweep_heads(model, model.read(TEXT), "kl at 0")


@pytest.mark.parametrize("family", SEVERAL)
def test_a_sweep_does_in_a_batch_what_each_edit_does_alone(opened: Opened, family: str) -> None:
    model = opened(family)
    reading = model.read(TEXT, **settings_of(model))
    found = sweep_heads(model, reading, "logits 3-5 at 2", change="mean")
    plain = model.trace(reading)["logits"][2]
    assert found.before == pytest.approx(float(plain[3] - plain[5]), abs=1e-4)
    assert set(found.effects) == set(model.attentions)
    for stack, effects in found.effects.items():
        side, kind = stack.split(".")
        layer = len(effects) - 1
        after = model.trace(reading, edits=[f"{side}.{layer}.{kind} heads 1: mean"])["logits"][2]
        assert float(effects[layer, 1]) == pytest.approx(float(after[3] - after[5]) - found.before, abs=1e-4)
    patched = sweep_positions(model, reading, "logits 3-5 at 2", SWAPPED)
    side = list(patched.effects)[-1]
    line = f'{side}.1.resid_pre at 2: from "{SWAPPED}"'
    after = model.trace(reading, edits=[line])["logits"][2]
    expected = float(after[3] - after[5]) - patched.before
    assert float(patched.effects[side][1, 2]) == pytest.approx(expected, abs=1e-4)


def test_a_model_of_patterns_alone_is_not_swept(opened: Opened) -> None:
    model = opened(next(iter(PATTERNS_ONLY)))
    with pytest.raises(ValueError, match="are not known; open another model"):
        sweep_heads(model, model.read(TEXT), "kl at 0")


@pytest.mark.parametrize("family", ["gpt2", "llama", "gpt-neox"])
def test_the_direct_effect_of_a_head_is_that_of_its_part_of_the_last_stream(
    opened: Opened, family: str
) -> None:
    model = opened(family)
    reading = model.read(TEXT)
    found, plain = direct_heads(model, reading, "logits 3-5 at 2"), model.trace(reading)
    w_o = model.projection("decoder.self", 0)
    assert w_o is not None
    part, last = plain["decoder.0.self.z"][3] @ w_o[3], "decoder.1.resid_post"
    after = model.trace(reading, edit=lambda a, x: x - part if a == last else x)["logits"][2]
    expected = float(after[3] - after[5]) - found.before
    assert float(found.effects["decoder.self"][0, 3]) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("family", ["bert", "gemma2"])
def test_a_stream_with_norms_between_has_no_direct_effects(opened: Opened, family: str) -> None:
    model = opened(family)
    why = "is no plain sum of its layers" if family == "bert" else "is no sum of its heads"
    with pytest.raises(ValueError, match=why):
        direct_heads(model, model.read(TEXT), "kl at 0")
