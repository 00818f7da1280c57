"""Who is alive: numbers of processes are used again, dead children linger."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from attention_lab.models.runs import processes
from attention_lab.models.runs.processes import (
    SERVING,
    Identity,
    born,
    memory_left,
    oom_kills,
    serving_process,
    this_process,
)


def test_this_process_is_alive() -> None:
    assert this_process()[:2] == (os.getpid(), psutil.Process().create_time())
    assert this_process().alive


def test_a_reused_pid_is_another_process() -> None:
    pid, started_at, _ = this_process()
    assert not Identity(pid, started_at - 3600).alive
    Identity(pid, started_at - 3600).kill()  # would end this test


def test_a_child_is_dead_once_killed_though_nobody_has_collected_it() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = Identity(child.pid, psutil.Process(child.pid).create_time())
    assert identity.alive
    identity.kill()
    end = time.monotonic() + 5
    while identity.alive and time.monotonic() < end:
        time.sleep(0.01)
    assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
    assert not identity.alive
    identity.kill()
    child.communicate()
    assert not identity.alive


def test_an_identity_survives_a_command_line() -> None:
    assert Identity.parse(str(this_process())) == this_process()
    with pytest.raises(ValueError):
        Identity.parse("12 of 3")


def test_numbers_that_name_no_process_are_dead() -> None:
    assert not Identity(-4, 0.0).alive
    assert not Identity(2**70, 0.0).alive


def test_memory_left_is_the_container_s_where_that_is_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit, used = tmp_path / "max", tmp_path / "current"
    monkeypatch.setattr(processes, "_CGROUPS", ((limit, used),))
    machine = memory_left()
    assert machine == pytest.approx(psutil.virtual_memory().available, rel=0.2)
    used.write_text("1000\n")
    limit.write_text("max\n")
    assert memory_left() == pytest.approx(machine, rel=0.2)
    limit.write_text("5000\n")
    assert memory_left() == 4000
    limit.write_text("500\n")
    assert memory_left() == 0


def test_processes_that_starved_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = tmp_path / "vmstat"
    monkeypatch.setattr(processes, "_VMSTAT", counts)
    assert oom_kills() == 0
    counts.write_text("nr_free_pages 12\noom_kill 7\n")
    assert oom_kills() == 7
    counts.write_text("oom_kill\n")
    assert oom_kills() == 0


@pytest.mark.skipif(not born(os.getpid()), reason="this system does not tell when a process began")
def test_a_clock_that_is_set_makes_no_process_another(monkeypatch: pytest.MonkeyPatch) -> None:
    me = this_process()
    assert Identity(me.pid, me.started_at - 10, me.born).alive
    boot, _, tick = me.born.rpartition(":")
    assert not Identity(me.pid, me.started_at, f"{boot}:{int(tick) + 1}").alive
    assert not Identity(me.pid, me.started_at, f"another:{tick}").alive
    monkeypatch.setattr("attention_lab.models.runs.processes.born", lambda pid: "")
    assert Identity(me.pid, me.started_at - 1, me.born).alive
    assert not Identity(me.pid, me.started_at - 10, me.born).alive


def test_what_older_programs_wrote_is_read() -> None:
    assert Identity.parse("12:3.5") == Identity(12, 3.5)


def test_one_of_several_servers_names_who_looks_after_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert serving_process() == this_process()
    monkeypatch.setenv(SERVING, str(Identity(12, 3.5, "boot:4")))
    assert serving_process() == Identity(12, 3.5, "boot:4")
