"""Train as a visitor has it before a run starts: what can be set, what it costs, and why it cannot start."""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import RerunData
from streamlit.testing.v1 import AppTest

from attention_lab.models.data.tasks import make_task
from attention_lab.models.limits import in_force
from attention_lab.models.runs import owners, queue
from attention_lab.models.runs.folder import Status, create_run, write_status
from attention_lab.models.runs.owners import Ownership
from attention_lab.models.training.config import run_config
from attention_lab.pages.shared import visitors
from tests.pages.texts_of_apptest import texts

FILE = Path(__file__).parents[3] / "pages" / "train" / "page.py"
RATE = "train.reverse.learning_rate"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no other page to link to."""
    monkeypatch.setattr(DeltaGenerator, "page_link", lambda *given, **more: None)


def opened(**link: str) -> AppTest:
    at = AppTest.from_file(str(FILE), default_timeout=60)
    at.query_params.update({"task": "reverse", **link})
    at.run()
    assert not at.exception
    return at


def test_the_rate_s_buttons_step_by_factors_and_any_rate_can_be_typed() -> None:
    at = opened(learning_rate="0.001")
    seen = [at.number_input(RATE).value]
    for _ in range(2):
        at.button(f"{RATE}.up").click().run()
        seen.append(at.number_input(RATE).value)
    for _ in range(3):
        at.button(f"{RATE}.down").click().run()
        seen.append(at.number_input(RATE).value)
    assert seen == pytest.approx([1e-3, 2e-3, 5e-3, 2e-3, 1e-3, 5e-4])
    at.number_input(RATE).set_value(3.3e-4).run()
    assert at.session_state["kept"]["train.reverse"]["learning_rate"] == 3.3e-4
    at.button(f"{RATE}.up").click().run()
    assert at.session_state["kept"]["train.reverse"]["learning_rate"] == pytest.approx(5e-4)
    assert not at.exception


def test_a_run_is_named_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []

    def submit(config: object, *, name: str = "", **more: object) -> str:
        started.append(name)
        return "no-such-run"

    monkeypatch.setattr("attention_lab.pages.train.start.jobs.submit", submit)
    at = opened(steps="5")
    at.text_input("train.name").set_value("My first").run()
    next(button for button in at.button if button.label == "Start").click().run()
    assert started == ["My first"]
    assert at.session_state["kept"]["train"]["name"] == ""  # the next run is another
    assert not at.exception


def start(at: AppTest) -> Any:
    return next(button for button in at.button if button.label == "Start")


def test_what_can_only_be_refused_cannot_be_started_and_says_why(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = opened()
    assert not start(at).disabled
    run = create_run(run_config(make_task("reverse")), name="mine")
    visitor = visitors.visitor()
    owners.write_owned(run.path, Ownership(owner=visitor.id))
    monkeypatch.setattr(queue, "in_force", lambda: replace(in_force(), live_runs=1))
    now = time.time()
    status = Status(state="queued", queued_at=now, heartbeat=now)
    write_status(run.path, status)
    for page in (at.run(), opened()):  # a reload is a new session, and sees the same
        assert start(page).disabled
        assert "'mine' of yours train or wait already, the most there may be" in said(page)
    write_status(run.path, replace(status, state="stopped"))
    assert not start(at.run()).disabled and said(at) == ""
    monkeypatch.setattr(queue, "memory_left", lambda: 1_000)
    assert start(at.run()).disabled
    assert "of memory, but 1.0 kB are free; no single change is enough" in said(at)
    assert [path.name for path in root.iterdir()] == [run.id]


def test_what_a_link_had_wrong_stays_said_when_a_run_may_start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "The link's learning_rate='fast' is not a number"
    monkeypatch.setattr(queue, "in_force", lambda: replace(in_force(), live_runs=1))
    run = create_run(run_config(make_task("reverse")), name="mine")
    owners.write_owned(run.path, Ownership(owner=visitors.visitor().id))
    now = time.time()
    status = Status(state="queued", queued_at=now, heartbeat=now)
    write_status(run.path, status)
    at = opened(learning_rate="fast")
    assert start(at).disabled and any(wrong in text for text in texts(at))
    write_status(run.path, replace(status, state="stopped"))
    # The browser asks for what is told before the start alone, as it does by itself every few seconds; the
    # fragment before it loads the program of boards.
    _, told = at._fragment_storage._fragments
    alone = partial(RerunData, fragment_id=told)
    monkeypatch.setattr("streamlit.testing.v1.local_script_runner.RerunData", alone)
    at.run()
    assert not start(at).disabled and any(wrong in text for text in texts(at))


def said(at: AppTest) -> str:
    return " ".join(text for text in texts(at) if " the most " in text or " free; " in text)
