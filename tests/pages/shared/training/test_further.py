"""The form that trains a run further: what it offers, and the change that it hands on."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs.continuation import Change
from attention_lab.models.runs.folder import Status, create_run, write_status
from attention_lab.models.runs.queue import JobRefused
from attention_lab.models.training.config import run_config
from attention_lab.pages.shared.training.runs import Run
from tests.pages.shared.training.conftest import MakeRun
from tests.pages.texts_of_apptest import texts


def page(run_id: str) -> None:
    import streamlit as st

    from attention_lab.pages.shared.page_parts import show_problems
    from attention_lab.pages.shared.state import problems
    from attention_lab.pages.shared.training import further, runs

    run = runs.find(run_id)
    assert run is not None
    show_problems(problems())
    further.draw(run, runs.status_of(run), lambda new: st.text(f"started {new}"))


@pytest.fixture
def run(make_run: MakeRun) -> Run:
    found = make_run(learning_rate=0.004)
    write_status(found.folder.path, Status(state="finished", step=100, steps=100))
    return found


def opened(run: Run) -> AppTest:
    at = AppTest.from_function(page, args=(run.id,), default_timeout=60).run()
    assert not at.exception
    return at


def test_only_what_was_changed_is_handed_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Change] = []
    monkeypatch.setattr(
        "attention_lab.pages.shared.training.further.jobs.extend",
        lambda run_id, change, **more: asked.append(change) or "the-new-run",
    )
    at, key = opened(run), f"further.{run.id}"
    assert at.number_input(f"{key}.learning_rate").value == 0.004  # the run's own, not the task's default
    at.button(f"{key}.go").click().run()
    at.number_input(f"{key}.steps").set_value(150)
    at.number_input(f"{key}.learning_rate").set_value(0.001)
    at.number_input(f"{key}.dropout").set_value(0.25)
    at.toggle(f"{key}.forget").set_value(True)
    at.segmented_control(f"{key}.how").set_value("anew")
    at.button(f"{key}.go").click().run()
    assert not at.exception
    assert asked == [
        Change(steps=200),
        Change(
            steps=150,
            training={"learning_rate": 0.001},
            model={"dropout": 0.25},
            schedule="anew",
            moments="forgotten",
        ),
    ]
    assert at.text[-1].value == "started the-new-run"


def test_sizes_are_not_offered_and_a_refusal_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def extend(*_: object, **__: object) -> str:
        raise JobRefused("8 runs wait already; wait until one has started")

    monkeypatch.setattr("attention_lab.pages.shared.training.further.jobs.extend", extend)
    at, key = opened(run), f"further.{run.id}"
    keys = {each.key for each in at.number_input}
    assert f"{key}.batch_size" in keys
    assert not keys & {f"{key}.{name}" for name in ("n_heads", "d_model", "seed", "schedule_from")}
    at.button(f"{key}.go").click().run()
    assert "8 runs wait already" in " ".join(texts(at.run()))


def test_columns_of_the_run_s_file_are_menus(root: Path, tmp_path: Path) -> None:
    table = tmp_path / "reviews.csv"
    rows = [f"{at};number {at} was {word};{word}" for at in range(30) for word in ("good", "bad")]
    table.write_text("\n".join(["No.;what they wrote;verdict", *rows]))
    options = {"file": str(table), "text_column": "what they wrote", "label_column": "verdict"}
    task = make_task("sentiment", options)
    folder = create_run(run_config(task, training={"steps": 100}))
    write_status(folder.path, Status(state="finished", step=100, steps=100))
    at = opened(Run(folder.id, folder)).run()
    menu = at.selectbox(f"further.{folder.id}.text_column")
    assert menu.value == "what they wrote"
    assert menu.options == ["by its name or place", "No.", "what they wrote", "verdict"]
    assert not texts(at)  # no value was refused
