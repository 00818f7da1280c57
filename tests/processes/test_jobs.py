"""Jobs in processes of their own: the queue, stopping, killing, and servers that go away."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import torch

from attention_lab.models.runs import jobs, queue
from attention_lab.models.runs.folder import create_run, list_runs
from attention_lab.models.runs.owners import MACHINE
from attention_lab.models.runs.processes import SERVING, this_process
from attention_lab.models.runs.recording import train_into
from attention_lab.models.training.config import RunConfig
from tests.limits import SetLimits
from tests.small_runs import assert_same, in_state, kill_all, small_run, until

HERE = Path(__file__).parent
START_SECONDS = 120.0  # PyTorch on a busy machine
STOP_SECONDS = 5.0


def make(task: str = "reverse", **training: object) -> RunConfig:
    return small_run(task, **{"steps": 1_000_000, "held_out": 4, "n_snapshots": 4, **training})


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    yield tmp_path
    kill_all(list_runs(tmp_path))


@pytest.fixture
def busy(root: Path) -> Iterator[queue.Slot]:
    """The CPU's only slot is taken, so that everybody waits and nobody imports torch."""
    (root / "held").mkdir()
    slot = queue.take(root, "held", "cpu")
    assert isinstance(slot, queue.Slot)
    yield slot
    slot.lock.release()


def at_step(run_id: str, step: int) -> Callable[[], bool]:
    return lambda: jobs.status(run_id).step >= step


def checkpointed_step(run_id: str) -> int:
    checkpoint = jobs.run_folder(run_id).checkpoint()
    return 0 if checkpoint is None else checkpoint.step


def test_two_jobs_train_one_after_the_other(root: Path) -> None:
    first, second = jobs.submit(make(), by=MACHINE), jobs.submit(make(), by=MACHINE)
    until(at_step(first, 1), START_SECONDS)
    until(lambda: jobs.status(second).sentence == "waits until the CPU is free, next in turn", START_SECONDS)
    assert jobs.status(second).state == "queued"
    assert jobs.status(first).sentence.startswith("trains on the CPU with 1 thread")
    if not psutil.WINDOWS:  # visitors are answered first
        assert psutil.Process(jobs.status(first).pid).nice() >= jobs.NICE

    jobs.pause(first, by=MACHINE)
    until(in_state(first, "paused"), STOP_SECONDS)
    until(at_step(second, 1), START_SECONDS)
    paused = jobs.status(first)
    checkpoint = jobs.run_folder(first).checkpoint()
    assert checkpoint is not None
    assert checkpoint.step == paused.step > 0

    jobs.resume(first, by=MACHINE)
    until(lambda: "next in turn" in jobs.status(first).sentence, START_SECONDS)
    assert jobs.status(first).seconds == paused.seconds
    for run_id in (first, second):
        jobs.stop(run_id, by=MACHINE)
        until(in_state(run_id, "stopped"), STOP_SECONDS)
    for run_id in (first, second):
        process = jobs.status(run_id).process
        assert process is not None
        until(lambda: not process.alive, STOP_SECONDS)  # noqa: B023 (called at once)


def test_who_waits_is_paused_stopped_and_served_in_order(root: Path, busy: queue.Slot) -> None:
    first, second, third = (jobs.submit(make(steps=1), by=MACHINE) for _ in range(3))
    until(lambda: jobs.status(first).sentence.endswith("next in turn"), START_SECONDS)
    until(lambda: jobs.status(second).sentence.endswith("1 before it"), START_SECONDS)
    until(lambda: jobs.status(third).sentence.endswith("2 before it"), START_SECONDS)
    jobs.pause(first, by=MACHINE)
    jobs.stop(second, by=MACHINE)
    until(in_state(first, "paused"), STOP_SECONDS)
    until(in_state(second, "stopped"), STOP_SECONDS)
    until(lambda: jobs.status(third).sentence.endswith("next in turn"), START_SECONDS)
    assert [ticket.run_id for ticket in queue.waiting(root)] == [third]
    busy.lock.release()
    until(in_state(third, "finished"), START_SECONDS)


