"""Families of shipped models: their dials open the member there, and members differ in nothing else."""

import json
import lzma
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load as from_bytes

from attention_lab.models import load_model
from attention_lab.models.byte_units import MB
from attention_lab.models.config import ModelConfig
from attention_lab.models.fields import fields_of
from attention_lab.models.files import FileError
from attention_lab.models.runs.recipes import RECIPES
from attention_lab.models.training.config import TrainingConfig
from attention_lab.models.zoo import model_file
from attention_lab.models.zoo.catalogue import offers
from attention_lab.models.zoo.families import FAMILIES
from attention_lab.models.zoo.folders import CARD, SHIPPED, read_card
from attention_lab.models.zoo.others.families import load, sizes_of, standing
from attention_lab.viz_core.measures import head_scores

MEMBERS = [(each, name, values) for each in FAMILIES.values() for name, values in each.members().items()]
TWICE = "RtnuOIVwNfpRtnuOIVwNfp"


@pytest.mark.parametrize(("family", "name", "values"), MEMBERS, ids=lambda x: x if isinstance(x, str) else "")
def test_each_member_ships_and_differs_in_its_dials_alone(family, name, values):
    lm, first = load(family, **values), load_model(family.member(family.first))
    assert name in RECIPES
    own, usual = lm.config.to_dict(), first.config.to_dict()
    turned = family.changed(values) if family.alone else values
    assert all(own.get(dial, value) == value for dial, value in turned.items())
    follows = {"n_heads": "d_head", "d_model": "d_head", "positions": "max_len"}  # learned know fewer
    allowed = {name for dial in turned for name in (dial, *follows.get(dial, "").split())}
    assert {key for key in own if own[key] != usual[key]} <= allowed
    text = family.examples[0]["text"]
    assert torch.isfinite(lm.trace(text)["logits"]).all()


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_a_family_is_offered_with_its_dials(family):
    offer = offers()[family.name]
    dials = offer.settings[: len(family.dials)]
    assert {dial.name: dial.default for dial in dials} == family.first
    known = {*fields_of(ModelConfig), *fields_of(TrainingConfig)}
    assert all(dial.builds and dial.trained and dial.name in known for dial in dials)
    assert sum(not dial.aside for dial in dials) <= 4
    assert [list(dial.rule.options) for dial in dials] == list(family.dials.values())


def strongest(**values) -> float:
    """The induction score of the head that has most of it."""
    trace = load(FAMILIES["induction-sizes"], **values).trace(TWICE)
    tokens = trace.tokens["decoder"]
    patterns = [trace[at].numpy() for at in trace if at.endswith(".pattern")]
    return max(float(head_scores(each, tokens=tokens)["induction"].max()) for each in patterns)


def test_two_layers_find_what_followed_one_does_not_and_eight_heads_have_not_yet():
    assert strongest(n_layers=2, n_heads=1, positions="sinusoidal") > 0.9
    assert strongest(n_layers=2, n_heads=2, positions="sinusoidal") > 0.9
    assert strongest(n_layers=1, n_heads=2, positions="sinusoidal") < 0.3
    assert strongest(n_layers=2, n_heads=8, positions="sinusoidal") < 0.3


def test_only_some_normalizers_make_a_sink():
    """With a softmax, letters that have nothing to look for look at the first token."""
    on_first = {}
    for name in FAMILIES["sinks"].dials["normalizer"]:
        trace = load(FAMILIES["sinks"], normalizer=name).trace("tbcdaftkuslmnopqrst")
        on_first[name] = float(trace["decoder.0.self.pattern"][0, 2:, 0].mean())
    assert on_first["softmax"] > 0.35
    assert max(on_first[name] for name in ("sigmoid", "softpick", "learnt-sink")) < 0.2


def test_where_dials_turn_alone_the_first_member_is_what_each_is_compared_with():
    family = FAMILIES["translator-sizes"]
    config = load(family, **family.first).config
    own = {**config.to_dict(), "n_kv_heads": config.key_heads, "label_smoothing": 0.0}
    assert {dial: own[dial] for dial in family.dials} == family.first
    assert len(family.members()) == 1 + sum(len(values) - 1 for values in family.dials.values())
    with pytest.raises(ValueError, match="n_heads=8 and n_layers=1 are of two models; turn one of them back"):
        load(family, **{**family.first, "n_heads": 8, "n_layers": 1})


def test_dials_say_what_followed_the_one_that_was_turned():
    family = FAMILIES["translator-sizes"]
    now = sizes_of(family, {**family.first, "n_heads": 8})
    assert (now["n_heads"], now["d_head"], now["n_kv_heads"], now["d_ff"]) == (8, 8, 8, 256)
    now = sizes_of(family, {**family.first, "d_model": 128})
    assert (now["d_head"], now["d_ff"], now["n_heads"]) == (32, 256, 4)


def test_a_member_says_how_well_it_does_beside_the_first():
    family = FAMILIES["translator-sizes"]
    scored = family.scored()
    right, first = (
        sum(each["whole sentences"] for each in scored[name]) / len(scored[name])
        for name in ("translator-sizes/n_layers-1", "translator-sizes/first")
    )
    n = sum(each.numel() for each in load(family, **{**family.first, "n_layers": 1}).model.parameters())
    said = standing(family, {**family.first, "n_layers": 1})
    assert said == f"{right:.0%} of new sentences right, of the first {first:.0%}; {n:,} parameters"
    assert ", of" not in standing(family, family.first)
    assert standing(FAMILIES["sinks"], FAMILIES["sinks"].first) == ""


def folders() -> list[Path]:
    """Where the members of all families lie."""
    return [SHIPPED / name for _, name, _ in MEMBERS]


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_member_ships_in_half_precision_packed_and_is_read_as_single(folder):
    """Anybody may unpack it: what is packed is a whole file of safetensors."""
    (path,) = folder.glob("*.safetensors*")
    assert path.name == f"{folder.name}.safetensors.xz"
    stored = from_bytes(lzma.decompress(path.read_bytes()))
    assert {each.dtype for each in stored.values()} == {torch.float16}
    read = load_model(folder).model.state_dict()
    assert all(torch.equal(read[key], each.float()) for key, each in stored.items())


def test_all_families_weigh_at_most_20_mb():
    files = [path for name in FAMILIES for path in (SHIPPED / name).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 20 * MB == 20_000_000


def test_members_share_what_they_learnt():
    for family in FAMILIES.values():
        cards = [SHIPPED / name / CARD for name in family.members()]
        learnt = [read_card(card)["learnt"] for card in cards]
        assert all(each == learnt[0] for each in learnt)
        assert not any(json.loads(card.read_text(encoding="utf-8")).get("learnt") for card in cards)


def test_weights_that_unpack_to_more_than_is_allowed_are_refused(tmp_path, monkeypatch):
    shutil.copytree(SHIPPED / "induction-sizes" / "1-1-none", tmp_path / "one")
    n_bytes = len(lzma.decompress((tmp_path / "one" / "1-1-none.safetensors.xz").read_bytes()))
    monkeypatch.setattr(model_file, "MAX_WEIGHTS_BYTES", n_bytes)
    load_model(tmp_path / "one")
    monkeypatch.setattr(model_file, "MAX_WEIGHTS_BYTES", n_bytes - 1)
    with pytest.raises(FileError, match="choose a smaller file"):
        load_model(tmp_path / "one")
