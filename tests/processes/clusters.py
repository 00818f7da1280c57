"""A real Ray cluster on this machine for tests, and runs small enough to train on it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from attention_lab.models.data.tasks import Task
from attention_lab.models.runs import jobs
from attention_lab.models.runs.folder import RunFolder, create_run
from attention_lab.models.runs.ray import cluster as known
from attention_lab.models.runs.recording import train_into
from attention_lab.models.training.config import RunConfig
from tests.small_runs import small_run, until

START_SECONDS = 240.0  # for Ray's workers and PyTorch on a busy machine
STOP_SECONDS = 20.0
NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "node_ip_address": "127.0.0.1"}
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_worker_niceness": "0",  # by default its workers wait for all that runs beside these tests
    "OMP_NUM_THREADS": "1",
}
OURS = ("attention_lab.models.runs.ray.keeper", "attention_lab.models.runs.ray.dispatcher")


@contextmanager
def ray_cluster(root: Path, **node: Any) -> Iterator[Any]:
    """A head with one CPU, and what `node` says, to which runs of `root` go; the dispatchers of `roots` end
    with it.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        cluster = Cluster()
        try:
            start_node(cluster, include_dashboard=False, **node)
            cluster.root, cluster.roots, cluster.environment, cluster.left = root, [root], patch, []
            patch.setenv(known.VARIABLE, cluster.address)
            patch.setenv("ATTENTION_LAB_RUNS", str(root))
            yield cluster
        finally:
            for process in beside(*cluster.roots):
                with suppress(psutil.NoSuchProcess):
                    process.kill()
                    process.wait(10)
            cluster.shutdown()


def start_node(cluster: Any, **node: Any) -> Any:
    """A node of the cluster: on a busy machine it needs more than the 30 seconds that Ray gives one."""
    for _ in range(3):
        with suppress(Exception):
            return cluster.add_node(**{**NODE, **node})
    return cluster.add_node(**{**NODE, **node})


def beside(*roots: Path) -> list[psutil.Process]:
    """The keepers of clusters' dispatchers for these folders of runs, and then the dispatchers."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        if any(str(root) in words for root in roots):
            found += [(OURS.index(word), process) for word in words if word in OURS]
    return [process for _, process in sorted(found, key=lambda pair: pair[0])]


def make(task: Task | str = "reverse", **training: Any) -> RunConfig:
    return small_run(task, **{"steps": 60, "batch_size": 8, "n_snapshots": 4, **training})


def one_trains(*ids: str) -> list[str]:
    """Waits until one of the runs has a checkpoint some way on; the runs, that one first."""

    def kept(run_id: str) -> int:
        found = jobs.run_folder(run_id).checkpoint()
        return found.step if found else 0

    until(lambda: any(kept(run_id) > 20 for run_id in ids))
    return sorted(ids, key=kept, reverse=True)


def done(run_id: str) -> RunFolder:
    until(lambda: not jobs.status(run_id).live)
    status = jobs.status(run_id)
    assert status.state == "finished", status
    return jobs.run_folder(run_id)


def alone(config: RunConfig, path: Path, last: int | None = None) -> RunFolder:
    """The undisturbed run of one process, without Ray; up to a last step, if one is given."""
    run, n_threads, steps = create_run(config, path=path), torch.get_num_threads(), [0]
    try:
        done = train_into(
            run,
            config,
            should_stop=lambda: last is not None and steps[-1] >= last,
            on_record=lambda record: steps.append(record.step),
        )
    finally:
        torch.set_num_threads(n_threads)
    assert done is (last is None)
    return run