def test_a_step_that_does_not_end_is_cut_short(
    root: Path, set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(cpu_jobs=2)
    monkeypatch.setenv("PYTHONPATH", str(jobs.IMPORT_ROOT))
    monkeypatch.setattr(jobs, "WORKER", [sys.executable, str(HERE / "slow_worker.py")])
    run_ids = []
    for task in ("sleeping", "stuck"):
        run = create_run(make(), name=task)
        description = run.path / "config.json"
        description.write_text(description.read_text().replace('"name": "reverse"', f'"name": "{task}"'))
        with queue.submitting(root):
            jobs.backend().submit(run.id)
        run_ids.append(run.id)
    sleeping, stuck = run_ids
    for run_id in run_ids:
        until(lambda: (root / run_id / "checkpoint.safetensors").is_file(), START_SECONDS)  # noqa: B023
    time.sleep(0.5)  # the step begins
    jobs.pause(sleeping, by=MACHINE)
    jobs.stop(stuck, by=MACHINE)
    seconds = until(in_state(sleeping, "paused"), STOP_SECONDS)
    seconds += until(in_state(stuck, "stopped"), STOP_SECONDS)
    assert seconds < STOP_SECONDS
    for run_id in run_ids:
        found = jobs.status(run_id)
        assert "in a step that took too long" in found.sentence
        assert found.process is not None
        assert not found.process.alive
        assert jobs.run_folder(run_id).checkpoint().step == 0


@pytest.mark.parametrize("several", [False, True])
def test_a_killed_server_leaves_no_orphan_but_those_that_are_to_go_on(
    root: Path, set_limits: SetLimits, several: bool
) -> None:
    """Of several servers, whoever looks after them, here this test, goes on, and so do all runs."""
    set_limits(cpu_jobs=2)
    environment = {**os.environ, "PYTHONPATH": str(jobs.IMPORT_ROOT)}
    if several:
        environment[SERVING] = str(this_process())
    command = [sys.executable, str(HERE / "server.py")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        first, goes_on = server.stdout.readline().split()
        until(at_step(first, 1), START_SECONDS)
        until(at_step(goes_on, 1), START_SECONDS)
        server.kill()  # and nobody collects it before the end of this test
        if not several:
            until(in_state(first, "paused"), STOP_SECONDS)
            found = jobs.status(first)
            assert found.sentence == "the server stopped; resume goes on from here"
            assert jobs.run_folder(first).checkpoint().step == found.step
        for run_id in (first, goes_on) if several else (goes_on,):
            until(at_step(run_id, jobs.status(run_id).step + 1), START_SECONDS)
            assert jobs.status(run_id).state == "running"
            jobs.stop(run_id, by=MACHINE)
            until(in_state(run_id, "stopped"), STOP_SECONDS)


def test_a_killed_run_ends_as_one_that_was_never_killed(root: Path) -> None:
    config = make(steps=300, validate_every=150, checkpoint_seconds=0.1)
    whole = create_run(config, path=root.parent / "whole")
    n_threads = torch.get_num_threads()
    try:
        assert train_into(whole, config)
    finally:
        torch.set_num_threads(n_threads)
    run_id = jobs.submit(config, by=MACHINE)
    # What it says of itself comes once a second, too late to be sure that it still trains.
    until(lambda: checkpointed_step(run_id) > 0, START_SECONDS)
    process = jobs.status(run_id).process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    until(in_state(run_id, "failed"), 5)
    assert "the process ended without a word at step" in jobs.status(run_id).sentence
    jobs.resume(run_id, by=MACHINE)
    until(in_state(run_id, "finished"), START_SECONDS)
    assert_same(jobs.run_folder(run_id), whole)


def test_a_terminated_process_pauses(root: Path, busy: queue.Slot) -> None:
    run_id = jobs.submit(make(), by=MACHINE)
    until(lambda: jobs.status(run_id).process is not None, START_SECONDS)
    process = jobs.status(run_id).process
    assert process is not None
    psutil.Process(process.pid).terminate()
    until(in_state(run_id, "paused"), STOP_SECONDS)


def test_what_cannot_be_trained_fails_with_a_sentence(root: Path, busy: queue.Slot) -> None:
    run_id = jobs.submit(make(), by=MACHINE)
    (root / run_id / "metrics.jsonl").mkdir()
    busy.lock.release()
    until(in_state(run_id, "failed"), START_SECONDS)
    assert "metrics.jsonl" in jobs.status(run_id).sentence
    assert "Traceback" in (root / run_id / "log.txt").read_text()
