"""What a run's process says of itself in `status.json` of the run's folder, and what its silence means.

It is read without torch, so that a page can list its runs while torch is still being imported.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from models.byte_units import MB, readable
from models.files import read_json_if_any, write_json
from models.runs.folder import REQUEST, STATUS
from models.runs.processes import Identity, boot, n_starved

State = Literal["queued", "running", "paused", "stopping", "finished", "stopped", "failed"]
Ask = Literal["pause", "stop"]

VERSION = 1
SILENT_SECONDS = 15.0
"""A process that writes its sign of life every second, and has not for so long, counts as dead."""
START_SECONDS = 60.0
"""A process takes at most so long to start and give its first sign, on a machine that is busy."""

AFAR_SECONDS = 30.0
"""The same for a process on another machine, whose clock and file system may lag."""
CLUSTER = "cluster"
"""The `node` of a run that waits for one."""

_OVERWRITING_SECONDS = 0.02  # a reader may see half of a file that is overwritten in place
_LIVE = ("queued", "running", "stopping")


@dataclass(frozen=True, kw_only=True)
class Status:
    """How a run stands. step of steps; seconds of training so far; times are Unix times.

    sentence: what was chosen, what it waits for, or why it ended. asked: a request that it has not met yet.
    born, up: when the process began and gave its last sign by the machine's own counters, which nobody sets.
    smaller: sizes that need less memory, in case the system kills the process without a word. memory, free:
    bytes that the process holds, and that the machine had left beside it. n_starved: processes that the
    system had killed by then because memory ran out. unnoted: seconds in its slot that no file of the owner's
    minutes counts yet. node: the machine of a Ray cluster where the run trains, or "cluster" while it waits
    there; "" on this machine. attempt: counts the processes that were given the run; one that finds a later
    attempt in the file ends, so that no two write it. outcome: that it stopped early, or that its loss
    grew, else "". resumed: it was paused and is to go on, but has not trained since.
    """

    state: State
    step: int = 0
    steps: int = 0
    seconds: float = 0.0
    device: str = ""
    sentence: str = ""
    asked: str = ""
    keep_going: bool = False
    queued_at: float = 0.0
    pid: int | None = None
    started_at: float | None = None
    born: str = ""
    heartbeat: float = 0.0
    up: float = 0.0
    memory: int = 0
    free: int = 0
    n_starved: int = 0
    smaller: str = ""
    unnoted: float = 0.0
    node: str = ""
    attempt: int = 0
    outcome: str = ""
    resumed: bool = False

    @property
    def refused(self) -> bool:
        """Whether it is paused still because what was to let it go on was refused; the sentence says why."""
        return self.state == "paused" and self.resumed

    @property
    def live(self) -> bool:
        """Whether its process waits, trains or is ending; only then can it be paused or stopped."""
        return self.state in _LIVE

    @property
    def process(self) -> Identity | None:
        """The process that writes this status, if one has started."""
        if self.pid is None or self.started_at is None:
            return None
        return Identity(self.pid, self.started_at, self.born)


def read_status(folder: Path) -> Status:
    """How the run in `folder` stands, whatever its file says: a dead process's "running" reads as failed."""
    try:
        written = _written(folder)
    except ValueError:
        time.sleep(_OVERWRITING_SECONDS)
        try:
            written = _written(folder)
        except ValueError as error:
            return Status(state="failed", sentence=f"{error}; resume goes on from the last checkpoint")
    if written is None:
        return Status(state="stopped", sentence="no process has worked here; resume starts one")
    return judged(
        written,
        read_request(folder),
        now=time.time(),
        alive=lambda process: process.alive,
        n_starved=n_starved(),
    )


def judged(
    status: Status,
    request: Ask | None,
    *,
    now: float,
    alive: Callable[[Identity], bool],
    n_starved: int = 0,
) -> Status:
    """`status` as it is, or, where its process has fallen silent, the state in which it ended."""
    if not status.live:
        return status
    silent, process = _silence(status, now), status.process
    if status.node:
        return _judged_afar(status, silent)
    if process is None:
        if silent <= START_SECONDS:
            return status
        return replace(status, state="failed", sentence="its process did not start; log.txt may say why")
    if alive(process):
        if silent <= SILENT_SECONDS:
            return status
        return replace(
            status,
            state="failed",
            sentence=f"its process (pid {process.pid}) gave no sign for {silent:.0f} seconds: it hangs or "
            "sleeps; stop ends it, and resume goes on from the last checkpoint",
        )
    wanted_end = status.asked or request
    if wanted_end:
        return replace(status, state=ended_by(wanted_end), asked="", sentence=CUT_SHORT, resumed=False)
    return replace(status, state="failed", sentence=_last_words(status, n_starved))


