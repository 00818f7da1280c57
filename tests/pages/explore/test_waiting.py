"""Where what Explore shows and what is taken away of it is computed, and what is said meanwhile."""

import base64
import io
import pickle
from typing import Any

import numpy as np
import pytest

from attention_lab.models.zoo.engine_model import EngineModel
from attention_lab.pages.explore import effect, figure, takeaway, waiting
from attention_lab.pages.explore.question import Question
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import operations_of
from attention_lab.pages.explore.takeaway import StageView, TakeAway, csv_of
from attention_lab.pages.explore.waiting import Waiting
from attention_lab.pages.shared import cache, visitors, work, work_process
from attention_lab.pages.shared.work import StoppedError
from attention_lab.viz_core.viewer.message import header_of
from tests.limits import SetLimits

DEAR = Inputs("untrained", " ".join(f"w{at}" for at in range(300)), n_layers=2, n_heads=16, seed=3)
CHEAP = Inputs("untrained", "the cat sat", n_layers=2, n_heads=16, seed=3)
ACT = {"view": "head", "layer": 1, "head": 2}


def asked(inputs: Inputs) -> Question:
    return Question(model=inputs.model, text=inputs.text, settings=inputs.settings)


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
    offered: dict[str, Any] = {}

    def show(figure: Any, downloads: Any, **said: Any) -> None:
        offered.update(figure=figure, files={file.label: file for file in downloads}, **said)

    monkeypatch.setattr(takeaway.takeaway_dialog, "show", show)
    takeaway.show_all(ACT, asked(DEAR), dark=False)
    assert process.did == ["take_away"]
    files = offered["files"]
    table = files["Numbers, CSV"].make()
    archive = np.load(io.BytesIO(files["Whole trace, NPZ"].make()), allow_pickle=False)
    assert "data:application/gzip" in files["Figure, offline HTML"].make()
    assert process.did == ["take_away", "table", "archive", "body_of_inputs"]
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


def test_it_is_said_how_far_a_figure_is_until_nobody_waits() -> None:
    wait = Waiting()
    assert wait.progress == "Computing: the model is opened first."
    wait.note_layers(1, 2)
    assert wait.progress == "Computing the figure: 1 of 2 layers are done."
    wait.note_share(0.25)  # of a search, a sweep, or an answer
    assert wait.progress == "Computing: 25% is done."
    wait.note_dear(DEAR, None)
    assert wait.progress == "This takes up to 1.3 billion operations, in at most 20 seconds."
    wait.stop()
    for hears in (wait.check, lambda: wait.note_layers(2, 2), lambda: wait.note_share(0.5)):
        with pytest.raises(StoppedError):
            hears()


def test_a_figure_that_nobody_waits_for_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EngineModel, "trace", lambda *a, **k: pytest.fail("it was computed"))
    wait = Waiting()
    wait.stop()
    with pytest.raises(StoppedError):
        figure.answer(Question(model="untrained", text="a b c", settings={"seed": 412}), wait)


def test_a_dear_figure_of_a_class_comes_from_the_process(process: Process) -> None:
    cache.payloads.drop()
    wait = Waiting()
    message = figure.answer(asked(DEAR), wait)
    assert process.did == ["body_of_inputs"] and wait.progress.startswith("This takes up to 1.3 billion")
    assert header_of(message)["asked"]["text"] == DEAR.text


def test_a_search_for_heads_is_dear_where_its_trace_is_not(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = Inputs(text="it", edits="encoder.1.self heads 3: zero")
    monkeypatch.setattr(effect, "MOST", 20)
    process.works = True  # what is asked of here is where it is computed, not whether
    for name, what in (("written", ()), ("smallest", ("encoder.self",))):
        request = figure.REQUESTS[name]
        found = waiting.answer_request(name, inputs, what, Waiting(), request.maker, **request.more)
        assert "problem" not in found, found
    assert process.did == ["smallest"]
    assert not waiting.is_dear(inputs)
    each = operations_of(inputs.unedited)
    assert effect.price_written(inputs) == 2 * each * 18  # a word, so at most 2 + 16 tokens
    assert effect.price_smallest(inputs, "encoder.self") == 20 * each * 18
    monkeypatch.setattr(work, "most_operations", lambda **said: 5 * each)
    with pytest.raises(ValueError, match="billion; take a smaller model"):
        effect.write_both(inputs)


def test_a_search_ends_once_nobody_waits() -> None:
    wait = Waiting()

    def ended(inputs: Inputs, stack: str, progress: Any) -> dict[str, Any]:
        progress(0.1)
        wait.stop()
        progress(0.2)
        raise AssertionError("it went on")

    with pytest.raises(StoppedError):
        waiting.answer_request("smallest", CHEAP, ("encoder.self",), wait, ended, tells=True)
