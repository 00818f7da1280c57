"""Explore with models of transformers: what a visitor may open, and what the stage gets of one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attention_lab.models import load_model
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.pages.explore.payload import Opened, build
from attention_lab.pages.explore.state import MODEL, Inputs
from attention_lab.pages.explore.subject import subject_of
from attention_lab.pages.explore.takeaway import StageView, csv_of
from attention_lab.pages.shared import cache, on_offer, visitors
from tests.limits import SetLimits
from tests.models.zoo.hub import families
from tests.models.zoo.hub.families import ANSWER, TEXT
from tests.pages.explore.test_payload import exact_arrays, unpack


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for family in ("llama", "gemma2", "bart", "t5", "nystromformer"):
        families.save(family, root / family)
    return root


def test_a_class_names_no_folder_of_the_server(
    folders: Path, monkeypatch: pytest.MonkeyPatch, set_limits: SetLimits
) -> None:
    name = f"hf:{folders / 'llama'}"
    assert on_offer.may_open(name)
    monkeypatch.setenv("ATTENTION_LAB_MODELS", str(folders))
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    assert not on_offer.may_open(name)
    assert "folders of the server" in on_offer.why_not(name)
    assert on_offer.may_open("hf:llama")
    assert "hf:llama" in on_offer.of_transformers()
    set_limits(models=["translator", "hf:bart"])
    on_offer.check()
    assert on_offer.of_transformers() == ["hf:bart"]
    assert not MODEL.fits("hf:llama")
    assert "is not among the models allowed here, hf:bart" in on_offer.why_not("hf:llama")
    assert "is not on this machine" in on_offer.why_not("hf:absent") or not on_offer.may_open("hf:absent")


def test_heads_that_share_keys_are_sent_with_the_keys_that_they_share(folders: Path) -> None:
    name = f"hf:{folders / 'llama'}"
    subject = subject_of(Inputs(name, TEXT))
    header, blocks = unpack(build(subject, Opened()).packed.message(g=1))
    (stack,) = header["stacks"]
    assert (stack["sharing"], stack["whole"], stack["turned"]) == (2, True, [0, 1])
    trace = load_model(name).trace(TEXT)
    block = header["exact"][1]
    arrays = exact_arrays(block, blocks)
    for head in range(4):
        np.testing.assert_array_equal(arrays["k"][head], trace["decoder.1.self.k"][head // 2].numpy())
        np.testing.assert_array_equal(arrays["v"][head], trace["decoder.1.self.v"][head // 2].numpy())
    assert subject.note == "2 neighbouring query heads share one head of keys and values."


@pytest.mark.parametrize("family", ["llama", "gemma2", "t5"])
def test_what_is_taken_away_is_what_the_trace_has(folders: Path, family: str) -> None:
    name = f"hf:{folders / family}"
    given = {"target": ANSWER} if family == "t5" else {}
    inputs = Inputs(name, TEXT, **given)
    side = "encoder" if family == "t5" else "decoder"
    act = {"view": "numbers", "stack": f"{side}.self", "layer": 1, "head": 3, "query": 5, "key": 2}
    shown = StageView(inputs, act)
    figure = shown.figure(dark=False)
    trace = load_model(name).trace(TEXT, **given)
    weight = trace[f"{side}.1.self.pattern"][3, 5, 2].item()
    text = figure.to_json()
    assert ("tanh" in text) == (family == "gemma2")
    rows = csv_of(shown).splitlines()
    n = trace[f"{side}.1.self.pattern"].shape[-1]
    assert float(rows[1 + 5 * n + 2].split(",")[-1].strip('"')) == pytest.approx(weight, rel=1e-5)
    assert "hf:" in shown.code


def test_patterns_alone_are_shown_and_taken_away_without_inventing_the_rest(folders: Path) -> None:
    inputs = Inputs(f"hf:{folders / 'nystromformer'}", TEXT)
    subject = subject_of(inputs)
    header, blocks = unpack(build(subject, Opened()).packed.message(g=1))
    assert not header["stacks"][0]["whole"]
    arrays = set(exact_arrays(header["exact"][0], blocks))
    assert "pattern" in arrays and not arrays & {"q", "k", "v", "scores", "z"}
    shown = StageView(inputs, {"view": "numbers", "stack": "encoder.self", "show": "scores"})
    assert shown.figure(dark=False).data[0].type == "heatmap"
    assert csv_of(shown).splitlines()[0] == '"query_position","query","key_position","key","weight"'


def test_a_model_is_loaded_once_for_all_and_makes_room_for_another(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"hf:{folders / 'bart'}"
    assert cache.model(name) is cache.model(name)
    offer = offer_of(name)
    assert offer is not None
    calls: list[str] = []

    def load() -> object:
        calls.append("asked")
        if len(calls) == 1:
            raise cache.NoRoomError("no room")
        return load_model(name)

    made = cache._loaded(replace(offer, load=load), {})
    assert (calls, made.name) == (["asked", "asked"], name)
    assert cache.transformers.get(("model", name, offer.stamp)) is None
