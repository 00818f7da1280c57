"""Which process is meant: its number alone does not say, since numbers are used again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import psutil

_CLOCK_SECONDS = 2.0  # by which two readings of one start may differ, where the system's clock is set between

_VMSTAT = Path("/proc/vmstat")
_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


class Identity(NamedTuple):
    """A process: `pid`, and the Unix time when it started."""

    pid: int
    started_at: float

    @property
    def alive(self) -> bool:
        """Whether this very process runs; one that is dead but not yet collected does not."""
        try:
            process = psutil.Process(self.pid)
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
        return f"{self.pid}:{self.started_at!r}"

    @classmethod
    def parse(cls, text: str) -> Identity:
        """What `str` wrote. Raises ValueError for another text."""
        pid, _, started_at = text.partition(":")
        return cls(int(pid), float(started_at))


def this_process() -> Identity:
    """The one that asks."""
    return Identity(os.getpid(), psutil.Process().create_time())


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
