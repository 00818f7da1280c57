"""A Ray cluster whose dispatcher is killed, and that goes away itself under a run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from models.runs import jobs
from models.runs.folder import RunFolder
from models.runs.owners import MACHINE
from models.runs.ray import cluster as known
from models.runs.ray.keeper import GONE_SECONDS, RESUME
from tests.processes.clusters import (
    STOP_SECONDS,
    alone,
    beside,
    in_state,
    make,
    one_trains,
    ray_cluster,
    until,
)

pytest.importorskip("ray", reason="Ray is not installed: make install-ray")

MARGIN = 20.0  # on a busy machine
CONFIG = {"steps": 1_000_000, "checkpoint_seconds": 0.5, "validate_every": 200}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One node with one CPU, which the last test ends."""
    with ray_cluster(tmp_path_factory.mktemp("runs")) as found:
        yield found


def gone(*processes: psutil.Process) -> bool:
    """Whether all of these end soon."""
    psutil.wait_procs(processes, MARGIN)
    return not any(process.is_running() for process in processes)


def process_of(run_id: str) -> psutil.Process:
    pid = jobs.status(run_id).pid
    assert pid is not None
    return psutil.Process(pid)


def assert_undisturbed(there: RunFolder, path: Path) -> None:
    """The run has the numbers of one process that nothing disturbed, to the bit."""
    ours = there.checkpoint()
    assert ours is not None
    here = alone(there.config(), path, last=ours.step)
    theirs = here.checkpoint()
    assert theirs is not None and theirs.step == ours.step
    assert all(torch.equal(tensor, theirs.tensors[name]) for name, tensor in ours.tensors.items())
    assert [line["loss"] for line in there.metrics()] == [line["loss"] for line in here.metrics()]


def paused(run_id: str) -> RunFolder:
    jobs.pause(run_id, by=MACHINE)
    until(in_state(run_id, "paused"), STOP_SECONDS)
    return jobs.run_folder(run_id)


def training(attempt: int, *ids: str) -> list[str]:
    """The runs that train, once the others wait and all were given to the cluster so often."""
    found: list[str] = []

    def is_so() -> bool:
        stand = {run_id: jobs.status(run_id) for run_id in ids}
        found[:] = [run_id for run_id, now in stand.items() if now.sentence.startswith("trains on")]
        return len(found) == 1 and all(now.live and now.attempt == attempt for now in stand.values())

    until(is_so)
    return found


def test_runs_go_on_whose_dispatcher_and_then_its_keeper_are_killed(cluster: Any, tmp_path: Path) -> None:
    ids = one_trains(*(jobs.submit(make(**CONFIG), by=MACHINE) for _ in range(2)))
    for attempt, at in ((1, 1), (2, 0)):  # the dispatcher; the keeper, which the dispatcher follows
        (trains,) = training(attempt, *ids)
        worker, processes = process_of(trains), beside(cluster.root)
        processes[at].kill()
        assert gone(worker, *processes[at:])
    training(3, *ids)
    for run_id in ids:
        jobs.pause(run_id, by=MACHINE)
    until(lambda: not any(jobs.status(run_id).live for run_id in ids), STOP_SECONDS)
    assert [jobs.status(run_id).state for run_id in ids] == ["paused", "paused"]
    assert_undisturbed(jobs.run_folder(ids[0]), tmp_path / "here")


def test_a_run_whose_cluster_went_away_goes_on_here_to_the_bit(cluster: Any, tmp_path: Path) -> None:
    run_id, waits = one_trains(*(jobs.submit(make(**CONFIG), by=MACHINE) for _ in range(2)))
    worker, (keeper, dispatcher) = process_of(run_id), beside(cluster.root)
    for node in cluster.list_all_nodes():
        node.kill_all_processes(check_alive=False, allow_graceful=False)
    for each in (run_id, waits):
        until(in_state(each, "failed"), GONE_SECONDS + MARGIN)
    now, said = jobs.status(run_id), f"the cluster at {cluster.address} went away at step"
    assert now.sentence == f"{said} {now.step:,}; {RESUME}"
    assert jobs.status(waits).sentence == f"{said} 0; {RESUME}"
    assert gone(worker, keeper, dispatcher)  # Ray itself leaves a busy worker behind
    assert jobs.status(run_id) == now
    cluster.environment.delenv(known.VARIABLE)
    jobs.resume(run_id, by=MACHINE)
    until(lambda: jobs.status(run_id).step > now.step + 20)
    there = paused(run_id)
    assert jobs.status(run_id).node == ""
    assert_undisturbed(there, tmp_path / "here")
