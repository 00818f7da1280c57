"""When a server counts as lost, and how long the pauses between new beginnings are."""

import subprocess
import sys
import time
from itertools import pairwise

import pytest

from tools.background_servers import until
from tools.serving import servers
from tools.serving.servers import Place, Worker


def idle() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def test_a_server_is_lost_when_it_ended_or_was_silent_for_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(1, idle())  # nothing answers at port 1
    try:
        assert not worker.answers_now() and not worker.is_lost()  # it may still be starting
        worker.started -= servers.START_SECONDS + 1
        assert worker.is_lost()
        worker.well_at = time.monotonic()
        assert not worker.is_lost()
        worker.well_at -= servers.HANGS_SECONDS + 1
        assert worker.is_lost()
        monkeypatch.setattr(servers, "_answers", lambda port: True)
        assert worker.answers_now() and not worker.is_lost()
    finally:
        worker.stop()
    assert not worker.answers_now() and worker.is_lost()


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
