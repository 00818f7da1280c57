"""The best weights are those of the best validation that the records tell of, whatever ended the run."""

import math

import pytest
import torch
from safetensors.torch import load_file

from attention_lab.models import load_model
from attention_lab.models.files import FileError, WriteError
from attention_lab.models.runs import jobs, owners, results
from attention_lab.models.runs.folder import Cause, Status, create_run
from attention_lab.models.runs.printing import runs_table
from attention_lab.models.runs.queue import JobRefused
from attention_lab.models.runs.recording import train_into
from attention_lab.models.runs.results import Best, Tracker, growing, read_best, short_outcome
from attention_lab.models.runs.worker import train_here
from attention_lab.models.scores.intervals import Verdict
from attention_lab.models.training.loop import Training
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.models.zoo.folders import BEST, NEXT_BEST
from tests.models.training.small import config
from tests.small_runs import stop_after

RUN = {"steps": 12, "validate_every": 2, "n_snapshots": 3, "checkpoint_seconds": 1_000.0}
SCORES = {2: 0.1, 4: 0.5, 6: 0.5, 8: 0.3, 10: 0.7, 12: 0.7}
LOSSES = {2: 3.0, 4: 2.5, 6: 2.4, 8: 2.3, 10: 2.0, 12: 2.1}


@pytest.fixture
def scored(monkeypatch):
    """Validations that say what is written above, so that the best step is known."""

    def verdict(self):
        return Verdict({"loss": LOSSES[self.step], "exact match": SCORES[self.step]}, {}, {})

    monkeypatch.setattr(Training, "verdict", verdict)


def weights_at(step, **changes):
    """The weights of a training of its own after so many steps."""
    training = Training(config(**{**RUN, **changes}))
    for _ in range(step):
        next(training)
    return training.model.state_dict()


def same(path, wanted):
    found = load_file(path)
    return found.keys() == wanted.keys() and all(torch.equal(found[name], wanted[name]) for name in found)


def test_the_file_has_the_weights_of_the_best_step(tmp_path, scored):
    run = create_run(config(**RUN), path=tmp_path / "run")
    assert read_best(run.path) is None
    with pytest.raises(FileError, match="choose the last step"):
        run.model("best")
    train_into(run, config(**RUN))
    assert read_best(run.path) == Best(
        10, "exact match", 0.7, 2.0
    )  # step 12 is as good, but its loss is higher
    wanted = weights_at(10)
    assert same(run.path / BEST, wanted)
    model = run.model("best").state_dict()
    assert all(torch.equal(model[name], wanted[name]) for name in wanted)
    assert not torch.equal(run.model().embedding.weight, wanted["embedding.weight"])
    assert torch.equal(load_model(run.path / BEST).model.embedding.weight, wanted["embedding.weight"])
    assert not (run.path / NEXT_BEST).exists()
    run.delete()
    assert not run.path.exists()


@pytest.mark.parametrize(("stops", "killed_at", "kept", "after"), [((3, 9), 11, 6, 6), ((1,), 5, None, 4)])
def test_a_kill_leaves_the_best_of_the_steps_that_are_left(tmp_path, scored, stops, killed_at, kept, after):
    run = create_run(config(**RUN), path=tmp_path / "run")
    done = 0
    for stop in stops:
        train_into(run, config(**RUN), **stop_after(stop - done))
        done = stop

    class Killed(BaseException):
        pass

    def die(record):
        if record.step == killed_at:
            raise Killed

    with pytest.raises(Killed):
        train_into(run, config(**RUN), on_record=die)
    found = read_best(run.path)
    assert (found.step if found else None) == kept  # of the last checkpoint, whatever came after it
    train_into(run, config(**RUN), **stop_after(1))
    assert not (run.path / NEXT_BEST).exists()
    if kept:
        assert same(run.path / BEST, weights_at(read_best(run.path).step))
        assert read_best(run.path).step <= run.checkpoint().step
    train_into(run, config(**RUN))
    assert read_best(run.path).step == 10 and same(run.path / BEST, weights_at(10))


def test_a_kill_between_the_checkpoint_and_the_best_takes_the_waiting_weights(tmp_path, scored, monkeypatch):
    run = create_run(config(**RUN), path=tmp_path / "run")
    settle, calls = results.settle_best, []
    monkeypatch.setattr(
        results, "settle_best", lambda *given: calls.append(1) or (len(calls) < 3 and settle(*given))
    )
    train_into(run, config(**RUN), **stop_after(5))
    assert run.checkpoint().step == 5 and read_best(run.path) is None and (run.path / NEXT_BEST).exists()
    monkeypatch.undo()
    train_into(run, config(**RUN), **stop_after(0))
    assert read_best(run.path).step == 4 and same(run.path / BEST, weights_at(4))