def _judged_afar(status: Status, silent: float) -> Status:
    """A run on a cluster: its process is out of sight, so only its signs of life count."""
    if silent <= (AFAR_SECONDS if status.pid else START_SECONDS):
        return status
    where = "its turn" if status.node == CLUSTER else status.node
    sentence = (
        f"the cluster gave no sign of this run for {silent:.0f} seconds (last at step {status.step:,}, "
        f"{'waiting for ' if status.node == CLUSTER else 'on '}{where}): it went away, or its folder did; "
        "resume goes on from the last checkpoint, on a cluster or on this machine"
    )
    return replace(status, state="failed", sentence=sentence)


def _silence(status: Status, now: float) -> float:
    """Seconds since the last sign of life: by the machine's counter, unless the machine was restarted."""
    if status.up and boot() and status.born.startswith(f"{boot()}:"):
        return time.monotonic() - status.up
    return now - status.heartbeat


WORDLESS = "the process ended without a word"
CUT_SHORT = "ended in the middle of a step that took too long; resume goes on from the last checkpoint"


def ended_by(request: str) -> State:
    """The state of a run that has met a request."""
    return "paused" if request == "pause" else "stopped"


def _last_words(status: Status, n_starved: int) -> str:
    short = status.free < max(status.memory // 4, 256 * MB) or n_starved > status.n_starved
    if status.memory and short:
        held, free = map(readable, (status.memory, status.free))
        sentence = (
            f"the process was killed, most likely for want of memory: it held {held}, and {free} were left"
        )
        return f"{sentence}; {status.smaller}" if status.smaller else sentence
    return f"{WORDLESS} at step {status.step:,} (killed?); resume goes on from the last checkpoint"


def refused(status: Status, sentence: str) -> Status:
    """The last status of a run that may not train: one that was to go on after a pause is paused still."""
    state: State = "paused" if status.resumed else "failed"
    return replace(status, state=state, asked="", sentence=sentence)


def hanging(folder: Path) -> Identity | None:
    """The run's process if it is alive but has given no sign for long, so that it may be killed."""
    try:
        written = _written(folder)
    except ValueError:
        return None
    if written is None or not written.live or written.process is None or written.node:
        return None
    silent = _silence(written, time.time()) > SILENT_SECONDS
    return written.process if silent and written.process.alive else None


def read_request(folder: Path) -> Ask | None:
    """What a page or the command line asks of the run's process, if anything."""
    try:
        request = read_json_if_any(folder / REQUEST).get("ask")
    except ValueError:
        return None
    return request if request in get_args(Ask) else None


def write_request(folder: Path, ask: Ask) -> None:
    """Asks the run's process to pause or to stop. Raises OSError."""
    _write(folder / REQUEST, {"version": VERSION, "ask": ask})


def write_status(folder: Path, status: Status) -> None:
    """Writes the status. Raises OSError where the folder is gone or cannot be written."""
    _write(folder / STATUS, {"version": VERSION, **asdict(status)})


def _write(path: Path, values: dict[str, Any]) -> None:
    """Writes whole or not at all; on a full disk it overwrites the old file, whose space it already has."""
    try:
        write_json(path, values)
    except OSError as refusal:
        try:
            _overwrite(path, json.dumps(values).encode())
        except OSError:
            raise refusal from None


def _overwrite(path: Path, content: bytes) -> None:
    with path.open("r+b") as file:
        length = file.seek(0, os.SEEK_END)
        file.seek(0)
        file.write(content.ljust(length))
        file.truncate()


def latest_attempt(folder: Path) -> int:
    """The attempt that the run's status names; 0 where it names none or cannot be read."""
    try:
        written = _written(folder)
    except ValueError:
        return 0
    return written.attempt if written else 0


def _written(folder: Path) -> Status | None:
    """What the file says; None where there is none. Raises ValueError for a damaged or newer one."""
    values = read_json_if_any(folder / STATUS, newest=VERSION)
    if not values:
        return None
    known = {spec.name: values[spec.name] for spec in fields(Status) if spec.name in values}
    wrong = [f"{name}={value!r}" for name, value in known.items() if not _fits(name, value)]
    if wrong or "state" not in known:
        raise ValueError(f"{STATUS} is damaged: {', '.join(wrong) or 'it has no state'}")
    return Status(**known)


_NUMBERS = ("seconds", "queued_at", "heartbeat", "started_at", "up", "unnoted")
_MOST = 10**18
_COUNTS = ("step", "steps", "memory", "free", "n_starved", "pid", "attempt")


def _fits(name: str, value: Any) -> bool:
    if name == "state":
        return value in get_args(State)
    if name in ("pid", "started_at") and value is None:
        return True
    if name in ("keep_going", "resumed"):
        return isinstance(value, bool)
    if name in _NUMBERS:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST
    if name in _COUNTS:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST
    return isinstance(value, str)
