"""A run's tags and notes on the page: edited in place, bounded, shown as they were typed."""

import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.models.runs.folder import notes_of, tags_of
from attention_lab.models.runs.owners import NotAllowed
from attention_lab.pages.shared.training.runs import Run
from tests.pages.shared.training.conftest import MakeRun
from tests.pages.texts_of_apptest import texts


def page(run_id: str) -> None:
    from attention_lab.pages.runs import actions
    from attention_lab.pages.shared.page_parts import show_problems
    from attention_lab.pages.shared.state import problems
    from attention_lab.pages.shared.training import runs

    run = runs.find(run_id)
    assert run is not None
    show_problems(problems())
    actions.edit(run)
    actions.show_notes(run)


def opened(run: Run) -> AppTest:
    at = AppTest.from_function(page, args=(run.id,), default_timeout=60).run()
    assert not at.exception
    return at


def write(at: AppTest, run: Run, tags: str, notes: str) -> list[str]:
    """Saves tags and notes; the texts that the page then shows."""
    at.text_input(f"runs.tags.{run.id}").set_value(tags)
    at.text_area(f"runs.notes.{run.id}").set_value(notes)
    at.button("runs.save").click().run()
    assert not at.exception
    return texts(at)


def test_tags_and_notes_are_kept_and_shown_as_typed(make_run: MakeRun) -> None:
    run = make_run()
    shown = write(opened(run), run, "good, <b>odd</b>", "with *stars*\nand lines")
    said = run.folder.description()
    assert tags_of(said) == ["good", "<b>odd</b>"] and notes_of(said) == "with *stars*\nand lines"
    assert shown == ["Tags: good, <b>odd</b>", "with *stars*\nand lines"]
    assert said["training"]["steps"] == 100  # nothing else was touched


def test_another_visitor_s_run_is_not_noted(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()

    def refuse(*_: object) -> None:
        raise NotAllowed("this run is another visitor's: only its owner and a teacher may change its notes")

    monkeypatch.setattr("attention_lab.models.runs.jobs.owners.check", refuse)
    assert "this run is another visitor's" in " ".join(write(opened(run), run, "mine", ""))
    assert tags_of(run.folder.description()) == []


def test_what_was_changed_is_told(make_run: MakeRun) -> None:
    first, run = make_run(name="first"), make_run()
    changed = {"learning_rate": [0.01, 0.001]}
    entry = {"step": 60, "from": first.id, "changed": changed, "schedule": "goes on"}
    run.folder._describe(history=[entry, "damaged"])
    told = "Trained further from “first”, from step 60: learning_rate 0.01 → 0.001, the schedule goes on"
    assert [each.value for each in opened(run).text] == [told]
