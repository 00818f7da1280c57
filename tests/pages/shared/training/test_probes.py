"""When a run is tried again: as the machine changes, and not for every look."""

import time
from typing import Any

import pytest

from pages.shared.training import probes
from pages.shared.training.probes import FRESH_SECONDS, OLD_SECONDS, Probes, Tried


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
        self.probes.look("run", "run")  # type: ignore[arg-type]
        while self.probes._wanted:
            time.sleep(0.001)
        return self.settled()

    def settled(self) -> Tried | None:
        end = time.monotonic() + 5
        while time.monotonic() < end:
            found = self.probes.look("run", "run")  # type: ignore[arg-type]
            if found is not None and not self.probes._wanted:
                return found
            time.sleep(0.001)
        return None


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
    assert machine.probes.look("run", "run") is None  # type: ignore[arg-type]
    assert machine.settled() == Tried(30.0, 30.0, 0.0)
    machine.load = 1.5
    assert machine.probes.look("run", "run") == Tried(30.0, 30.0, 0.0)  # type: ignore[arg-type]
    machine.now += FRESH_SECONDS + 1
    machine.load = probes.BUSIER / 2
    machine.probes.update("run", "run")  # type: ignore[arg-type]
    assert machine.n_probes == 1
    machine.now += OLD_SECONDS + 1
    machine.probes.update("run", "run")  # type: ignore[arg-type]
    assert machine.n_probes == 2


def test_other_cores_are_another_machine(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.after(0)
    monkeypatch.setattr(probes.os, "cpu_count", lambda: 64)
    machine.probes.update("run", "run")  # type: ignore[arg-type]
    assert machine.n_probes == 2


def test_what_is_too_large_is_not_asked_for_again_and_again(machine: Machine) -> None:
    machine.probes.update("giant", "giant")  # type: ignore[arg-type]
    assert machine.probes.look("giant", "giant") == Tried(None, None, 0.0)  # type: ignore[arg-type]


def test_nobody_waits_for_what_nobody_looks_at_any_more(machine: Machine) -> None:
    machine.probes._wanted["left"] = ("left", machine.now - 60)  # type: ignore[assignment]
    machine.after(0)
    assert "left" not in machine.probes._known


def test_busy_cores_are_between_none_and_all() -> None:
    assert 0 <= probes.busy_cores() <= (probes.os.cpu_count() or 1)
