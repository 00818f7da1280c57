"""Which process is meant: its number alone does not say, since numbers are used again."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import psutil

_CLOCK_SECONDS = 2.0  # by which two readings of one start may differ, where the system's clock is set between

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_VMSTAT = Path("/proc/vmstat")
_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


SERVING = "ATTENTION_LAB_SERVING"
"""Variable of the environment in which several servers find who started them."""


class Identity(NamedTuple):
    """A process: `pid`, and when it started: the Unix time, and where the system tells it, as Linux does, the
    tick of the machine's own counter, which goes on whoever sets the clock. Elsewhere `born` is "", and a
    clock that is set by more than two seconds makes a process seem to be another.
    """

    pid: int
    started_at: float
    born: str = ""

    @property
    def alive(self) -> bool:
        """Whether this very process runs; one that is dead but not yet collected does not."""
        try:
            process, now = psutil.Process(self.pid), born(self.pid)
            if now and self.born:
                same = now == self.born
            else:
                same = abs(process.create_time() - self.started_at) <= _CLOCK_SECONDS
            return same and process.status() != psutil.STATUS_ZOMBIE
        except (psutil.NoSuchProcess, ValueError, OverflowError):
            return False
        except psutil.AccessDenied:  # somebody else's: there, but nothing that we started
            return False

    def kill(self) -> None:
        """Ends it at once, if it still is the process that was meant."""
        if self.alive:
            try:
                psutil.Process(self.pid).kill()
            except psutil.Error:  # it ended by itself between the two lines
                return

    def __str__(self) -> str:
        return f"{self.pid}:{self.started_at!r}:{self.born}"

    @classmethod
    def parse(cls, text: str) -> Identity:
        """What `str` wrote. Raises ValueError for another text."""
        pid, started_at, born = [*text.split(":", 2), "", ""][:3]
        return cls(int(pid), float(started_at), born)


def this_process() -> Identity:
    """The one that asks."""
    return Identity(os.getpid(), psutil.Process().create_time(), born(os.getpid()))


def serving_process() -> Identity:
    """The process whose end pauses the runs: this one, or the one that looks after it and other servers."""
    named = os.environ.get(SERVING)
    return Identity.parse(named) if named else this_process()


@cache
def boot() -> str:
    """The name of this run of the machine, from its start on; "" where the system has none."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def born(pid: int) -> str:
    """The machine's start and the tick at which a process began; "" where the system does not tell."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    ticks = said.rpartition(")")[2].split()[19:20]  # its name, in brackets, may hold anything
    return f"{boot()}:{ticks[0]}" if ticks and boot() else ""


def memory_left() -> int:
    """Bytes of main memory that are free to take: the machine's, or its container's if that is less."""
    left = psutil.virtual_memory().available
    for limit, used in _CGROUPS:
        try:
            left = min(left, int(limit.read_text()) - int(used.read_text()))
        except (OSError, ValueError):  # no such container, or one without a limit ("max")
            continue
    return max(left, 0)


def n_starved() -> int:
    """How many processes the system has ended for want of memory so far; 0 where it does not count."""
    try:
        counts = dict(line.split(" ", 1) for line in _VMSTAT.read_text().splitlines())
        return int(counts.get("oom_kill", 0))
    except (OSError, ValueError):
        return 0
