"""Who trains next: slots for GPUs and CPU, a queue for each, visitors' minutes, and what is refused."""

import contextlib
import json
import math
import os
import platform
import re
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from ..byte_units import GB, MB, readable
from ..files import read_lines, write_whole
from ..limits import in_force
from ..training.config import SNAPSHOT_BYTES, RunConfig, TrainingConfig
from ..zoo.folders import RUN_ID
from .folder import REQUEST, RunFolder, Status, hanging, list_runs, read_status, write_status
from .owners import Visitor, is_of, may_change, ownership_of
from .processes import memory_left

# Slots and queues
# The files lie in `.slots` in the folder of the runs, so that several servers and the command line share
# them.

Kind = Literal["cpu", "gpu", "mps"]

PATIENCE_SECONDS = 10.0
"""One submission waits for the others at most so long."""

SLOTS = "ATTENTION_LAB_SLOTS"
"""Variable of the environment by which a command lets its own runs train on the CPU so many at once."""

_FOLDER = ".slots"
_MOST_ASKED = 256
_PLACE = re.compile(rf"(\d{{20}})-(cpu|gpu|mps)-({RUN_ID})")


@dataclass(frozen=True, order=True)
class QueuePlace:
    """A run that waits: its time of arrival (nanoseconds, Unix time), the kind of slot, and its id."""

    since: int
    kind: str
    run_id: str

    @property
    def file(self) -> str:
        return f"{self.since:020d}-{self.kind}-{self.run_id}"


@dataclass(frozen=True)
class Slot:
    """A place to train, held until the process ends or releases its lock; `index` counts within its kind."""

    kind: Kind
    index: int
    lock: FileLock


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
    asked = os.environ.get(SLOTS, "")  # by a command
    n_asked = min(int(asked), _MOST_ASKED) if asked.isdecimal() else 0
    return max(in_force().cpu_jobs, n_asked) if kind == "cpu" else 1


def submitting(root: Path) -> FileLock:
    """The lock under which limits are counted and a run enters the queue."""
    folder = root / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / "submit.lock", timeout=PATIENCE_SECONDS)


def enter(root: Path, run_id: str, kind: Kind) -> None:
    """Puts the run at the end of the queue."""
    folder = root / _FOLDER / "queue"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / QueuePlace(time.time_ns(), kind, run_id).file).touch()


def leave(root: Path, run_id: str) -> None:
    """Takes the run out of the queue."""
    for place in _places(root):
        if place.run_id == run_id:
            _discard(root, place)


def waiting(root: Path) -> list[QueuePlace]:
    """The runs that wait, the oldest first; those that no longer wait are taken out."""
    alive = []
    for place in _places(root):
        if read_status(root / place.run_id).state in ("queued", "stopping"):
            alive.append(place)
        else:
            _discard(root, place)
    return alive


def take(root: Path, run_id: str, kind: Kind) -> Slot | int:
    """A slot if one is free and it is this run's turn; else the number of runs that wait before it."""
    ahead = [place for place in waiting(root) if place.kind == kind]
    before = next((n for n, place in enumerate(ahead) if place.run_id == run_id), 0)
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


def _places(root: Path) -> list[QueuePlace]:
    try:
        names = os.listdir(root / _FOLDER / "queue")
    except OSError:
        return []
    parts = [match.groups() for match in map(_PLACE.fullmatch, names) if match]
    return sorted(QueuePlace(int(since), kind, run_id) for since, kind, run_id in parts)


def _discard(root: Path, place: QueuePlace) -> None:
    (root / _FOLDER / "queue" / place.file).unlink(missing_ok=True)


# Minutes of training per visitor
# They stand in a file beside the runs, so the time of a deleted run still counts. The status of a run holds
# the minutes that its process has not noted yet, because it still trains or was killed.

DAY_SECONDS = 86_400
_FOLDER_SPENT = ".minutes"
_NAME = re.compile("[0-9a-z]{1,64}")


def note(root: Path, visitor_id: str, seconds: int | float, *, at: float | None = None) -> None:
    """Adds a stretch that ends `at` a Unix time, or now, and removes those older than a day.

    Raises WriteError.
    """
    if not _NAME.fullmatch(visitor_id):
        return
    stretch = {"at": time.time() if at is None else at, "seconds": round(seconds, 1)}
    lines = [*_stretches_in_file(root, visitor_id), stretch]
    path = _file(root, visitor_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "".join(f"{json.dumps(line)}\n" for line in lines).encode())


def note_killed(folder: Path) -> None:
    """Adds the stretch of a run whose process could not note it; before the run's status is lost.

    A disk that refuses keeps nobody from deleting or resuming a run.
    """
    status = read_status(folder)
    if status.unnoted > 0:
        with contextlib.suppress(OSError):
            note(folder.parent, ownership_of(folder).owner, status.unnoted, at=status.heartbeat)


