"""The page as a visitor uses it: the form counts before it starts, an opened sweep shows its trials."""

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from attention_lab.models.sweeps import list_sweeps
from attention_lab.models.sweeps.plan import Plan
from attention_lab.pages.shared.board import takeaway
from attention_lab.pages.sweeps import form, open_sweep, state
from attention_lab.viz_core.boards import Board
from tests.pages.sweeps.conftest import MakeSweep
from tests.pages.texts_of_apptest import texts

SECONDS = 60


def _page() -> None:
    import runpy

    runpy.run_path("pages/sweeps/page.py")


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page of a first visit; its links lead nowhere, since there are no other pages."""
    links: list[dict] = []
    monkeypatch.setattr(st, "page_link", lambda page, **given: links.append({"page": page, **given}))
    monkeypatch.setattr(Plan, "seconds", lambda self, n_slots: 90.0)
    shown = AppTest.from_function(_page, default_timeout=SECONDS)
    shown.session_state["links"] = links
    return shown


def said(page: AppTest) -> str:
    assert not page.exception, page.exception
    return "\n".join(texts(page))


def test_the_form_refuses_in_place_and_keeps_what_was_typed(page: AppTest, root: Path) -> None:
    page.query_params["task"] = "reverse"
    page.run()
    assert said(page) == "" and not page.button("sweeps.start").disabled
    page.selectbox("sweeps.reverse.form.vary1").set_value("n_heads").run()
    assert page.text_input("sweeps.reverse.form.values1").value == "2, 4, 8"
    page.text_input("sweeps.reverse.form.values1").set_value("2, seven").run()
    assert said(page) == ("Heads: 'seven' is not a whole number from 1 to 64; change it, or leave it out")
    assert page.button("sweeps.start").disabled
    assert page.text_input("sweeps.reverse.form.values1").value == "2, seven"
    page.text_input("sweeps.reverse.form.values1").set_value("3").run()
    assert "d_model=64 is not divisible by n_heads=3" in said(page)
    assert not list_sweeps()


def test_a_grid_of_ten_thousand_runs_is_refused_with_a_remedy(page: AppTest) -> None:
    numbers = ", ".join(map(str, range(1, 101)))
    page.query_params.update({
        "task": "reverse", "rows": "2", "vary1": "steps", "values1": numbers,
        "vary2": "batch_size", "values2": numbers, "seeds": "1",
    })  # fmt: skip
    page.run()
    assert "10,000 settings × 1 seed = 10,000 runs, and a sweep has at most" in said(page)
    assert page.button("sweeps.start").disabled


def test_rows_come_and_go(page: AppTest) -> None:
    page.query_params["task"] = "reverse"
    page.run()
    assert page.selectbox("sweeps.reverse.form.vary2").value == ""  # a row for another setting
    page.selectbox("sweeps.reverse.form.vary2").set_value("n_layers").run()
    assert page.text_input("sweeps.reverse.form.values2").value == "1, 2, 4"
    page.selectbox("sweeps.reverse.form.vary1").set_value("").run()
    assert page.text_input("sweeps.reverse.form.values2").value == "1, 2, 4"
    assert page.selectbox("sweeps.reverse.form.vary3").value == ""
    assert said(page) == ""


def test_start_makes_the_sweep_that_was_counted(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(form, "start", lambda name, by: started.append(name))
    page.query_params.update(
        {"task": "reverse", "vary1": "n_heads", "values1": "1, 2", "name": "mine", "steps": "20"}
    )
    page.run()
    page.button("sweeps.start").click().run()
    assert said(page) == "" or "No process" in said(page)
    (sweep,) = list_sweeps()
    assert started == [sweep.name] == ["mine"]
    assert sweep.spec.settings() == ["steps=20", "n_heads=1,2"] and sweep.spec.seeds == 3
    assert page.session_state["kept"][state.PAGE]["sweep"] == "mine"
    page.button("sweeps.new").click().run()
    page.text_input("sweeps.reverse.form.name").set_value("mine").run()
    page.button("sweeps.start").click().run()
    assert (
        "there is a sweep 'mine' already; resume it, delete it, or take another name, such as 'mine-2'"
        in (said(page).lower())
    )
    assert page.text_input("sweeps.reverse.form.values1").value == "1, 2"  # nothing that was typed is lost


def test_a_link_of_a_page_that_had_ranges_opens_with_all_trials(page: AppTest, make_sweep: MakeSweep) -> None:
    make_sweep(fails=6)
    page.query_params.update({"sweep": "heads", "within": "n_heads:1.5:4;norm:0:0", "brush": "*best"})
    page.run()
    assert page.get("progress")[0].proto.text == r"Stopped\: 6 of 6 trials \(1 failed\)"
    assert "link" not in said(page)


def test_what_is_taken_away_is_the_board_as_it_stands(
    page: AppTest, make_sweep: MakeSweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_sweep()
    taken: list[Board] = []
    monkeypatch.setattr(takeaway, "dialog", lambda title, name, drawn, *rest: taken.append(drawn))
    page.query_params.update({"sweep": "heads", "by": "norm", "order": "best"})  # a link of an older page
    page.run()
    page.session_state["takeaway"] = {"type": "takeaway", "frame": 0}
    page.run()
    (drawn,) = taken
    assert drawn.rows[0][0].title == "exact match by trial"


def test_a_family_of_models_is_a_sweep_to_look_at(page: AppTest) -> None:
    page.query_params.update({"sweep": "translator-sizes", "trial": "5"})
    page.run()
    assert page.get("progress")[0].proto.text == r"Finished\: 25 of 25 trials in 1 h 7 min"
    assert "come with the app, so nobody can stop or delete it; press a trial to open its model" in said(page)
    assert {button.key for button in page.button} == {"sweeps.new"}
    assert not page.code  # no command draws these few of all combinations
    assert "**Trial 5**: Layers 1. finished" in [each.value for each in page.markdown]
    (link,) = page.session_state["links"]
    assert link["query_params"] == {"model": "translator-sizes", "n_layers": "1"}


def test_a_family_with_all_combinations_can_be_tried_again(page: AppTest) -> None:
    page.query_params["sweep"] = "induction-sizes"
    page.run()
    assert {button.key for button in page.button} == {"sweeps.new", "sweeps.again"}
    page.button("sweeps.again").click().run()
    assert page.text_input("sweeps.induction.form.values2").value == "1, 2, 4, 8"


def test_a_model_that_the_limits_leave_out_has_no_link(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_sweep.on_offer, "may_open", lambda name: False)
    page.query_params.update({"sweep": "sinks", "trial": "0"})
    page.run()
    assert "**Trial 0**" in "".join(each.value for each in page.markdown)
    assert page.session_state["links"] == []


def test_a_sweep_that_is_gone_is_said_and_the_form_comes(page: AppTest) -> None:
    page.query_params["sweep"] = "<b>gone</b>"
    page.run()
    assert "There is no sweep '<b>gone</b>'; choose one of the list." in said(page)
    assert page.button("sweeps.start")


@pytest.mark.parametrize("opened", ["+", "induction-heads"])
def test_a_file_in_the_place_of_the_folder_of_runs_is_said_at_once(
    page: AppTest, root: Path, opened: str
) -> None:
    root.write_text("")
    page.query_params.update({"task": "reverse", "sweep": opened})
    page.run()
    rule = f"'{root}' is a file, but runs need a folder; let ATTENTION_LAB_RUNS name a folder, or unset"
    assert rule in said(page)
    if opened == "+":
        assert page.button("sweeps.start").disabled
    else:  # the shipped sweep can be looked at still, and the sentence stays while it is
        page.run()
        assert rule in said(page)
    root.unlink()
    page.run()
    assert rule not in said(page) and (opened != "+" or not page.button("sweeps.start").disabled)
