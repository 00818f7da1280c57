"""What is said of a run that stopped early or whose loss grew: at its end, in the list, by the command."""

import pytest

from models.runs import jobs, owners
from models.runs.folder import create_run
from models.runs.jobs import JobRefused
from models.runs.outcome import growing, short
from models.runs.printing import runs_table
from models.runs.worker import train_here
from tests.models.training.small import config


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


def test_a_rate_of_three_is_said_with_the_tasks_rate(root):
    run_config = config(steps=60, learning_rate=3.0, warmup_steps=10, n_snapshots=2)
    run = create_run(run_config)
    status = train_here(run)
    usual = run_config.task.training["learning_rate"]
    losses = [line["loss"] for line in run.metrics()]
    assert status.state == "finished" and losses[-1] > 1.25 * losses[0]
    assert status.outcome.startswith(f"the loss grew from {losses[0]:.3g} to ")
    assert status.outcome.endswith(f"try learning_rate={usual:.2g} instead of 3, more warmup_steps")
    assert "finished, loss grew" in runs_table([run])
    assert growing(run.description(), run.metrics()[:40], usual)  # it is said while the run goes on, too


def test_a_run_that_stops_early_says_where_and_what_was_best(root):
    run = create_run(config(steps=60, validate_every=1, patience=3, min_delta=10.0, n_snapshots=2))
    status = train_here(run)
    assert (status.state, status.step, short(status.outcome)) == ("finished", 4, "early")
    best = run.best()
    assert status.outcome == (
        f"stopped early at step 4 of 60: {best.score} has not improved in 3 validations (patience); "
        f"the best is step {best.step} with {best.score} {best.value:.4g}"
    )
    assert f"{best.score} {best.value:.4g} at {best.step}" in runs_table([run])
    with pytest.raises(JobRefused, match=r"stopped early at step 4 of 60.*; train it further instead"):
        jobs.resume(run.id, by=owners.Visitor(all_rights=True))


def test_a_run_that_learns_has_nothing_to_say(root):
    assert train_here(create_run(config(steps=40, n_snapshots=2))).outcome == ""
