"""The driver's process: its lock, its sentence after an error, and how many runs it trains at once."""

import os

import pytest
from filelock import FileLock

from models import sweeps
from models.files import WriteError
from models.runs import jobs, slots
from models.runs.limits import JobRefused, NoRoom
from models.runs.owners import MACHINE
from models.runs.ray.cluster import WENT_AWAY
from models.sweeps import Choices, Spec
from models.sweeps.conduct import Conductor
from models.sweeps.driver import drive_here, main
from models.sweeps.results import check_cluster
from models.zoo.run_folders import runs_root
from tests.models.sweeps.trained import AtOnce

SPEC = Spec(
    task="copy",
    name="s",
    score="loss",
    fixed={"n_layers": 1, "d_model": 12},
    space={"n_heads": Choices((1, 2))},
)


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    monkeypatch.setenv("ATTENTION_LAB_SERVING", "")
    monkeypatch.setenv("ATTENTION_LAB_SLOTS", "")
    return sweeps.create(SPEC, by=MACHINE)


def drive(sweep, **options):
    return drive_here(sweep, show=lambda *said: None, ended=lambda *said: None, **options)


def test_two_drivers_of_one_sweep_are_one_too_many(sweep, monkeypatch, capsys):
    monkeypatch.setattr("models.sweeps.driver.LAST_ONE_SECONDS", 0.0)
    with FileLock(sweep.path / ".lock"):
        with pytest.raises(JobRefused, match="sweep 's' works in another process; pause it first"):
            drive(sweep)
        assert main([str(sweep.path)]) == 1
    assert capsys.readouterr().err == "another process works on this sweep; this one ends\n"


def test_a_cluster_that_goes_away_pauses_it_and_fails_no_trial(sweep, monkeypatch):
    used = AtOnce(runs_root(), lambda described: {6: {"loss": 0.5}})
    said = f"the cluster at 10.0.0.5:6379 {WENT_AWAY} at step 3; resume goes on from the last checkpoint"
    monkeypatch.setattr(jobs, "backend", lambda: used)
    monkeypatch.setattr("models.sweeps.conduct.TURN_SECONDS", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(used, "_note", lambda run_id, state: AtOnce._note(used, run_id, "failed", said))
        ended = Conductor(sweep, by=MACHINE, n_slots=1).run()
    assert ended == ("paused", f"{said}; then resume the sweep")
    assert Conductor(sweep, by=MACHINE, n_slots=1).run()[0] == "finished"
    assert [(trial.state, trial.value) for trial in sweep.trials()] == [("finished", 0.5)] * 2
    assert used.submitted[0] == used.submitted[1]


def test_a_disk_that_refuses_pauses_it(sweep, monkeypatch):
    def full(self):
        raise WriteError("journal.log could not be written: the disk is full; free some space")

    monkeypatch.setattr("models.sweeps.conduct.Conductor.run", full)
    status = drive(sweep)
    assert (status.state, status.live) == ("paused", False)
    assert status.sentence.endswith("the disk is full; free some space; then resume the sweep")
    assert sweep.status().sentence == status.sentence


def test_an_odd_error_ends_it_with_a_sentence_and_a_log(sweep, monkeypatch):
    monkeypatch.setattr("models.sweeps.conduct.Conductor.run", lambda self: 1 // 0)
    assert drive(sweep).sentence == "integer division or modulo by zero"
    assert "ZeroDivisionError" in (sweep.path / "log.txt").read_text()


def test_a_command_may_ask_for_more_slots_than_the_limit(sweep, monkeypatch):
    monkeypatch.setattr("models.sweeps.conduct.Conductor.run", lambda self: ("paused", str(self._n_slots)))
    assert slots.n_slots("cpu") == 1
    assert drive(sweep, n_slots=3).sentence == "3"
    assert slots.n_slots("cpu") == 3 == int(os.environ[slots.SLOTS])
    monkeypatch.setenv(slots.SLOTS, "many")
    assert slots.n_slots("cpu") == 1


def test_a_cluster_that_is_gone_pauses_and_does_not_fail_trials(monkeypatch):
    check_cluster()  # none is wanted
    monkeypatch.setenv("ATTENTION_LAB_RAY", "127.0.0.1:1")
    with pytest.raises(NoRoom, match=r"no Ray cluster answers at 127.0.0.1:1|Ray is not installed"):
        check_cluster()
