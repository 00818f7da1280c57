"""A sweep whose driver is killed in the middle goes on, and ends with the numbers of an undisturbed one."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from models import sweeps
from models.runs.folder import create_run, list_runs
from models.runs.limits import JobRefused
from models.runs.owners import PERSON
from models.runs.recording import train_into
from models.runs.status import read_status
from models.sweeps import Choices, Spec, Sweep
from models.sweeps.plan import Configs
from tests.processes.crowd import crowd

SPEC = Spec(
    task="reverse",
    name="killed",
    fixed={
        "n_layers": 1, "d_model": 16, "steps": 500, "batch_size": 4, "held_out": 8, "n_snapshots": 2,
        "threads": 1, "device": "cpu", "checkpoint_seconds": 0.2, "validate_every": 250,
    },
    space={"n_heads": Choices((1, 2))},
    score="loss",
)  # fmt: skip


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sweep]:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    found = sweeps.create(SPEC, by=PERSON)
    yield found
    for path in (found.path, *(run.path for run in list_runs())):
        process = read_status(path).process
        if process is not None:
            process.kill()


def until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    start = time.monotonic()
    while not condition():
        assert (time.monotonic() - start) / crowd() < seconds, f"not within {seconds} seconds"
        time.sleep(0.05)


def states(sweep: Sweep) -> list[str]:
    return [read_status(sweep.path.parents[1] / run_id).state for run_id in runs_of(sweep)]


def runs_of(sweep: Sweep) -> list[str]:
    return [run_id for trial in sweep.trials() for run_id in trial.runs]


def steps(sweep: Sweep) -> int:
    return max((read_status(sweep.path.parents[1] / run_id).step for run_id in runs_of(sweep)), default=0)


def test_a_killed_sweep_goes_on_and_trains_nothing_twice(sweep: Sweep, tmp_path: Path) -> None:
    sweeps.start("killed", by=PERSON)
    with pytest.raises(JobRefused, match="sweep 'killed' works already"):
        sweeps.start("killed", by=PERSON)
    until(lambda: steps(sweep) > 50)
    driver = sweep.status().process
    assert driver is not None
    driver.kill()
    until(lambda: not sweep.status().live and set(states(sweep)) <= {"paused", "finished"})
    assert sweep.trials()[0].state == "stopped"
    sweeps.start("killed", by=PERSON)
    until(lambda: sweep.status().state == "finished")
    trials = sweep.trials()
    assert [trial.state for trial in trials] == ["finished", "finished"]
    assert len(list_runs()) == len(runs_of(sweep)) == 2
    configs = Configs(sweep.spec)
    config = configs.run(trials[0].settings, 0)  # of the run that was killed in the middle
    undisturbed = create_run(config, path=tmp_path / "undisturbed")
    train_into(undisturbed, config)
    assert trials[0].value == undisturbed.metrics()[-1]["validation"]["loss"]


def test_a_paused_sweep_leaves_no_process(sweep: Sweep) -> None:
    sweeps.start("killed", by=PERSON)
    until(lambda: sweep.status().state == "running")
    sweeps.pause("killed", by=PERSON)
    until(lambda: not sweep.status().live, 20)
    assert sweep.status().state == "paused"
    until(lambda: not any(state in ("running", "queued", "stopping") for state in states(sweep)), 20)
