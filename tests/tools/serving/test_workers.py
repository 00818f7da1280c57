"""When a server counts as lost, and how long the pauses between new beginnings are."""

import re
import subprocess
import sys
import time
from itertools import pairwise

import psutil
import pytest

from tools.background_servers import until
from tools.serving import servers
from tools.serving.servers import Place, Worker


def idle() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def test_a_server_is_lost_when_it_ended_or_was_silent_for_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(1, idle())  # nothing answers at port 1
    try:
        assert not worker.answers_now() and worker.problem() is None  # it may still be starting
        until(lambda: worker.problem() is None and sum(computed(worker)) == worker.computed, worker.problem)
        worker.moved_at -= servers.START_SECONDS + 1
        assert re.fullmatch(
            r"The server at port 1 has neither answered nor computed for 12\d seconds; it is stopped\.",
            str(worker.problem()),
        )
        worker.well_at = time.monotonic()
        assert worker.problem() is None
        worker.well_at -= servers.HANGS_SECONDS + 1
        assert worker.problem() == "The server at port 1 has not answered for 61 seconds; it is stopped."
        monkeypatch.setattr(servers, "_answers", lambda port: True)
        assert worker.answers_now() and worker.problem() is None
    finally:
        worker.stop()
    assert not worker.answers_now()
    assert worker.problem() == "The server at port 1 has ended, with -15; its lines above say why."


def computed(worker: Worker) -> tuple[float, ...]:
    return tuple(psutil.Process(worker.process.pid).cpu_times()[:2])


def test_a_server_that_still_computes_may_take_as_long_as_it_needs_to_start() -> None:
    worker = Worker(1, subprocess.Popen([sys.executable, "-c", "while True: pass"]))
    try:
        worker.started -= 10 * servers.START_SECONDS
        worker.moved_at -= 10 * servers.START_SECONDS
        until(lambda: sum(computed(worker)) > 0.1, worker.problem)
        assert worker.problem() is None
    finally:
        worker.stop()


def test_a_server_that_ends_at_once_is_started_again_where_it_was_ever_more_slowly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = []

    def ends_at_once(port: int, settings: dict[str, str]) -> Worker:
        started.append((port, settings))
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        return Worker(port, process)

    monkeypatch.setattr(Worker, "start", ends_at_once)
    clock = 1000.0
    monkeypatch.setattr(servers.time, "monotonic", lambda: clock)
    place, times = Place({"A": "1"}), []
    while len(times) < 8:
        before = place.restarts
        place.mend()
        if place.restarts > before:
            times.append(clock)
        clock += 0.5
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert pauses == [1, 2, 4, 8, 16, 30, 30]
    assert len({port for port, _ in started}) == 1 and all(given == {"A": "1"} for _, given in started)


def test_a_server_that_holds_too_much_has_a_minute_to_let_go_of_it() -> None:
    worker = Worker(1, idle())
    try:
        until(lambda: worker.resident > 1_000_000, lambda: worker.resident)  # Python has started
        assert not worker.is_too_large(1_000_000)
        worker.started -= servers.STEADY_SECONDS + 1
        assert worker.is_too_large(1_000_000) and not worker.is_too_large(10**12)
    finally:
        worker.stop()
    assert worker.resident == 0 and not worker.is_too_large(1_000_000)
