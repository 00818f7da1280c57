"""A run of so many minutes: it ends when they are over, its rate follows them, and a pause does not count."""

from itertools import count

import pytest

from attention_lab.models.runs.folder import create_run
from attention_lab.models.runs.recording import train_into
from attention_lab.models.runs.results import outcome_of
from attention_lab.models.training import loop
from attention_lab.models.training.config import TrainingConfig
from attention_lab.models.training.estimates import START_SECONDS, whole_seconds
from attention_lab.models.training.loop import Training, learning_rate
from tests.models.training.small import config
from tests.small_runs import stop_after


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """A second goes by with each look at the clock."""
    seconds = map(float, count())
    monkeypatch.setattr(loop.time, "perf_counter", lambda: next(seconds))


def timed(**training):
    return config(steps=1_000, minutes=0.5, n_snapshots=2, warmup_steps=2, **training)


def test_a_run_ends_with_its_minutes_and_its_last_step_is_validated():
    training = Training(timed())
    records = list(training)
    assert 5 < len(records) < 30
    assert training.is_over and training.step == len(records) and 30 <= training.seconds < 33
    assert records[-1].validation and not records[0].validation
    assert Training(config(steps=3, minutes=100)).time_share == 0
    assert len(list(Training(config(steps=3, minutes=100)))) == 3  # its steps come first


def test_validations_come_with_the_time_where_its_steps_do_not_bring_them():
    steps = [record.step for record in Training(timed(validate_every=999)) if record.validation]
    assert 2 < len(steps) < 20


@pytest.mark.parametrize("schedule", ["cosine", "trapezoid", "constant", "warm-up"])
def test_the_rate_is_that_of_the_step_that_is_as_far_as_the_time(schedule):
    how = TrainingConfig(steps=100, warmup_steps=10, schedule=schedule, final_rate=0.1)
    for step, share in ((5, 0.9), (20, 0.1), (20, 0.6), (95, 0.3), (20, 2.0)):
        on = step if step <= 10 or schedule in ("constant", "warm-up") else max(step, min(100, share * 100))
        assert learning_rate(how, step, share) == pytest.approx(learning_rate(how, round(on)))
    rates = [record.learning_rate for record in Training(timed(schedule=schedule))]
    assert schedule in ("constant", "warm-up") or rates[-1] < 0.7 * max(rates)


def test_minutes_before_a_pause_count(tmp_path):
    run = create_run(timed(), path=tmp_path / "run")
    assert not train_into(run, timed(), **stop_after(4))
    before = run.checkpoint().values["seconds"]
    assert 0 < before < 30
    assert train_into(run, timed())
    assert 30 <= run.checkpoint().values["seconds"] < 33
    step = run.checkpoint().step
    assert outcome_of(run, step)[0] == f"ended after its 0.5 minutes, at step {step} of 1,000"
    assert train_into(run, timed())  # nothing is left
    assert run.checkpoint().step == step


def test_an_estimate_knows_the_minutes(monkeypatch):
    monkeypatch.undo()
    long = config(steps=1_000_000, minutes=0.5)
    assert START_SECONDS + 30 <= whole_seconds(long) < START_SECONDS + 35
    short = config(steps=2, minutes=1_000)
    assert whole_seconds(short) < 60
