"""The identity of a process: its number alone is not enough, since the system uses numbers again."""

from __future__ import annotations

import os
import sys
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

import psutil

_CLOCK_SECONDS = 2.0  # the most by which two readings of one start differ after the clock is set

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
    """A process: its `pid`, the Unix time of its start, and, where the system tells it, as Linux does, the
    tick of the machine's own counter, which setting the clock does not change. Elsewhere `born` is "", and a
    clock that is set by more than two seconds makes a process seem to be another.
    """

    pid: int
    started_at: float
    born: str = ""

    @property
    def alive(self) -> bool:
        """Whether this very process runs; a zombie, dead but not yet collected, does not."""
        try:
            process, now = psutil.Process(self.pid), born(self.pid)
            if now and self.born:
                same = now == self.born
            else:
                same = abs(process.create_time() - self.started_at) <= _CLOCK_SECONDS
            return same and process.status() != psutil.STATUS_ZOMBIE
        except (psutil.NoSuchProcess, ValueError, OverflowError):
            return False
        except psutil.AccessDenied:  # another user's process, so not one that we started
            return False

    def kill(self) -> None:
        """Ends the process at once, if its number still belongs to it."""
        if self.alive:
            try:
                psutil.Process(self.pid).kill()
            except psutil.Error:  # it ended by itself between the two lines
                return

    def __str__(self) -> str:
        return f"{self.pid}:{self.started_at!r}:{self.born}"

    @classmethod
    def parse(cls, text: str) -> Identity:
        """Reads what `str` wrote. Raises ValueError for any other text."""
        pid, started_at, born = [*text.split(":", 2), "", ""][:3]
        return cls(int(pid), float(started_at), born)


def leave(code: int) -> None:
    """Ends this process at once: everything is written, and unloading PyTorch takes a while."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def this_process() -> Identity:
    """The process that calls this."""
    return Identity(os.getpid(), psutil.Process().create_time(), born(os.getpid()))


def serving_process() -> Identity:
    """The process whose end pauses the runs: this one, or the one that supervises several servers."""
    identity = os.environ.get(SERVING)
    return Identity.parse(identity) if identity else this_process()


@cache
def boot() -> str:
    """The id of the machine's present boot; "" where the system has none."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def uptime() -> float:
    """Seconds by the machine's own counter, the same for all processes of a boot; setting the clock does not
    change it.
    """
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def born(pid: int) -> str:
    """The id of the boot and the tick at which a process began; "" where the system does not tell."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    ticks = line.rpartition(")")[2].split()[19:20]  # its name, in brackets, may hold anything
    return f"{boot()}:{ticks[0]}" if ticks and boot() else ""


def memory_left() -> int:
    """Bytes of main memory that are free: the machine's, or its container's if that is less."""
    n_bytes = psutil.virtual_memory().available
    for limit, used in _CGROUPS:
        try:
            n_bytes = min(n_bytes, int(limit.read_text()) - int(used.read_text()))
        except (OSError, ValueError):  # no such container, or one without a limit ("max")
            continue
    return max(n_bytes, 0)


def oom_kills() -> int:
    """How many processes the system has killed so far because memory ran out; 0 where it does not count."""
    try:
        counts = dict(line.split(" ", 1) for line in _VMSTAT.read_text().splitlines())
        return int(counts.get("oom_kill", 0))
    except (OSError, ValueError):
        return 0
