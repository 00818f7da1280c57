"""Where what Explore shows and what is taken away of it is computed, and what the page says meanwhile."""

import base64
import io
import pickle
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.models.zoo.engine_model import EngineModel
from attention_lab.pages.explore import effect, takeaway, waiting
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import operations_of
from attention_lab.pages.explore.takeaway import StageView, TakeAway, csv_of
from attention_lab.pages.shared import streamlit_internals, visitors, work, work_process
from attention_lab.viz_core.viewer.message import pack
from tests.limits import SetLimits

MESSAGE = pack(a=1).message(taught={"text": "", "label": "other"})
DEAR = Inputs("untrained", " ".join(f"w{at}" for at in range(300)), n_layers=2, n_heads=16, seed=3)
CHEAP = Inputs("untrained", "the cat sat", n_layers=2, n_heads=16, seed=3)
ACT = {"view": "head", "layer": 1, "head": 2}


class Process:
    """Stands for the process for dear work: while it works, figures may be computed."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self.works = False

    def run(self, function: Any, *given: Any, place: str, is_wanted: Any, **_: Any) -> Any:
        self.did.append(function.__name__)
        is_wanted()
        self.works = True
        result = function(*given)
        self.works = False
        return pickle.loads(pickle.dumps(result))  # it comes through a pipe


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch, set_limits: SetLimits) -> Process:
    """A class, in which nothing is traced but by the process for dear work."""
    made, trace = Process(), EngineModel.trace

    def watched(self: Any, *given: Any, **settings: Any) -> Any:
        assert made.works, "a trace on the thread for what is cheap"
        return trace(self, *given, **settings)

    set_limits(cheap_billions=1)
    monkeypatch.setattr(work_process.figures, "call", made.run)
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    monkeypatch.setattr(EngineModel, "trace", watched)
    return made


def test_all_that_is_taken_away_of_a_dear_figure_comes_from_the_process(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(takeaway, "last", lambda page, otherwise: DEAR)
    offered: dict[str, Any] = {}

    def show(figure: Any, downloads: Any, **said: Any) -> None:
        offered.update(figure=figure, files={file.label: file for file in downloads}, **said)

    monkeypatch.setattr(takeaway.takeaway_dialog, "show", show)
    takeaway.show_all(ACT, MESSAGE, dark=False)
    assert process.did == ["take_away"]
    files = offered["files"]
    table = files["Numbers, CSV"].make()
    archive = np.load(io.BytesIO(files["Whole trace, NPZ"].make()), allow_pickle=False)
    assert "data:application/gzip" in files["Figure, offline HTML"].make()
    assert process.did == ["take_away", "table", "archive"]
    process.works = True
    same = StageView(DEAR, ACT)
    assert table == csv_of(same)
    drawn, expected = offered["figure"], same.figure(dark=False)
    sent = drawn.data[0].z  # as bytes in text, as Plotly sends them
    cells = np.frombuffer(base64.b64decode(sent["bdata"]), sent["dtype"])
    np.testing.assert_allclose(cells, expected.data[0].z.ravel(), rtol=1e-6)
    assert drawn.layout.title.text == expected.layout.title.text
    assert archive["encoder.1.self.pattern"].shape == (16, 300, 300)
    assert offered["title"] == "Self-attention, layer 1 head 2"
    assert offered["code"].endswith('pattern = trace["encoder.1.self.pattern"][2]  # [query, key]')


def test_what_is_cheap_or_asked_for_by_one_person_needs_no_process(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    process.works = True
    found: TakeAway = waiting.runner(CHEAP)(takeaway.take_away, CHEAP, ACT, False)
    assert found.file_name == "encoder-1-self-head-2" and found.archive_bytes == 2 * 4 * 2 * 16 * 9
    monkeypatch.setattr(visitors, "is_class", lambda: False)
    assert waiting.runner(DEAR)(takeaway.table, DEAR, ACT).startswith(
        '"query_position","query","key_position"'
    )
    assert process.did == []


class Inside:
    """Stands for what a slot holds: a text, and a button beside it."""

    def __init__(self, slot: "Slot") -> None:
        self.slot = slot

    def empty(self) -> "Inside":
        return self

    def html(self, text: str) -> None:
        self.slot.shows.append(text)

    def button(self, label: str, **_: object) -> None:
        self.slot.buttons.append(label)


class Slot:
    """Stands for an `st.empty`."""

    def __init__(self) -> None:
        self.shows: list[str] = []
        self.buttons: list[str] = []

    def container(self, **_: object) -> Inside:
        return Inside(self)

    def empty(self) -> None:
        self.shows.append("")


def test_the_page_says_that_a_dear_figure_is_computed_until_it_is(process: Process) -> None:
    slot: Any = Slot()
    with pytest.raises(ValueError), waiting.waiting_for(DEAR, slot):
        said = "".join(slot.shows)
        raise ValueError
    assert said == (
        '<div class="computing" role="status">This figure takes up to 1.3 billion operations: a process of '
        "its own computes it, in at most 20 seconds, after what others asked for.</div>"
    )
    assert slot.shows == [said, ""]
    with waiting.waiting_for(CHEAP, slot):
        assert len(slot.shows) == 2


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What the waiting is timed by: it goes on only where a test says so."""
    clock = Clock()
    monkeypatch.setattr(waiting, "time", clock)
    return clock


