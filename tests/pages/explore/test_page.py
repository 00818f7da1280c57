"""Explore's page: what it begins with, what it opens, and what it says where something is refused."""

from pathlib import Path

import pytest

from attention_lab.models.zoo.catalogue import offers
from attention_lab.pages.explore import figure, panel, routes
from attention_lab.pages.explore.question import Question
from attention_lab.pages.explore.state import SHOWCASE, Inputs
from attention_lab.pages.explore.waiting import Waiting
from attention_lab.viz_core.viewer.message import header_of
from tests.limits import SetLimits
from tests.models.zoo.hub import families
from tests.pages.explore.answer_header import linked
from tests.pages.explore.explore_page import dialog, opened, said, shown
from tests.pages.shared.runs import write_run


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


def test_a_link_arrives_and_what_is_wrong_with_it_is_said() -> None:
    page = opened(model="untrained", text="a b c", n_heads="2", seed="-1", view="head", layer="9")
    assert shown(page) == ("untrained", "a b c")
    assert said(page) == [
        "The link's seed='-1' is not a whole number from 0 to 999; its default is shown.",
        "The link's layer=9 is not below 2; its default is shown.",
    ]
    header = header_of(page.session_state.message)
    assert (header["asked"]["settings"]["n_heads"], header["linked"]) == (2, {"view": "head"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("a z", "'z' is no character of 'reverse'"), ("x" * 20_001, "The link's text='xxx")],
)
def test_a_text_that_a_run_cannot_read_gives_way_to_its_own(runs: Path, text: str, sentence: str) -> None:
    model = write_run(runs, "reverse")
    page = opened(model=model, text=text)
    assert shown(page)[0] == model and shown(page)[1].endswith("=")
    (why,) = said(page)
    assert why.startswith(sentence)


def test_a_model_that_cannot_be_loaded_gives_way_to_the_translator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = ("SqueezeBertForMaskedLM", "SqueezeBertConfig", families._SIZES | {"embedding_size": 32})
    monkeypatch.setitem(families.FAMILIES, "squeezebert", family)
    page = opened(model=f"hf:{families.save('squeezebert', tmp_path / 'squeezebert')}")
    (sentence,) = said(page)
    assert "not from 0 to 1" in sentence
    assert shown(page) == ("translator", SHOWCASE)


def test_who_comes_back_without_a_link_sees_what_was_seen_last() -> None:
    page = opened(model="untrained", text="a b c")
    page.query_params.clear()

    def come_back() -> tuple[str, str]:
        page.session_state["page"] = "runs"
        page.run()
        assert not page.exception
        return shown(page)

    assert come_back() == ("untrained", "a b c")
    asked = Question(model="induction", text="abab")
    routes.note_shown(page.session_state.session, figure.answered(asked, Waiting())[0])
    assert come_back() == ("induction", "abab")


def test_another_model_is_opened_by_its_dialog_or_refused_in_it(tmp_path: Path) -> None:
    folder = families.save("gpt2", tmp_path / "gpt2")
    page = dialog(opened(), "models")
    page.text_input(key="other_model").set_value(str(folder)).run()
    assert shown(page)[0] == f"hf:{folder}" and said(page) == []
    page = dialog(opened(), "models")
    page.text_input(key="other_model").set_value(str(tmp_path / "nowhere")).run()
    assert shown(page)[0] == "translator"
    assert said(page)[0].endswith("; the previous model stays loaded.")


# What the page is asked for, and what the stage is declared.


def test_the_same_sentence_in_both_translators_is_one_press_away() -> None:
    place = {"stack": "encoder.self", "layer": 0, "head": 1}
    assert panel.beside_link(Inputs("everyday", "i love pizza"), place, "translator") == {
        "model": "everyday", "text": "i love pizza", "differs": "model", "model2": "translator"
    }  # fmt: skip
    link = panel.beside_link(Inputs(beam=2), place)
    assert link["text2"] == SHOWCASE.replace("tired", "wide") and link["with"] == "beam=2"
    assert (link["stack"], link["layer"], link["head"]) == ("encoder.self", "0", "1")


def test_the_model_to_compare_with_is_offered_where_it_may_be_opened(set_limits: SetLimits) -> None:
    told = offers()["translator"]
    assert linked()["taught"] == {"text": told.taught, **told.contrast}
    set_limits(models=["translator"])
    assert linked()["taught"] == {"text": told.taught, "label": "", "model": ""}
    assert linked(model="translator")["controls"]["models"] == [
        {"value": "translator", "text": "Resolves pronouns (translator)"}
    ]
    assert panel.contrast_of(offers()["untrained"]) is None


def test_a_model_is_declared_once(runs: Path) -> None:
    first = linked(model="untrained", text="a b")
    asked = Question(model="untrained", text="a b", has=first["has"])
    assert "controls" not in header_of(figure.answer(asked, Waiting()))
    declared = {each["name"]: each for each in first["controls"]["settings"]}
    assert declared["n_layers"] == {
        "name": "n_layers", "label": "Layers", "control": "slider", "low": 1, "high": 8, "usual": 2
    }  # fmt: skip
    assert declared["mask_arg"]["of"] == "mask" and "window" in declared["mask_arg"]["arguments"]
    assert first["controls"]["linked"] == ["n_heads", "d_model", "d_head"]
    assert linked()["controls"]["linked"] == [] and linked()["sizes"] == {}