def minutes_spent(root: Path, visitor_id: str) -> float:
    """The minutes that a visitor's runs have trained within the last day."""
    return sum(float(line["seconds"]) for line in _lately(root, visitor_id)) / 60


def hours_until_less(root: Path, visitor_id: str) -> float:
    """The hours until the first of these stretches is a day old."""
    first = min((float(line["at"]) for line in _lately(root, visitor_id)), default=time.time() - DAY_SECONDS)
    return max(0.0, first + DAY_SECONDS - time.time()) / 3_600


def _lately(root: Path, visitor_id: str) -> list[dict[str, Any]]:
    """The stretches of the last day, noted or not."""
    if not _NAME.fullmatch(visitor_id):
        return []
    theirs = [read_status(run.path) for run in list_runs(root) if ownership_of(run.path).owner == visitor_id]
    unnoted = [{"at": status.heartbeat, "seconds": status.unnoted} for status in theirs]
    return [*_stretches_in_file(root, visitor_id), *filter(_counts, unnoted)]


def _stretches_in_file(root: Path, visitor_id: str) -> list[dict[str, Any]]:
    """The stretches of a visitor's file; invalid lines are left out."""
    return list(filter(_counts, read_lines(_file(root, visitor_id))))


def _counts(line: dict[str, Any]) -> bool:
    """Whether it is a stretch of the last day."""
    if not all(isinstance(line.get(name), int | float) for name in ("at", "seconds")):
        return False
    now = time.time()
    return line["seconds"] > 0 and now - DAY_SECONDS < line["at"] <= now


def _file(root: Path, visitor_id: str) -> Path:
    return root / _FOLDER_SPENT / f"{visitor_id}.jsonl"


def write_queued(
    folder: Path, sentence: str, *, keep_going: bool, node: str = "", steps: int | None = None
) -> Status:
    """Writes and returns the status of a run or a sweep that waits; its step and its seconds stay.

    An earlier process that hangs is killed, its stretch is noted, and what it was asked is forgotten.
    sentence: what it waits for. node: where it waits, as in its status. steps: left out, those of the run's
    config. Raises FileError where that is damaged, and WriteError.
    """
    steps = RunFolder(folder).description()["training"]["steps"] if steps is None else steps
    before, hung = read_status(folder), hanging(folder)
    if hung is not None:
        hung.kill()
    note_killed(folder)
    (folder / REQUEST).unlink(missing_ok=True)
    now = time.time()
    queued = Status(
        state="queued",
        step=before.step,
        steps=steps,
        seconds=before.seconds,
        compiling=before.compiling,
        sentence=sentence,
        keep_going=keep_going,
        queued_at=now,
        heartbeat=now,
        node=node,
        attempt=before.attempt + 1 if node or before.attempt else 0,
        resumed=before.state == "paused",
    )
    write_status(folder, queued)
    return queued


# Refusals before the start

LOG_BYTES = 1 * MB
"""A run's process may print this many bytes; then its log starts again."""
_RECORD_BYTES = 7 * MB  # metrics, samples and TensorBoard's events together
_BYTES_PER_PARAMETER = 20
"""A checkpoint has the weight and the optimiser's two means, as float32; the best weights and those that wait
to take their place have one float32 each."""


class JobRefused(ValueError):  # noqa: N818 (it is the page's answer, not a fault)
    """A run that may not start now; the text says why, and what to do."""


class Busy(JobRefused):
    """Refused only for now: others train or wait, and the same may start when they have ended."""


class NoRoom(JobRefused):
    """Refused until somebody makes room: of disk, of a visitor's minutes, or on a cluster."""


def check_queue(root: Path) -> None:
    """Raises JobRefused where the queue is full."""
    check_length(len(waiting(root)))


def check_length(n_waiting: int) -> None:
    """Raises JobRefused where so many runs fill the queue."""
    most = in_force().queue_length
    if n_waiting >= most:
        raise Busy(f"{n_waiting} runs wait already, the most there may be; stop one, or wait for the first")


def check_live(root: Path, visitor: Visitor) -> None:
    """Raises JobRefused where as many of a visitor's runs train or wait as the limits allow."""
    most = in_force().live_runs
    live = [run for run in list_runs(root) if is_of(run.path, visitor) and read_status(run.path).live]
    if len(live) >= most:
        names = " and ".join(repr(run.name) for run in live)
        raise Busy(
            f"{names} of yours train or wait already, the most there may be; "
            "stop one, or wait until it has finished"
        )


MOST_THREADS = 64
"""Of the CPU, for one run; more than there are cores makes it slower."""


