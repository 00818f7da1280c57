"""Signs of life and requests, in this process; what cuts a process short is tested in tests/processes."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from models.runs import watch as module
from models.runs.processes import Identity, this_process
from models.runs.status import Status, read_status, write_request
from models.runs.watch import Watch

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
        watch.trains(40, lambda: 12.52, "trains on the CPU", "cpu")
        watch.step = 41
        until(lambda: read_status(tmp_path).step == 41)
        assert watch.asked == ""
        watch.finish("finished")
    last = read_status(tmp_path)
    assert (last.state, last.step, last.device, last.sentence) == ("finished", 41, "cpu", "trains on the CPU")
    assert last.seconds == 12.5
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


def test_the_end_of_the_server_pauses(tmp_path: Path) -> None:
    gone = Identity(this_process().pid, 1.0)
    with Watch(tmp_path, QUEUED, parent=gone) as watch:
        until(lambda: watch.asked == "pause")
        assert watch.status.sentence == "the server stopped; resume goes on from here"
    with Watch(tmp_path, QUEUED, parent=this_process()) as watch:
        time.sleep(0.05)
        assert watch.asked == ""


def test_a_signal_pauses(tmp_path: Path) -> None:
    with Watch(tmp_path, QUEUED) as watch:
        watch.signalled = True
        until(lambda: watch.asked == "pause")
        assert "was asked to end" in watch.status.sentence


def test_what_does_not_end_is_cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(module.os, "_exit", ends.append)
    with Watch(tmp_path, QUEUED) as watch:
        write_request(tmp_path, "stop")
        until(lambda: bool(ends))
        assert read_status(tmp_path).state == "stopped"
        assert "in the middle of a step" in watch.status.sentence
    assert ends[0] == 1


def test_a_deleted_run_ends_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    folder = tmp_path / "run"
    folder.mkdir()
    monkeypatch.setattr(module.os, "_exit", ends.append)
    with Watch(folder, QUEUED):
        folder.rename(tmp_path / "elsewhere")
        until(lambda: bool(ends))


def test_the_log_does_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LOG_BYTES", 1000)
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
    assert found.state == "stopping"
    assert found.sentence.startswith("it had its slot for 0.001 minutes, and others wait; resume goes on")
