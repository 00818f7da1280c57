"""Runs so small that a test trains them in seconds, how they are waited for, and what two have in common."""

import time
from collections.abc import Callable, Iterable
from typing import Any

import torch

from attention_lab.models.data.tasks import Task, make_task
from attention_lab.models.runs import jobs
from attention_lab.models.runs.folder import RunFolder, list_runs, read_status
from attention_lab.models.training.config import RunConfig, run_config
from tests.processes.crowd import crowd

SIZES = {"n_layers": 1, "n_heads": 2, "d_model": 16}
QUICK = {"steps": 6, "batch_size": 4, "threads": 1, "device": "cpu", "held_out": 8}


def small_run(task: str | Task = "reverse", *, dropout: float = 0.0, **training: Any) -> RunConfig:
    """A run of one layer, two heads and 16 channels."""
    made = make_task(task) if isinstance(task, str) else task
    return run_config(made, sizes={**SIZES, "dropout": dropout}, training={**QUICK, **training})


def numbers(run: RunFolder) -> list[dict[str, Any]]:
    """What the records of two runs have in common, if they are the same; times and memory are not."""
    timed = ("seconds", "tokens_per_second", "memory")
    return [{name: value for name, value in line.items() if name not in timed} for line in run.metrics()]


def assert_same(run: RunFolder, other: RunFolder) -> None:
    """Both have the same records and the same last checkpoint, to the bit."""
    assert numbers(run) == numbers(other)
    ours, theirs = (each.checkpoint() for each in (run, other))
    assert ours is not None and theirs is not None and ours.tensors.keys() == theirs.tensors.keys()
    assert all(torch.equal(tensor, theirs.tensors[name]) for name, tensor in ours.tensors.items())


def stop_after(n_steps: int) -> dict[str, Any]:
    """A `should_stop` and its `on_record`, which end a training after so many steps."""
    records: list[object] = []
    return {"should_stop": lambda: len(records) >= n_steps, "on_record": records.append}


def until(condition: Callable[[], object], seconds: float = 120.0) -> float:
    """Seconds until it is true, as many as on a machine that has nothing else to do."""
    start = looked = time.monotonic()
    while not condition():
        if (time.monotonic() - start) / crowd() > seconds:
            raise AssertionError(
                f"not within {seconds} s", [vars(jobs.status(run.id)) for run in list_runs()]
            )
        # To look may be dear, and what is waited for needs the processor, too; it may be over soon.
        time.sleep(min(max(0.02, 3 * (time.monotonic() - looked)), 0.2))
        looked = time.monotonic()
    return (time.monotonic() - start) / crowd()


def in_state(run_id: str, *states: str) -> Callable[[], bool]:
    """A condition to wait for: the run is in one of these states."""
    return lambda: jobs.status(run_id).state in states


def kill_all(runs: Iterable[RunFolder]) -> None:
    """Ends the processes of runs, however they stand."""
    for run in runs:
        if (process := read_status(run.path).process) is not None:
            process.kill()
