"""Who trains now and who waits: one lock for each GPU and each place on the CPU, and a queue for each kind.

The files lie in `.slots` in the folder of the runs, so that several servers and the command line share them.
"""

import os
import platform
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from models.limits import in_force
from models.runs.status import read_status
from models.zoo.run_folders import RUN_ID

Kind = Literal["cpu", "gpu", "mps"]

PATIENCE_SECONDS = 10.0
"""One submission waits for the others at most so long."""

SLOTS = "ATTENTION_LAB_SLOTS"
"""Variable of the environment by which a command lets its own runs train on the CPU so many at once."""

_FOLDER = ".slots"
_MOST_ASKED = 256
_TICKET = re.compile(rf"(\d{{20}})-(cpu|gpu|mps)-({RUN_ID})")


@dataclass(frozen=True, order=True)
class Ticket:
    """A run that waits: its time of arrival (nanoseconds, Unix time), the kind of slot, and its id."""

    since: int
    kind: str
    run_id: str

    @property
    def file(self) -> str:
        return f"{self.since:020d}-{self.kind}-{self.run_id}"


@dataclass(frozen=True)
class Slot:
    """A place to train, held until the process ends or `release`s it; `index` counts within its kind."""

    kind: Kind
    index: int
    lock: FileLock

    def release(self) -> None:
        self.lock.release()


def kind_for(device: str) -> Kind:
    """The kind of slot that a run on `device` ("auto", "cpu", "cuda", "mps") takes; found without torch."""
    if device in ("auto", "cuda") and visible_gpus():
        return "gpu"
    apple = sys.platform == "darwin" and platform.machine() == "arm64"
    return "mps" if device in ("auto", "mps") and apple else "cpu"


def visible_gpus() -> list[str]:
    """NVIDIA's GPUs by their names in CUDA_VISIBLE_DEVICES, in the order in which CUDA counts them."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        n_gpus = sum(bool(re.fullmatch(r"nvidia\d+", path.name)) for path in Path("/dev").glob("nvidia*"))
        return [str(index) for index in range(n_gpus)]
    names = [name.strip() for name in chosen.split(",")]
    end = next((place for place, name in enumerate(names) if name in ("", "-1")), len(names))
    return names[:end]


def n_slots(kind: Kind) -> int:
    """How many runs may train at once: one per GPU, and as many as the limit `cpu_jobs` on the CPU."""
    if kind == "gpu":
        return len(visible_gpus())
    return max(in_force().cpu_jobs, _asked_for()) if kind == "cpu" else 1


def _asked_for() -> int:
    """The runs at once that a command asked for; 0 where none did."""
    asked = os.environ.get(SLOTS, "")
    return min(int(asked), _MOST_ASKED) if asked.isdecimal() else 0


def submitting(root: Path) -> FileLock:
    """The lock under which limits are counted and a run enters the queue."""
    folder = root / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / "submit.lock", timeout=PATIENCE_SECONDS)


def enter(root: Path, run_id: str, kind: Kind) -> None:
    """Puts the run at the end of the queue."""
    folder = root / _FOLDER / "queue"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / Ticket(time.time_ns(), kind, run_id).file).touch()


def leave(root: Path, run_id: str) -> None:
    """Takes the run out of the queue."""
    for ticket in _tickets(root):
        if ticket.run_id == run_id:
            _discard(root, ticket)


def waiting(root: Path) -> list[Ticket]:
    """The runs that wait, the oldest first; those that no longer wait are taken out."""
    alive = []
    for ticket in _tickets(root):
        if read_status(root / ticket.run_id).state in ("queued", "stopping"):
            alive.append(ticket)
        else:
            _discard(root, ticket)
    return alive


def take(root: Path, run_id: str, kind: Kind) -> Slot | int:
    """A slot if one is free and it is this run's turn; else the number of runs that wait before it."""
    ahead = [ticket for ticket in waiting(root) if ticket.kind == kind]
    before = next((place for place, ticket in enumerate(ahead) if ticket.run_id == run_id), 0)
    if before:
        return before
    for index in range(n_slots(kind)):
        lock = FileLock(root / _FOLDER / f"{kind}-{index}.lock", thread_local=False)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            continue
        leave(root, run_id)
        return Slot(kind, index, lock)
    return 0


def _tickets(root: Path) -> list[Ticket]:
    try:
        names = os.listdir(root / _FOLDER / "queue")
    except OSError:
        return []
    found = [match.groups() for match in map(_TICKET.fullmatch, names) if match]
    return sorted(Ticket(int(since), kind, run_id) for since, kind, run_id in found)


def _discard(root: Path, ticket: Ticket) -> None:
    (root / _FOLDER / "queue" / ticket.file).unlink(missing_ok=True)