def check_rights(training: TrainingConfig, visitor: Visitor, *, keep_going: bool) -> None:
    """Raises JobRefused for a run that this visitor, or any visitor, may not start here."""
    limits = in_force()
    if limits.read_only:
        raise JobRefused("this server is read-only: it trains nothing; run the app on your own machine")
    if training.threads > MOST_THREADS:
        raise JobRefused(
            f"threads={training.threads:,}, and at most {MOST_THREADS:,} are given here; "
            f"try {MOST_THREADS}, or 0 for all cores"
        )
    if visitor.all_rights:
        return
    if not visitor.id:
        raise JobRefused(
            "your browser keeps no cookie of this server, so a run would have no owner; allow cookies and "
            "reload"
        )
    if keep_going:
        raise JobRefused("only a teacher's runs go on when the server stops; start it without that")
    if training.steps > limits.visitor_steps:
        raise JobRefused(
            f"steps={training.steps:,}, but a visitor's run has at most {limits.visitor_steps:,}; take fewer "
            "steps, or ask your teacher"
        )


def check_threads(training: TrainingConfig) -> None:
    """Raises JobRefused for more threads than this machine has cores."""
    from ..training import memory

    try:
        memory.check_threads(training)
    except ValueError as error:
        raise JobRefused(str(error)) from None


def check_minutes(root: Path, visitor: Visitor) -> int:
    """Minutes that a visitor's run may keep its slot, 0 for no limit. Raises JobRefused if none is left."""
    if visitor.all_rights:
        return 0
    limits, used = in_force(), minutes_spent(root, visitor.id)
    remaining = int(limits.visitor_minutes_a_day - used)
    if remaining < 1:
        raise NoRoom(
            f"your runs trained for {used:.0f} minutes within a day, and at most "
            f"{limits.visitor_minutes_a_day} are yours; come again in "
            f"{math.ceil(hours_until_less(root, visitor.id))} hours, or ask your teacher"
        )
    return min(limits.visitor_minutes, remaining)


def check_disk(root: Path, visitor: Visitor, n_parameters: int) -> None:
    """Raises JobRefused where runs would outgrow `runs_gb`, a visitor's `visitor_runs_mb`, or the disk.

    The remedy names only runs that the visitor may delete.
    """
    limits = in_force()
    beside = SNAPSHOT_BYTES + LOG_BYTES + _RECORD_BYTES
    needed = beside + _BYTES_PER_PARAMETER * n_parameters
    theirs = {run: run.size_bytes() for run in list_runs(root) if may_change(run.path, visitor)}
    remedy = "choose a smaller model"
    if theirs:
        largest, size = max(theirs.items(), key=lambda item: item[1])
        remedy = f"delete some (the largest is {largest.name!r} with {readable(size)}), or {remedy}"
    if not visitor.all_rights:
        _check_room(needed, "your runs", sum(theirs.values()), limits.visitor_runs_mb * MB, remedy)
    elsewhere = f"{remedy}, or set runs_gb higher in the file of limits" if visitor.all_rights else remedy
    _check_room(needed, "all runs", RunFolder(root).size_bytes(), limits.runs_gb * GB, elsewhere)
    place = next(path for path in (root.absolute(), *root.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(place).free
    if needed > free:
        raise NoRoom(
            f"this run needs up to {readable(needed)}, but the disk has {readable(free)} left; {remedy}"
        )


def _check_room(needed: int, whose: str, used: int, most: int, remedy: str) -> None:
    if used + needed > most:
        raise NoRoom(
            f"this run needs up to {readable(needed)}, and {whose} together have {readable(used)} of "
            f"{readable(most)}; {remedy}"
        )


def check_memory(config: RunConfig) -> int:
    """The number of parameters of a run. Raises JobRefused where it needs more memory than there is.

    The free memory of a GPU is not known before PyTorch runs there: the run's own process checks it.
    """
    from ..engine.size import count_parameters

    if kind_for(config.training.device) == "cpu":
        refuse_above(config, memory_left())
    return count_parameters(config.model).total


def refuse_above(config: RunConfig, free: int) -> None:
    """Raises JobRefused, with the nearest sizes that need less, where a run needs more than `free` bytes."""
    from ..training.memory import memory_bytes, remedy

    needed = memory_bytes(config)
    if needed > free:
        raise JobRefused(
            f"this run needs about {readable(needed)} of memory, but {readable(free)} are free; "
            f"{remedy(config, free)}"
        )


def out_of_memory(config: RunConfig) -> str:
    """The remedy for a run that needed more than was estimated: sizes that should need half as much."""
    from ..training.memory import PROCESS_BYTES, memory_bytes, remedy

    needed = memory_bytes(config)
    return remedy(config, needed - max(0, needed - PROCESS_BYTES) // 2)
