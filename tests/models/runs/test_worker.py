"""How a run's process begins and ends, in this process and without training."""

import errno
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock

from attention_lab.models.byte_units import MB
from attention_lab.models.files import FileError, WriteError, writing
from attention_lab.models.runs import queue, recording, report, worker
from attention_lab.models.runs import worker as module
from attention_lab.models.runs.folder import (
    Ask,
    RunFolder,
    Status,
    create_run,
    read_status,
    write_request,
    write_status,
)
from attention_lab.models.runs.printing import runs_table
from attention_lab.models.runs.processes import this_process
from attention_lab.models.runs.queue import JobRefused
from attention_lab.models.runs.worker import Watch, train_here
from tests.small_runs import small_run


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return create_run(small_run(held_out=4, device="auto"), path=tmp_path / "run")


def raising(error: Exception) -> Callable[..., bool]:
    def train_into(*_: Any, **__: Any) -> bool:
        raise error

    return train_into


def test_a_run_here_is_seen_as_any_other(run: RunFolder) -> None:
    seen: list[tuple[int, str, str]] = []

    def on_record(record: Any) -> None:
        seen.append((record.step, read_status(run.path).state, read_status(run.path).device))

    last = train_here(run, on_record)
    assert seen == [(step, "running", "cpu") for step in range(1, 7)]
    assert last == read_status(run.path)
    assert (last.state, last.step, last.steps) == ("finished", 6, 6)
    assert last.sentence.startswith("trains on the CPU")
    checkpoint = run.checkpoint()
    assert checkpoint is not None
    assert checkpoint.step == 6


