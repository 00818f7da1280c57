"""A Ray cluster whose dispatcher is killed, and that goes away itself under a run."""

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from attention_lab.models.runs import jobs
from attention_lab.models.runs.folder import RunFolder
from attention_lab.models.runs.owners import MACHINE
from attention_lab.models.runs.ray import cluster as known
from attention_lab.models.runs.ray.dispatcher import CONNECT_SECONDS, NAMED
from attention_lab.models.runs.ray.keeper import GONE_SECONDS, RESUME
from tests.processes.clusters import START_SECONDS, STOP_SECONDS, alone, beside, make, one_trains, ray_cluster
from tests.small_runs import assert_same, in_state, until

pytest.importorskip("ray", reason="Ray is not installed: make install-ray")

MARGIN = 20.0  # on a busy machine


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Any]:
    """One node with one CPU, which the test ends."""
    others = psutil.Process().children(recursive=True)  # servers that tests before this one started
    with ray_cluster(tmp_path / "runs") as found:
        yield found
        for process in found.left:  # Ray's agents notice only after a while that their node is gone
            with suppress(psutil.NoSuchProcess):
                if process not in others:
                    process.kill()


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
    assert_same(there, alone(there.config(), path, last=ours.step))


def training(attempt: int, *ids: str) -> list[str]:
    """The runs that train, once the others wait and all were given to the cluster so often."""
    found: list[str] = []

    def is_so() -> bool:
        stand = {run_id: jobs.status(run_id) for run_id in ids}
        found[:] = [run_id for run_id, now in stand.items() if now.sentence.startswith("trains on")]
        return len(found) == 1 and all(now.live and now.attempt == attempt for now in stand.values())

    until(is_so)
    return found


def test_runs_survive_their_dispatcher_its_keeper_and_then_the_cluster_to_the_bit(
    cluster: Any, tmp_path: Path
) -> None:
    config = make(steps=1_000_000, checkpoint_seconds=0.5, validate_every=200)
    ids = one_trains(*(jobs.submit(config, by=MACHINE) for _ in range(2)))
    for attempt, at in ((1, 1), (2, 0)):  # the dispatcher; the keeper, which the dispatcher follows
        (trains,) = training(attempt, *ids)
        worker, processes = process_of(trains), beside(cluster.root)
        processes[at].kill()
        assert gone(worker, *processes[at:])
    (trains,) = training(3, *ids)
    worker, processes = process_of(trains), beside(cluster.root)
    cluster.left = psutil.Process().children(recursive=True)
    for node in cluster.list_all_nodes():
        node.kill_all_processes(check_alive=False, allow_graceful=False)
    worker.suspend()  # so that there are few steps to train again below
    for run_id in ids:
        until(in_state(run_id, "failed"), GONE_SECONDS + MARGIN)
        now = jobs.status(run_id)
        said = f"the cluster at {cluster.address} went away at step {now.step:,}; {RESUME}"
        assert (now.sentence, now.attempt) == (said, 4)
    worker.resume()  # Ray itself leaves a busy worker behind
    assert len(processes) == 2 and gone(worker, *processes)
    lost_at = jobs.status(trains).step
    assert jobs.status(trains).state == "failed"
    cluster.environment.delenv(known.VARIABLE)
    jobs.resume(trains, by=MACHINE)
    until(lambda: jobs.status(trains).step > lost_at + 20)
    jobs.pause(trains, by=MACHINE)
    until(in_state(trains, "paused"), STOP_SECONDS)
    assert jobs.status(trains).node == ""
    assert_undisturbed(jobs.run_folder(trains), tmp_path / "here")


def test_an_address_that_is_not_rays_is_said_before_the_run_counts_as_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What listens there is no Ray, or a cluster that knows its machines by other names."""
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv(known.VARIABLE, address)
        begun = time.monotonic()
        run_id = jobs.submit(make(), by=MACHINE)
        until(in_state(run_id, "failed"), START_SECONDS)
        assert time.monotonic() - begun < CONNECT_SECONDS + MARGIN
    assert jobs.status(run_id).sentence == (
        f"no connection to the cluster (what listens at {address} gave no answer of Ray's within 45 seconds)"
        f"; {NAMED}"
    )


def test_a_cluster_by_another_name_is_refused_with_what_ray_says(tmp_path: Path) -> None:
    with ray_cluster(tmp_path / "runs", node_ip_address="127.0.0.2") as cluster:
        address = cluster.address.replace("127.0.0.2", "127.0.0.1")
        cluster.environment.setenv(known.VARIABLE, address)
        begun = time.monotonic()
        run_id = jobs.submit(make(), by=MACHINE)
        until(in_state(run_id, "failed"), START_SECONDS)
        assert time.monotonic() - begun < CONNECT_SECONDS + MARGIN
        assert jobs.status(run_id).sentence == (
            "no connection to the cluster (RuntimeError: No node info found matching attributes: '127.0.0.1' "
            f"when trying to resolve node to connect to.); {NAMED}"
        )