def said(text: str) -> str:
    return f'<div class="computing" role="status">{text}</div>'


def test_a_page_that_waits_says_how_far_it_is_and_offers_to_stop(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    slot: Any = Slot()
    monkeypatch.setattr(waiting, "last", lambda page, otherwise: DEAR)
    with waiting.waiting_for(CHEAP, slot) as wait:
        wait.check()
        assert slot.shows == []  # a quick figure shows nothing
        clock.now += 0.3
        wait.check()
        wait.check()
        first = said("Computing the figure: its model is opened and its text read first.")
        assert slot.shows == [first] and slot.buttons == []
        wait.note_layers(1, 2)
        clock.now += 2
        wait.check()
        wait.check()
        assert slot.shows == [first, said("Computing the figure: 1 of 2 layers are done.")]
        assert slot.buttons == ["Stop"]
        wait.note_share(0.25)  # of a search, a sweep, or an answer
        wait.check()
        assert slot.shows[-1] == said("Computing: 25% of the most that it takes is done.")
    assert slot.shows[-1] == ""
    with pytest.raises(waiting.StoppedError):  # whoever computes on hears that nobody waits
        wait.note_layers(2, 2)
    with pytest.raises(waiting.StoppedError):
        wait.note_share(0.5)


def test_a_page_may_wait_twice_in_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused text is waited for, then what is shown instead; Streamlit refuses a key that comes twice."""
    monkeypatch.setattr(waiting, "SOON", -1)
    monkeypatch.setattr(waiting, "LONG", -1)
    page = AppTest.from_function(_waits_twice, default_timeout=60).run()
    assert not page.exception
    assert [each.key for each in page.button] == ["computing.stop-1"]  # in the place of the first


def _waits_twice() -> None:
    import streamlit as st

    from attention_lab.pages.explore import waiting
    from attention_lab.pages.explore.state import Inputs

    slot = st.empty()
    for text in ("one", "two"):
        wait = waiting.Waiting(Inputs(text=text), slot)
        wait.check()


def test_another_head_of_what_is_shown_cannot_be_stopped(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    slot: Any = Slot()
    monkeypatch.setattr(waiting, "last", lambda page, otherwise: CHEAP)
    with waiting.waiting_for(CHEAP, slot) as wait:
        clock.now += 5
        wait.check()
        assert len(slot.shows) == 1 and slot.buttons == []


def test_a_press_of_stop_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rerun(BaseException):
        pass

    def rerun() -> None:
        raise Rerun

    monkeypatch.setattr(streamlit_internals, "is_pressed", lambda key: key == "computing.stop")
    monkeypatch.setattr(waiting.st, "rerun", rerun)
    with pytest.raises(Rerun), waiting.waiting_for(CHEAP, None) as wait:
        wait.check()
    with pytest.raises(waiting.StoppedError):
        wait.note_layers(0, 2)


def test_a_search_for_heads_is_dear_where_its_trace_is_not(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = Inputs(text="it", edits="encoder.1.self heads 3: zero")
    session: dict[str, object] = {"explore.last": inputs}
    monkeypatch.setattr(waiting.st, "session_state", session)
    monkeypatch.setattr(effect, "MOST", 20)
    process.works = True  # what is asked of here is where it is computed, not whether
    waiting.note_request("smallest", "encoder.self")
    waiting.note_request("written")
    for name, maker, price in (
        ("written", effect.write_both, effect.price_written),
        ("smallest", effect.smallest, effect.price_smallest),
    ):
        found = waiting.answer_request(name, inputs, None, maker, price, tells=True)
        assert "problem" not in found, found
    assert process.did == ["smallest"]
    assert not waiting.is_dear(inputs)
    each = operations_of(inputs.unedited)
    assert effect.price_written(inputs) == 2 * each * 18  # a word, so at most 2 + 16 tokens
    assert effect.price_smallest(inputs, "encoder.self") == 20 * each * 18
    monkeypatch.setattr(work, "most_operations", lambda **said: 5 * each)
    with pytest.raises(ValueError, match="are computed for a figure; take a smaller model"):
        effect.write_both(inputs)


def test_a_search_ends_once_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = Inputs(edits="encoder.1.self heads 3: zero")
    monkeypatch.setattr(waiting.st, "session_state", {"explore.last": inputs})
    waiting.note_request("smallest", "encoder.self")

    def ended(inputs: Inputs, stack: str, progress: Any) -> dict[str, Any]:
        progress(0.1)
        waits[0].end()
        progress(0.2)
        raise AssertionError("it went on")

    waits: list[waiting.Waiting] = []
    init = waiting.Waiting.__init__
    monkeypatch.setattr(
        waiting.Waiting, "__init__", lambda self, *given: (waits.append(self), init(self, *given))[1]
    )
    with pytest.raises(waiting.StoppedError):
        waiting.answer_request("smallest", inputs, None, ended, tells=True)