def test_a_request_ends_it_after_its_step_and_it_goes_on(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train_into(*_: Any, should_stop: Callable[[], bool], **__: Any) -> bool:
        write_request(run.path, "pause")
        while not should_stop():
            pass
        return False

    with monkeypatch.context() as patch:
        patch.setattr(recording, "train_into", train_into)
        assert train_here(run).state == "paused"
    assert train_here(run).state == "finished"


def test_a_paused_run_that_is_refused_stays_paused_with_the_reason(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(described: object) -> None:
        raise FileError("its file 'films.csv' is not there any more; hand it in again")

    write_status(run.path, Status(state="paused", step=3, steps=6, sentence="the server stopped"))
    for resume in (train_here, lambda run: worker.main([str(run.path)])):
        with monkeypatch.context() as patch:
            patch.setattr(worker, "check_files", refuse)
            resume(run)
        last = read_status(run.path)
        assert (last.state, last.step, last.refused) == ("paused", 3, True)
        assert last.sentence == "its file 'films.csv' is not there any more; hand it in again"
        listed = runs_table([run])
        assert "paused" in listed and "failed" not in listed
        assert listed.splitlines()[-1] == f"run could not be resumed: {last.sentence}"
        write_status(run.path, replace(last, state="queued", heartbeat=time.time()))  # by a page
    last = train_here(run)
    assert (last.state, last.refused, last.resumed) == ("finished", False, False)


def test_a_paused_run_whose_records_the_disk_refuses_stays_paused(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise WriteError("the disk is full; free some space")

    write_status(run.path, Status(state="paused", step=3, steps=6))
    monkeypatch.setattr(recording, "Recorder", full)
    last = train_here(run)
    assert (last.state, last.refused, last.sentence) == ("paused", True, "the disk is full; free some space")


@pytest.mark.parametrize(("asked", "state"), [("", "paused"), ("stop", "failed")])
def test_a_paused_run_whose_turn_cannot_be_found_stays_paused_unless_it_is_to_stop(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, asked: str, state: str
) -> None:
    def unreadable(*_: object) -> None:
        if asked:
            write_request(run.path, "stop")
            while not read_status(run.path).asked:
                time.sleep(0.01)
        raise PermissionError("the folder of slots is not writable")

    write_status(run.path, Status(state="queued", step=3, steps=6, resumed=True))
    monkeypatch.setattr(queue, "kind_for", unreadable)
    assert worker.main([str(run.path)]) == 1
    last = read_status(run.path)
    assert (last.state, last.refused) == (state, state == "paused")
    assert "slots is not writable" in last.sentence


@pytest.mark.parametrize(("ask", "state"), [("stop", "stopped"), ("pause", "paused")])
def test_a_run_that_leaves_the_queue_says_so(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, ask: Ask, state: str
) -> None:
    def ahead(*_: Any) -> int:
        write_request(run.path, ask)
        return 1  # runs wait before it

    monkeypatch.setattr(queue, "take", ahead)
    assert worker.main([str(run.path)]) == 0
    last = read_status(run.path)
    assert (last.state, last.sentence) == (
        state,
        "it left the queue before its turn, and it has not trained yet; resume queues it again",
    )


def test_a_report_that_the_disk_has_no_room_for_leaves_the_run_finished(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, value: object) -> None:
        with writing(path):
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(report, "write_json", full)
        last = train_here(run)
    assert last.state == "finished"
    assert last.outcome.endswith(
        f"its report is missing (report.json could not be written to {str(run.path)!r}: the disk is full); "
        f"python -m attention_lab.models.training report {run.id} writes it"
    )
    checkpoint = run.checkpoint()
    assert checkpoint is not None and checkpoint.step == 6
    assert report.read_report(run) == {}
    report.write_report(run)  # once there is room
    assert report.read_report(run)["step"] == 6


def test_ctrl_c_pauses(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def train_into(*_: Any, should_stop: Callable[[], bool], **__: Any) -> bool:
        signal.raise_signal(signal.SIGINT)
        while not should_stop():
            pass
        return False

    monkeypatch.setattr(recording, "train_into", train_into)
    before = signal.getsignal(signal.SIGINT)
    last = train_here(run)
    assert signal.getsignal(signal.SIGINT) is before
    assert (last.state, last.sentence) == ("paused", "the process was asked to end; resume goes on from here")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (WriteError("the disk is full; free some space"), "the disk is full; free some space"),
        (ValueError("d_model=7 is odd; try 8"), "d_model=7 is odd; try 8"),
        (KeyError("x"), "KeyError: 'x'; log.txt in its folder says where"),
    ],
)
def test_a_failure_is_a_sentence(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, error: Exception, sentence: str
) -> None:
    monkeypatch.setattr(recording, "train_into", raising(error))
    last = train_here(run)
    assert (last.state, last.sentence) == ("failed", sentence)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_want_of_memory_names_smaller_sizes(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(recording, "train_into", raising(error))
    last = train_here(run)
    assert last.state == "failed"
    assert last.sentence.startswith("out of memory at step 1; try ")


def test_what_does_not_fit_is_refused(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "memory_left", lambda: MB)
    last = train_here(run)
    assert last.state == "failed"
    assert "of memory, but 1.0 MB are free; " in last.sentence


def test_two_processes_never_train_one_run(
    run: RunFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "LAST_ONE_SECONDS", 0.0)
    before = read_status(run.path)
    with FileLock(run.path / ".lock"):
        with pytest.raises(JobRefused, match="trains in another process; stop it first"):
            train_here(run)
        assert worker.main([str(run.path)]) == 1
    assert capsys.readouterr().err == "another process trains this run; this one ends\n"
    assert read_status(run.path) == before == Status(state="stopped", sentence=before.sentence)


QUEUED = Status(state="queued", steps=100, queued_at=5.0)


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.005)
    monkeypatch.setattr(module, "BEAT_SECONDS", 0.01)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_a_watch_signs_says_the_step_and_has_the_last_word(tmp_path: Path) -> None:
    me = this_process()
    with Watch(tmp_path, QUEUED) as watch:
        first = read_status(tmp_path)
        assert (first.state, first.process, first.steps) == ("queued", me, 100)
        watch.starts("loads PyTorch")
        assert read_status(tmp_path).state == "running"
        assert read_status(tmp_path).seconds == 0
        watch.compiling = lambda: 3.21
        watch.trains(40, lambda: 12.52, "trains on the CPU", "cpu")
        watch.step = 41
        until(lambda: read_status(tmp_path).step == 41)
        assert watch.asked == ""
        watch.finish("finished")
    last = read_status(tmp_path)
    assert (last.state, last.step, last.device, last.sentence) == ("finished", 41, "cpu", "trains on the CPU")
    assert (last.seconds, last.compiling) == (12.5, 3.2)
    assert last.heartbeat > first.heartbeat
    assert last.memory > 1e6
    assert last.free > 1e6
    time.sleep(0.05)
    assert read_status(tmp_path) == last


def test_a_request_is_taken_up_once(tmp_path: Path) -> None:
    with Watch(tmp_path, QUEUED) as watch:
        watch.trains(0, lambda: 0.0, "trains on the CPU", "cpu")
        write_request(tmp_path, "pause")
        until(lambda: watch.asked == "pause")
        write_request(tmp_path, "stop")
        time.sleep(0.03)
        assert watch.asked == "pause"
        assert read_status(tmp_path).state == "stopping"
        watch.starts("loads PyTorch")  # a request that came before it
        assert (watch.status.state, watch.status.sentence) == ("stopping", "trains on the CPU")
        watch.finish("paused")
    assert (read_status(tmp_path).state, read_status(tmp_path).asked) == ("paused", "")


def test_a_deleted_run_ends_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    folder = tmp_path / "run"
    folder.mkdir()
    monkeypatch.setattr(module.os, "_exit", ends.append)
    with Watch(folder, QUEUED):
        folder.rename(tmp_path / "elsewhere")
        until(lambda: bool(ends))


def test_the_log_does_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOG_BYTES", 1000)
    log = tmp_path / "log.txt"
    log.write_text("x" * 1000)
    with Watch(tmp_path, QUEUED), log.open("a") as file:
        time.sleep(0.05)
        assert log.stat().st_size == 1000
        file.write("more")
        file.flush()
        until(lambda: log.stat().st_size < 1000)


def test_a_run_whose_minutes_are_over_pauses_for_those_who_wait(tmp_path: Path) -> None:
    with Watch(tmp_path, QUEUED, minutes=0.001) as watch:
        time.sleep(0.1)
        assert watch.asked == ""  # it waits for its slot
        watch.starts("loads PyTorch")
        until(lambda: watch.asked == "pause")
    found = read_status(tmp_path)
    assert (found.state, found.cause) == ("stopping", "time")
    assert found.sentence.startswith("it had its slot for 0.001 minutes; resume goes on")
