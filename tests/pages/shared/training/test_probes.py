"""When a run is tried again: as the machine changes, and not for every look."""

import threading
import time
from typing import Any

import pytest

from attention_lab.pages.shared.training import prepare
from attention_lab.pages.shared.training.prepare import FRESH_SECONDS, OLD_SECONDS, Probes, Tried


class Machine:
    """A machine whose load and clock the test sets; each probe takes as long as the load says."""

    def __init__(self) -> None:
        self.now, self.load, self.n_probes = 1_000.0, 0.0, 0
        self.probes = Probes(self.probe, lambda: self.load, lambda: self.now)

    def probe(self, config: Any) -> tuple[float, float] | None:
        self.n_probes += 1
        return None if config == "giant" else (30.0 * (1 + self.load), 30.0)

    def after(self, seconds: float) -> Tried | None:
        """What is said after so many seconds, once whatever was due has been done."""
        self.now += seconds
        return self.settled()

    def look(self, key: str = "run", page: str = "page") -> Tried | None:
        return self.probes.time_of(key, key, page)  # type: ignore[arg-type]

    def settled(self) -> Tried | None:
        self.look()
        while self.probes.queue.n_waiting:
            time.sleep(0.001)
        return self.look()


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_a_probe_under_load_does_not_stick(machine: Machine) -> None:
    machine.load = 2.0
    assert machine.after(0) == Tried(90.0, 30.0, 2.0)
    machine.load = 0.0
    machine.probes.update("run", "run")  # type: ignore[arg-type]
    assert machine.after(0) == Tried(30.0, 30.0, 0.0)
    assert machine.n_probes == 2


def test_a_look_soon_after_tries_nothing_and_a_later_one_only_where_the_machine_changed(
    machine: Machine,
) -> None:
    assert machine.look() is None
    assert machine.settled() == Tried(30.0, 30.0, 0.0)
    machine.load = 1.5
    assert machine.look() == Tried(30.0, 30.0, 0.0)
    machine.now += FRESH_SECONDS + 1
    machine.load = prepare.BUSIER / 2
    machine.probes.update("run", "run")  # type: ignore[arg-type]
    assert machine.n_probes == 1
    machine.now += OLD_SECONDS + 1
    machine.probes.update("run", "run")  # type: ignore[arg-type]
    assert machine.n_probes == 2


def test_other_cores_are_another_machine(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.after(0)
    monkeypatch.setattr(prepare.os, "cpu_count", lambda: 64)
    machine.probes.update("run", "run")  # type: ignore[arg-type]
    assert machine.n_probes == 2


def test_what_is_too_large_is_not_asked_for_again_and_again(machine: Machine) -> None:
    machine.probes.update("giant", "giant")  # type: ignore[arg-type]
    assert machine.look("giant") == Tried(None, None, 0.0)


def test_a_page_waits_for_the_run_that_it_looks_at_and_for_no_other(machine: Machine) -> None:
    holds = threading.Event()
    machine.probes.queue.ask("other", "another page", work=lambda job: holds.wait(30))
    machine.look("left")
    machine.look()
    holds.set()
    assert machine.settled() is not None and machine.n_probes == 1


def test_busy_cores_are_between_none_and_all() -> None:
    assert 0 <= prepare.busy_cores() <= (prepare.os.cpu_count() or 1)
