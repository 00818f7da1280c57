"""Trials a minute: short runs as jobs, with one and with two local slots, and on a Ray cluster.

python -m benchmarks.trials [--trials 6] [--steps 100]

A trial's cost beyond its steps is its share of the wall time, times the slots, less the seconds of its steps:
a process that starts, imports PyTorch, makes the model, validates, and writes checkpoints. The Ray cluster
has two nodes of one CPU each on this machine, and is up before the clock starts.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attention_lab.models.data.tasks import make_task
from attention_lab.models.limits import FILE
from attention_lab.models.runs import jobs
from attention_lab.models.runs.owners import MACHINE
from attention_lab.models.runs.ray.cluster import VARIABLE
from attention_lab.models.training.config import run_config
from benchmarks.setting import print_table

TASK = "reverse"
LOOK_SECONDS = 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=6, help="at most 8: as many as may wait")
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    rows = [_measured(f"{n} local slot{'s' * (n > 1)}", n, options) for n in (1, 2)]
    if find_spec("ray") is None:
        print("Ray is not installed: make install-ray; its row is left out")
    else:
        with _cluster():
            rows.append(_measured("Ray, first trials", 2, options))
            rows.append(_measured("Ray, its workers warm", 2, options))
    print_table(
        f"{options.trials} trials of {TASK}, {options.steps} steps, 1 thread each, {os.cpu_count()} cores",
        ["", "trials a minute", "seconds of steps", "seconds beyond"],
        rows,
    )


def _measured(what: str, slots: int, options: argparse.Namespace) -> list[object]:
    """Trials a minute, and a trial's seconds in its steps and beyond them."""
    how = {"steps": options.steps, "threads": 1, "device": "cpu"}
    if not os.environ.get(VARIABLE):
        Path(os.environ[FILE]).write_text(f"cpu_jobs = {slots}\n")
    start = time.monotonic()
    runs = [
        jobs.submit(run_config(make_task(TASK), training={**how, "seed": seed}), by=MACHINE)
        for seed in range(options.trials)
    ]
    while any(jobs.status(run).live for run in runs):
        time.sleep(LOOK_SECONDS)
    wall = time.monotonic() - start
    ended = [jobs.status(run) for run in runs]
    failed = [status.sentence for status in ended if status.state != "finished"]
    if failed:
        raise RuntimeError(f"a trial did not finish: {failed[0]}")
    for run in runs:
        jobs.delete(run, by=MACHINE)
    steps = statistics.mean(status.seconds for status in ended)
    beyond = wall * slots / len(runs) - steps
    print(f"{what}: {len(runs)} trials in {wall:.1f} s", flush=True)  # the whole takes minutes
    return [what, f"{60 * len(runs) / wall:.1f}", f"{steps:.2f}", f"{beyond:.2f}"]


@contextlib.contextmanager
def _cluster() -> Iterator[None]:
    """A head and another node on this machine, each with one CPU, which the jobs use."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_enable_metrics_collection": "0"}
    from ray.cluster_utils import Cluster

    node: Any = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "node_ip_address": "127.0.0.1"}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        cluster.add_node(**node)
        os.environ[VARIABLE] = cluster.address
        yield
    finally:
        os.environ.pop(VARIABLE, None)
        cluster.shutdown()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"ATTENTION_LAB_RUNS": folder, FILE: str(Path(folder) / "limits.toml")}
        Path(os.environ[FILE]).write_text("")
        main()
