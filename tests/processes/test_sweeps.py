"""A sweep of which any process is killed in the middle goes on to its end, and trains nothing twice."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from attention_lab.models import sweeps
from attention_lab.models.runs.folder import RunFolder, list_runs, read_status
from attention_lab.models.runs.owners import PERSON
from attention_lab.models.runs.queue import JobRefused
from attention_lab.models.sweeps import Choices, Spec, Sweep
from tests.small_runs import kill_all, until
from tools.background_servers import ROOT

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
def sweep(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sweep]:
    """Not yet begun; a parameter has settings that its runs have beside those of all."""
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    fixed = SPEC.fixed | getattr(request, "param", {})
    found = sweeps.create(replace(SPEC, fixed=fixed), by=PERSON)
    yield found
    kill_all([RunFolder(found.path), *list_runs()])


def states(sweep: Sweep) -> list[str]:
    return [read_status(sweep.path.parents[1] / run_id).state for run_id in runs_of(sweep)]


def runs_of(sweep: Sweep) -> list[str]:
    return [run_id for trial in sweep.trials() for run_id in trial.runs]


def steps(sweep: Sweep) -> int:
    return max((read_status(sweep.path.parents[1] / run_id).step for run_id in runs_of(sweep)), default=0)


@pytest.mark.parametrize("victims", ["driver", "worker", "worker and driver"])
def test_every_process_of_a_sweep_may_be_killed(sweep: Sweep, victims: str) -> None:
    sweeps.start("killed", by=PERSON)
    with pytest.raises(JobRefused, match="sweep 'killed' works already"):
        sweeps.start("killed", by=PERSON)
    until(lambda: steps(sweep) > 50)
    worker = read_status(sweep.path.parents[1] / runs_of(sweep)[0]).process
    processes = {"driver": sweep.status().process, "worker": worker}
    for name in victims.split(" and "):
        process = processes[name]
        assert process is not None
        process.kill()
    if "driver" in victims:
        until(lambda: not sweep.status().live)
        until(lambda: not set(states(sweep)) & {"running", "stopping"})
        assert sweep.trials()[0].state == "stopped"
        sweeps.start("killed", by=PERSON)
    until(lambda: sweep.status().state == "finished")
    trials = sweep.trials()
    assert [trial.state for trial in trials] == ["finished", "finished"]
    assert len(list_runs()) == len(runs_of(sweep)) == 2


def at_once(*commands: str) -> list[str]:
    """What processes of their own print that run these lines at the same moment, each with a folder of runs
    and a hurry of its own.
    """
    begin = "import sys, time; print('ready', flush=True); sys.stdin.readline()\n"
    lines = (
        "from attention_lab.models import sweeps\nfrom attention_lab.models.runs import jobs\n"
        "from attention_lab.models.runs.owners import PERSON\n"
    )
    shell = (
        "try:\n {}\n print('done', flush=True); time.sleep(600)\nexcept ValueError as error:\n print(error)"
    )
    servers = [
        subprocess.Popen(
            [sys.executable, "-c", lines + begin + shell.format(command)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
        )
        for command in commands
    ]  # fmt: skip
    try:
        for server in servers:
            assert server.stdout is not None and server.stdout.readline() == "ready\n"
        for server in servers:
            assert server.stdin is not None
            server.stdin.write("\n")
            server.stdin.flush()
        found = []
        for server in servers:
            assert server.stdout is not None
            found.append(server.stdout.readline().strip())
        return found
    finally:
        LEFT.extend(servers)


LEFT: list["subprocess.Popen[str]"] = []
"""Servers that a test ends when it has seen what they started."""


@pytest.fixture
def _end_servers() -> Iterator[None]:
    yield
    while LEFT:
        server = LEFT.pop()
        server.kill()
        server.communicate()


@pytest.mark.usefixtures("_end_servers")
@pytest.mark.parametrize("sweep", [{"steps": 3000}], indirect=True, ids=["long enough to be paused"])
def test_two_servers_on_one_folder_start_a_sweep_and_resume_a_run_once(sweep: Sweep) -> None:
    answers = at_once(*["sweeps.start('killed', by=PERSON)"] * 2)
    assert sorted(answer == "done" for answer in answers) == [False, True], answers
    assert any("works already" in answer for answer in answers), answers
    until(lambda: steps(sweep) > 10)
    sweeps.ask("killed", "pause", by=PERSON)
    until(lambda: not sweep.status().live and set(states(sweep)) <= {"paused", "finished"})
    run_id = runs_of(sweep)[states(sweep).index("paused")]
    answers = at_once(*[f"jobs.resume({run_id!r}, by=PERSON)"] * 2)
    assert sorted(answer == "done" for answer in answers) == [False, True], answers
    run = sweep.path.parents[1] / run_id
    until(lambda: read_status(run).state == "finished")
    recorded = [line["step"] for line in RunFolder(run).metrics()]
    assert recorded == sorted(set(recorded))


def test_a_paused_sweep_leaves_no_process(sweep: Sweep) -> None:
    sweeps.start("killed", by=PERSON)
    until(lambda: sweep.status().state == "running")
    sweeps.ask("killed", "pause", by=PERSON)
    until(lambda: not sweep.status().live, 20)
    status = sweep.status()
    assert (status.state, status.cause, status.sentence) == (
        "paused",
        "person",
        "its runs keep their checkpoints",
    )
    until(lambda: not any(state in ("running", "queued", "stopping") for state in states(sweep)), 20)
