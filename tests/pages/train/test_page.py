"""Train as a visitor has it before a run starts: what can be set, what it costs, and why it cannot start."""

from pathlib import Path

import pytest
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

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
    for _ in range(3):
        at.button(f"{RATE}.up").click().run()
        seen.append(at.number_input(RATE).value)
    for _ in range(5):
        at.button(f"{RATE}.down").click().run()
        seen.append(at.number_input(RATE).value)
    assert seen == pytest.approx([1e-3, 2e-3, 5e-3, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4])
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

    monkeypatch.setattr("pages.train.start.jobs.submit", submit)
    at = opened(steps="5")
    at.text_input("train.name").set_value("My first").run()
    next(button for button in at.button if button.label == "Start").click().run()
    assert started == ["My first"]
    assert at.session_state["kept"]["train"]["name"] == ""  # the next run is another
    assert not at.exception
