"""Runs on a real Ray cluster of two nodes on this machine."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs import jobs
from attention_lab.models.runs.folder import list_runs
from attention_lab.models.runs.jobs import RayBackend
from attention_lab.models.runs.owners import MACHINE
from attention_lab.models.sweeps import Choices, Spec, create, find, start
from tests.processes.clusters import STOP_SECONDS, alone, done, make, ray_cluster, start_node
from tests.small_runs import assert_same, in_state, until

pytest.importorskip("ray", reason="Ray is not installed: make install-ray")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A head and another node, each with one CPU; `nodes.root` is the folder of the runs."""
    with ray_cluster(tmp_path_factory.mktemp("runs")) as cluster:
        start_node(cluster)
        yield cluster


def test_a_run_on_a_node_is_that_of_this_machine_to_the_bit(nodes: Any, tmp_path: Path) -> None:
    assert isinstance(jobs.backend(), jobs.Backend) and isinstance(jobs.backend(), RayBackend)
    config = make()
    ids = [jobs.submit(config, by=MACHINE) for _ in range(2)]
    here = alone(config, tmp_path / "here")
    for run_id in ids:
        there = done(run_id)
        assert jobs.status(run_id).node == "127.0.0.1"
        assert jobs.status(run_id).sentence == "trains on the CPU with 1 thread, on 127.0.0.1"
        assert_same(there, here)
        assert there.snapshots() == here.snapshots()


def test_a_run_whose_worker_is_killed_goes_on_elsewhere_to_the_bit(nodes: Any, tmp_path: Path) -> None:
    config = make(steps=400, checkpoint_seconds=0.0, validate_every=200)
    run_id = jobs.submit(config, by=MACHINE)
    until(lambda: (found := jobs.run_folder(run_id).checkpoint()) is not None and found.step > 20)
    status = jobs.status(run_id)
    assert status.pid is not None
    os.kill(status.pid, signal.SIGKILL)
    until(lambda: jobs.status(run_id).attempt == status.attempt + 1)
    assert_same(done(run_id), alone(config, tmp_path / "here"))


def test_runs_wait_for_room_and_are_paused_stopped_and_resumed(nodes: Any) -> None:
    first, second, third = (jobs.submit(make(steps=1_000_000), by=MACHINE) for _ in range(3))
    until(lambda: sum(jobs.status(run_id).step > 0 for run_id in (first, second, third)) == 2)
    (waits,) = [run_id for run_id in (first, second, third) if not jobs.status(run_id).step]
    trains = first if waits != first else second
    room = f"waits until the cluster at {nodes.address} has room for it (0 of 2 CPUs free)"
    until(lambda: jobs.status(waits).sentence == room)
    jobs.stop(waits, by=MACHINE)
    until(in_state(waits, "stopped"), STOP_SECONDS)
    assert jobs.status(waits).sentence.startswith("it left the queue before its turn")
    for run_id in {first, second, third} - {waits}:
        jobs.pause(run_id, by=MACHINE)
    until(in_state(trains, "paused"), STOP_SECONDS)
    step = jobs.status(trains).step
    assert jobs.run_folder(trains).checkpoint().step == step
    jobs.resume(trains, by=MACHINE)
    until(lambda: jobs.status(trains).step > step)
    jobs.stop(trains, by=MACHINE)
    until(in_state(trains, "stopped"), STOP_SECONDS)


def test_a_paused_run_that_the_cluster_refuses_stays_paused_with_the_reason(
    nodes: Any, tmp_path: Path
) -> None:
    file, rows = tmp_path / "films.csv", [f"{n} a film,{'good' if n % 2 else 'bad'}" for n in range(80)]
    whole = "\n".join(["text,label", *rows])
    file.write_text(whole)
    task = make_task("sentiment", {"file": str(file), "text_column": "text", "label_column": "label"})
    run_id = jobs.submit(make(task, steps=1_000_000), by=MACHINE)
    until(lambda: jobs.status(run_id).step > 0)
    jobs.pause(run_id, by=MACHINE)
    until(in_state(run_id, "paused"), STOP_SECONDS)
    step = jobs.status(run_id).step
    file.write_text("\n".join(["title,stars", *rows]))  # its columns are gone
    jobs.resume(run_id, by=MACHINE)
    until(lambda: not jobs.status(run_id).live)
    now = jobs.status(run_id)
    assert (now.state, now.refused, now.step) == ("paused", True, step)
    assert now.sentence.startswith("'films.csv' has changed since this run began; put it back")
    file.write_text(whole)
    with (jobs.run_folder(run_id).path / "config.json").open("r+") as config:
        said = config.read()
        config.seek(0)
        config.write(said.replace('"threads": 1', '"threads": 7'))
    jobs.resume(run_id, by=MACHINE)
    until(lambda: not jobs.status(run_id).live)
    now = jobs.status(run_id)
    assert (now.state, now.refused, now.step) == ("paused", True, step)
    assert now.sentence == "threads=7, but no machine of the cluster gives more than 1 CPUs; try 1"
    (jobs.run_folder(run_id).path / "config.json").write_text(said)
    jobs.resume(run_id, by=MACHINE)
    until(lambda: jobs.status(run_id).step > step)
    assert not jobs.status(run_id).resumed
    jobs.stop(run_id, by=MACHINE)
    until(in_state(run_id, "stopped"), STOP_SECONDS)


def test_a_sweep_trains_its_trials_on_the_cluster(nodes: Any) -> None:
    fixed = {"steps": 20, "n_layers": 1, "d_model": 16, "batch_size": 8, "threads": 1, "device": "cpu"}
    spec = Spec(task="reverse", space={"n_heads": Choices((1, 2))}, fixed=fixed)
    sweep = create(spec, by=MACHINE)
    start(sweep.name, by=MACHINE)
    until(lambda: not find(sweep.name).status().live)
    assert find(sweep.name).status().state == "finished", find(sweep.name).status()
    trials = find(sweep.name).trials()
    assert [trial.settings for trial in trials] == [{"n_heads": 1}, {"n_heads": 2}]
    for trial in trials:
        (run_id,) = trial.runs
        assert jobs.status(run_id).node == "127.0.0.1"
        assert trial.state == "finished"


def test_the_command_line_trains_there_shows_its_steps_and_pauses_when_interrupted(nodes: Any) -> None:
    said = {"steps": 50_000, "n_layers": 1, "d_model": 16, "held_out": 8, "threads": 1, "device": "cpu"}
    words = [word for name, value in said.items() for word in ("--set", f"{name}={value}")]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "attention_lab.models.training", "run"),
            *("--task", "reverse", *words, "--name", "typed"),
        ],
        cwd=ROOT, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        until(lambda: any(run.name == "typed" and run.metrics() for run in list_runs()))
        (run,) = [run for run in list_runs() if run.name == "typed"]
        time.sleep(1.5)  # it looks twice a second
        process.send_signal(signal.SIGINT)
        told, shown = process.communicate(timeout=STOP_SECONDS)
    finally:
        process.kill()
    step = jobs.status(run.id).step
    assert process.returncode == 0 and jobs.status(run.id).state == "paused"
    assert "trains on the CPU with 1 thread, on 127.0.0.1\n" in told
    assert told.endswith(
        f"paused at step {step:,}; go on with: python -m attention_lab.models.training resume {run.id}\n"
    )
    assert "/50000" in shown and "tokens/s" in shown
    kept = run.checkpoint()
    assert kept is not None and kept.step == step
