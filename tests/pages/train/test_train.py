import json
import shutil
from dataclasses import replace

import pytest

from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs.folder import Status
from attention_lab.models.training.config import run_config
from attention_lab.pages.shared.training import prepare, settings, tasks_on_offer
from attention_lab.pages.train import watch
from attention_lab.pages.train.form import PRESETS
from attention_lab.viz_core.boards import Curves, Facts, Matrix
from tests.pages.shared.training.conftest import MakeRun
from tests.pages.shared.training.test_settings import shown


@pytest.mark.parametrize("label", PRESETS)
def test_a_preset_is_a_run_that_its_widgets_can_show(label: str) -> None:
    for info in tasks_on_offer.tasks().values():
        changes = PRESETS[label](info)
        assert changes.keys() <= settings.defaults(info).keys(), info.name
        link = settings.to_link(info, settings.defaults(info) | changes)
        assert shown(info, link) == (settings.defaults(info) | changes, []), info.name


def test_what_is_told_before_the_start_is_what_the_model_has() -> None:
    from attention_lab.models.engine.transformer import Transformer

    info = tasks_on_offer.tasks()["reverse"]
    found = prepare.prepared(info, settings.defaults(info))
    model = Transformer(run_config(make_task("reverse")).model, seed=0)
    assert found.n_parameters == sum(parameter.numel() for parameter in model.parameters())
    assert found.memory_bytes > 16 * found.n_parameters
    assert found.seconds is None or found.seconds > 0
    assert found.device.startswith("trains on ")


def test_the_board_of_a_run_keeps_its_shape_as_the_run_goes_on(make_run: MakeRun) -> None:
    run = make_run()
    entries = run.records()
    early, late = (watch.board_of(run, entries[:n], steps=100, notice="") for n in (12, 100))
    shapes = [
        [
            [getattr(panel, "x", panel.values if isinstance(panel, Matrix) else None) for panel in row]
            for row in each.rows
        ]
        for each in (early, late)
    ]
    assert [[getattr(v, "shape", None) for v in row] for row in shapes[0]] == [
        [getattr(v, "shape", None) for v in row] for row in shapes[1]
    ]
    numbers, top = late.rows[:2]
    assert isinstance(numbers[0], Facts)
    facts = {fact.label: fact.values for fact in numbers[0].facts}
    assert (
        facts["step"] == "100" and facts["score, held out"] == "100.0 %" and facts["heads of step"] == "100"
    )
    assert [type(panel) for panel in top] == [Curves, Curves, Curves, Matrix]
    assert [panel.title for panel in late.rows[2]] == ["L0 H0", "L0 H1", "L1 H0", "L1 H1"]


def test_a_run_that_has_not_begun_has_a_board_too(make_run: MakeRun) -> None:
    run = make_run()
    for path in run.folder.path.iterdir():
        if path.name not in ("config.json", "task.json") and path.is_file():
            path.unlink()
    for path in (run.folder.path / "snapshots").iterdir():
        path.unlink()
    empty = watch.board_of(run, [], steps=100, notice="waits")
    facts = {fact.label: fact.values for fact in empty.rows[0][0].facts}
    assert set(facts.values()) == {"–"}


def test_heads_have_their_places_before_the_first_snapshot(make_run: MakeRun) -> None:
    run = make_run()
    config = run.folder.config().model
    later = watch.board_of(run, [], steps=100, notice="")
    shutil.rmtree(run.folder.path / "snapshots")
    early = watch.board_of(run, [], steps=100, notice="", live=True)
    assert [panel.title for panel in early.rows[2]] == [
        f"L{layer} H{head}" for layer in range(config.n_layers) for head in range(config.n_heads)
    ]
    assert early.rows[1][-1].values.shape == later.rows[1][-1].values.shape
    assert not early.rows[1][-1].values.any()
    assert len(watch.board_of(run, [], steps=100, notice="").rows) == 3


def test_shares_and_the_learning_rate_are_drawn_on_axes_that_stay(make_run: MakeRun) -> None:
    rows = watch.board_of(make_run(learning_rate=0.002, clip=0.5), [], steps=100, notice="").rows
    _, scores, gradient, _ = rows[1]
    assert scores.y_range == (0, 1)
    assert gradient.lines[1].name == "clipped at 0.5" and (gradient.lines[1].y == 0.5).all()
    assert rows[-1][0].title == "learning rate" and rows[-1][0].y_range == (0, 0.002)


def test_the_share_of_the_peak_is_shown_where_it_is_known() -> None:
    entries = [{"step": 1, "share_of_peak": 0.314}]
    shown = {fact.label: fact.values for fact in watch.numbers(entries, []).facts}
    assert shown["share of peak"] == "31.4%"
    assert "share of peak" not in {fact.label for fact in watch.numbers([{"step": 1}], []).facts}


def test_progress_says_how_long_it_will_take() -> None:
    entries = [{"step": 25}]
    running = Status(state="running", step=25, steps=100, seconds=10.0)
    assert watch._progress(running, entries, 100) == "Training: step 25 of 100 in 10 s, about 30 s left"
    paused = Status(state="paused", step=25, steps=100, seconds=10.0)
    assert watch._progress(paused, entries, 100) == "Paused: step 25 of 100 in 10 s"
    timed = watch._progress(running, entries, 100, minutes=0.5)  # the time is over before the steps
    assert timed == "Training: step 25 of 100 in 10 s, about 20 s left"


def test_a_message_of_a_second_is_small(make_run: MakeRun) -> None:
    from attention_lab.pages.shared.board.message import message

    run = make_run()
    entries = run.records()
    sent = message(watch.board_of(run, entries, steps=100, notice=""), part=run.id, link={})
    assert len(sent) < 30_000, json.dumps(len(sent))


def test_no_number_is_rounded_to_nothing() -> None:
    entry = {"step": 100, "loss": 7.65e-7, "gradient_norm": 0.5, "learning_rate": 0.0}
    facts = {fact.label: fact.values for fact in watch.numbers([entry], ()).facts}
    assert facts["loss"] == "7.65e-07" and facts["learning rate"] == "0" and facts["step"] == "100"
    assert facts["gradient norm"] == "0.50" and facts["loss, held out"] == "–"


def test_the_seconds_of_compiling_are_said_apart() -> None:
    status = Status(state="finished", step=100, steps=100, seconds=20.0, compiling=12.5)
    assert watch._progress(status, [], 100) == "Finished: step 100 of 100 in 20 s, after 12 s of compiling"
    assert watch._progress(replace(status, compiling=0.0), [], 100) == "Finished: step 100 of 100 in 20 s"