def test_a_full_disk_leaves_the_last_whole_one(tmp_path, scored, monkeypatch):
    run = create_run(config(**RUN), path=tmp_path / "run")
    train_into(run, config(**RUN), **stop_after(5))
    before = (run.path / BEST).read_bytes()

    def full(path, content, **more):
        raise WriteError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(results, "write_whole", full)
        with pytest.raises(WriteError, match="the disk is full"):
            train_into(run, config(**RUN))
    assert (run.path / BEST).read_bytes() == before and run.checkpoint().step == 5
    assert train_into(run, config(**RUN))  # there is room again
    assert run.checkpoint().step == RUN["steps"]


def test_a_damaged_file_says_so(tmp_path, scored):
    run = create_run(config(**RUN), path=tmp_path / "run")
    (run.path / BEST).write_bytes(b"half")
    with pytest.raises(FileError, match="no whole file of"):
        read_best(run.path)


def test_a_run_of_before_has_none_until_it_validates_better(tmp_path, scored):
    run = create_run(config(**RUN), path=tmp_path / "run")
    train_into(run, config(**RUN), **stop_after(9))
    (run.path / BEST).unlink()
    train_into(run, config(**RUN), **stop_after(0))
    assert read_best(run.path) is None
    train_into(run, config(**RUN))
    assert read_best(run.path).step == 10


@pytest.mark.parametrize(
    ("validations", "min_delta", "waited", "best_step"),
    [
        ([{"loss": 1.0}, {"loss": 0.5}, {"loss": 0.6}, {"loss": 0.7}], 0.0, 2, 2),
        ([{"loss": 1.0, "accuracy": 0.5}, {"loss": 0.5, "accuracy": 0.4}], 0.0, 1, 1),
        ([{"loss": 1.0, "accuracy": 0.0}, {"loss": 0.5, "accuracy": 0.0}], 0.0, 0, 2),
        ([{"loss": 1.0, "bits per character": 3.0}, {"loss": 2.0, "bits per character": 2.0}], 0.0, 0, 2),
        ([{"loss": 1.0}, {"loss": 0.95}, {"loss": 0.92}, {"loss": 0.85}], 0.1, 0, 4),
        ([{"loss": 1.0}, {"loss": 0.95}, {"loss": 0.92}], 0.1, 2, 3),
        ([{"loss": 1.0}, {"loss": math.nan}], 0.0, 0, 1),
    ],
)
def test_better_is_by_the_main_score_and_then_by_the_loss(validations, min_delta, waited, best_step):
    tracker = Tracker(min_delta)
    for step, validation in enumerate(validations, 1):
        tracker.take(step, validation)
    assert tracker.waited == waited and tracker.best.step == best_step


def test_patience_ends_a_run_and_a_resumed_one_stays_ended(tmp_path, scored):
    patient = config(**RUN, patience=2)
    run = create_run(patient, path=tmp_path / "run")
    SCORES[6] = 0.5
    assert train_into(run, patient)
    # 4 beats 2; 6 has the score of 4 and a lower loss; 8 is worse; 10 is the best; 12 is the end.
    assert run.checkpoint().step == 12
    impatient = config(**RUN, patience=1)
    run = create_run(impatient, path=tmp_path / "other")
    assert train_into(run, impatient)
    assert run.checkpoint().step == 8 and read_best(run.path).step == 6 and run.snapshots()[-1] == 8
    assert train_into(run, impatient)
    assert run.checkpoint().step == 8


def test_a_link_opens_the_best_or_the_last(root, scored):
    run = create_run(config(**RUN), name="mine")
    assert offer_of(f"run:{run.id}@best") is None
    train_into(run, config(**RUN))
    last, chosen = offer_of(f"run:{run.id}"), offer_of(f"run:{run.id}@best")
    assert last.title == "run: mine" and chosen.title == "run: mine, best"
    assert torch.equal(last.load().model.embedding.weight, run.model().embedding.weight)
    assert torch.equal(chosen.load().model.embedding.weight, run.model("best").embedding.weight)


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


def test_how_a_run_came_out_is_no_matter_of_wording():
    status = Status(state="finished", step=4, steps=9, cause=Cause.GREW, outcome="in other words")
    assert short_outcome(status) == "early, loss grew"
    assert short_outcome(Status(state="finished", step=9, steps=9, outcome="stopped early")) == ""


def test_a_run_that_stops_early_says_where_and_what_was_best(root):
    run = create_run(config(steps=60, validate_every=1, patience=3, min_delta=10.0, n_snapshots=2))
    status = train_here(run)
    assert (status.state, status.step, short_outcome(status)) == ("finished", 4, "early")
    best = read_best(run.path)
    assert status.outcome == (
        f"stopped early at step 4 of 60: {best.score} has not improved in 3 validations; "
        f"the best is step {best.step} with {best.score} {best.value:.4g}"
    )
    assert f"{best.score} {best.value:.4g} at {best.step}" in runs_table([run])
    with pytest.raises(JobRefused, match=r"stopped early at step 4 of 60.*; train it further instead"):
        jobs.resume(run.id, by=owners.Visitor(all_rights=True))


def test_a_run_that_learns_has_nothing_to_say(root):
    assert train_here(create_run(config(steps=40, n_snapshots=2))).outcome == ""
