"""A run's process: it waits for its slot, trains, and says in status.json how it stands and how it ended.

python -m attention_lab.models.runs.worker RUN_FOLDER [--parent PID:START]. A thread beside the training gives
signs of life, takes requests, and sees its parent end.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
from filelock import FileLock, Timeout

from ..files import is_full
from ..zoo.folders import runs_root
from . import queue
from .folder import (
    CUT_SHORT,
    LOCK,
    LOG,
    REQUEST,
    Cause,
    RunFolder,
    State,
    Status,
    check_files,
    ended_by,
    ended_on_request,
    latest_attempt,
    read_request,
    read_status,
    write_status,
)
from .jobs import RayBackend
from .owners import ownership_of
from .processes import Identity, leave, memory_left, oom_kills, this_process
from .queue import LOG_BYTES, JobRefused

if TYPE_CHECKING:
    from ..training.loop import Record, Training

LOOK_SECONDS = 0.25
BEAT_SECONDS = 1.0
PATIENCE_SECONDS = 3.0
"""A step that goes on longer after a request is cut short, so that a run stops within five seconds."""

SERVER_GONE = "the server stopped; resume goes on from here"
TIME_IS_UP = "it had its slot for {} minutes; resume goes on from here, after the others"
SIGNALLED = "the process was asked to end; resume goes on from here"


class Signalled:
    """Whoever takes up a signal: its handler may take no lock, so it only sets this."""

    signalled = False


class Watch(Signalled):
    """Writes status.json once a second and says when to stop; the training only sets `step`.

    parent: the process whose end pauses the run; None lets the run outlive every process. minutes: in its
    slot, after which the run pauses; 0 is no limit. A context manager: within it the status is live, and
    `finish` says how the run ended.
    """

    def __init__(
        self, folder: Path, status: Status, *, parent: Identity | None = None, minutes: int | float = 0
    ) -> None:
        me = this_process()
        self.folder, self.parent, self.minutes = folder, parent, minutes
        self.step = status.step
        self._status = replace(
            status, pid=me.pid, started_at=me.started_at, born=me.born, asked="", outcome="", cause=Cause.NONE
        )
        self._process = psutil.Process()
        self._clock: Callable[[], float] = lambda: status.seconds
        self.compiling: Callable[[], float] = lambda: status.compiling
        self._asked_at: float | None = None
        self._in_slot_since: float | None = None
        self._over = Event()
        self._lock = Lock()
        self._thread = Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> Watch:
        self.note()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    @property
    def asked(self) -> str:
        """ "pause" or "stop" once somebody asked for it, else ""."""
        return self._status.asked

    @property
    def status(self) -> Status:
        """The status that was written last."""
        return self._status

    def starts(self, sentence: str) -> None:
        """Notes that the run has its slot."""
        self._in_slot_since = time.monotonic()
        self._go_on(sentence)

    def trains(self, step: int, clock: Callable[[], float], sentence: str, device: str) -> None:
        """Notes that training goes on after `step`. clock: returns the seconds spent on steps so far."""
        self.step, self._clock = step, clock
        self._go_on(sentence, device=device, resumed=False)

    def _go_on(self, sentence: str, **changes: Any) -> None:
        """Notes that the run goes on, unless a request has come: then the status keeps saying that."""
        where = f", on {self._status.node}" if self._status.node else ""
        news = {} if self.asked else {"state": "running", "sentence": sentence + where}
        self.note(**changes, **news)

    def finish(
        self,
        state: State,
        sentence: str = "",
        outcome: str = "",
        *,
        cause: Cause = Cause.NONE,
        refused: bool = False,
    ) -> None:
        """Writes the last status; nothing is written after it.

        cause: left out, that of the request where it was paused or stopped. refused: what was to let a paused
        run go on was refused, so that it is paused still.
        """
        self._over.set()
        self._thread.join()
        self._count_minutes()
        last = {"sentence": sentence or self._status.sentence, "outcome": outcome, "resumed": refused}
        if state in ("paused", "stopped") and not refused:
            cause = cause or self._status.cause or Cause.PERSON
        self.note(state=state, cause=cause, asked="", **last)

    def _seconds_in_slot(self) -> float:
        return 0.0 if self._in_slot_since is None else time.monotonic() - self._in_slot_since

    def _count_minutes(self) -> None:
        """Notes the time in the slot for an owner whose minutes are limited."""
        if self.minutes and self._in_slot_since is not None:
            with contextlib.suppress(OSError):
                queue.note(self.folder.parent, ownership_of(self.folder).owner, self._seconds_in_slot())
                self._in_slot_since = None

    def note(self, **changes: Any) -> None:
        """Writes the status with these fields changed. A disk that refuses does not end the run."""
        with self._lock:
            vital = {
                "step": self.step,
                "seconds": round(self._clock(), 1),
                "compiling": round(self.compiling(), 1),
                "heartbeat": time.time(),
                "up": time.monotonic(),
                "memory": self._process.memory_info().rss,
                "free": memory_left(),
                "oom_kills": oom_kills(),
                "unnoted": round(self._seconds_in_slot(), 1) if self.minutes else 0.0,
            }
            self._status = replace(self._status, **{**vital, **changes})
            with contextlib.suppress(OSError):
                write_status(self.folder, self._status)

    def _run(self) -> None:
        next_beat = time.monotonic()
        while not self._over.wait(LOOK_SECONDS):
            now = time.monotonic()
            if not self.asked:
                self._take_request()
            elif self._asked_at is not None and now - self._asked_at > PATIENCE_SECONDS:
                self._count_minutes()
                ended = ended_on_request(self._status, self.asked, CUT_SHORT)
                self.note(state=ended.state, sentence=CUT_SHORT, asked="", cause=ended.cause, resumed=False)
                os._exit(1)
            if now >= next_beat:
                next_beat = now + BEAT_SECONDS
                self._beat()

    def _take_request(self) -> None:
        """Takes up the first request of anyone who may ask."""
        request: str | None = "pause"
        if self.signalled:
            cause, sentence = Cause.SIGNAL, SIGNALLED
        elif self.parent is not None and not self.parent.alive:
            cause, sentence = Cause.SERVER, SERVER_GONE
        elif self.minutes and self._seconds_in_slot() >= 60 * self.minutes:
            cause, sentence = Cause.TIME, TIME_IS_UP.format(self.minutes)
        else:
            request, cause, sentence = read_request(self.folder), Cause.PERSON, self._status.sentence
        if request:
            self._asked_at = time.monotonic()
            self.note(asked=request, state="stopping", sentence=sentence, cause=cause)

    def _beat(self) -> None:
        if not self.folder.is_dir():  # somebody deleted the run
            os._exit(1)
        if self._status.attempt and latest_attempt(self.folder) > self._status.attempt:
            os._exit(1)  # the run was given to another process, since this one seemed lost
        self.note()
        log = self.folder / LOG
        with contextlib.suppress(OSError):
            if log.stat().st_size > LOG_BYTES:
                os.truncate(log, 0)


# The process

LAST_ONE_SECONDS = 10.0  # to wait for the last process of a run that was paused a moment ago
TURN_SECONDS = 0.3


def main(arguments: list[str] | None = None) -> int:
    """Trains the run of a folder; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m attention_lab.models.runs.worker")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parent", type=Identity.parse, help="whose end pauses the run")
    options = parser.parse_args(arguments)
    try:
        with FileLock(options.folder / LOCK, timeout=LAST_ONE_SECONDS):
            return _attend(options.folder, options.parent)
    except Timeout:
        print("another process trains this run; this one ends", file=sys.stderr)
        return 1


def _attend(folder: Path, parent: Identity | None) -> int:
    """Waits for a slot and trains. The process holds the run's lock already."""
    watch = Watch(folder, read_status(folder), parent=parent, minutes=ownership_of(folder).minutes)
    with heeding_signals(watch), watch:
        try:
            slot = _wait_for_slot(watch)
        except Exception as error:
            _end(watch, error)
            return 1
        if slot is None:
            done = f"it has done {watch.step:,} steps" if watch.step else "it has not trained yet"
            left = f"it left the queue before its turn, and {done}; resume queues it again"
            watch.finish(ended_by(watch.asked), left if read_request(folder) else "")
            return 0
        if slot.kind == "gpu":
            os.environ["CUDA_VISIBLE_DEVICES"] = queue.visible_gpus()[slot.index]
        return 0 if work(watch).state != "failed" else 1


@contextmanager
def heeding_signals(watch: Signalled) -> Iterator[None]:
    """Inside, a signal to end (SIGTERM, Ctrl-C) is a request to pause, which the watch takes up."""

    def on_signal(number: int, frame: Any) -> None:
        watch.signalled = True

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait_for_slot(watch: Watch) -> queue.Slot | None:
    """Waits for the run's turn and returns its slot; None if the run is asked to end before."""
    root, run_id = watch.folder.parent, watch.folder.name
    training = RunFolder(watch.folder).description()["training"]
    kind = queue.kind_for(str(training["device"]))
    last_sentence = ""
    try:
        while not watch.asked:
            slot = queue.take(root, run_id, kind)
            if isinstance(slot, queue.Slot):
                return slot
            others = f", {slot} before it" if slot else ", next in turn"
            sentence = f"waits until the {kind.upper()} is free{others}"
            if sentence != last_sentence:
                last_sentence = sentence
                watch.note(sentence=sentence)
            time.sleep(TURN_SECONDS)
        return None
    finally:
        queue.leave(root, run_id)


def train_here(folder: RunFolder, on_record: Callable[[Record], None] | None = None) -> Status:
    """Trains a run in this process, for the command line: at once and without a slot. Pages see it, too.

    A signal to end (Ctrl-C, SIGTERM) pauses it after its step. Raises JobRefused where a process trains it.
    """
    try:
        with FileLock(folder.path / LOCK, timeout=0):
            steps = folder.description()["training"]["steps"]
            before = read_status(folder.path)
            if before.live and before.node:
                raise JobRefused(f"run {folder.name!r} is {before.state} on a cluster; stop it first")
            again, paused = before.attempt + 1 if before.attempt else 0, before.state == "paused"
            (folder.path / REQUEST).unlink(missing_ok=True)
            starts = replace(before, steps=steps, queued_at=time.time(), keep_going=True)
            watch = Watch(folder.path, replace(starts, node="", attempt=again, resumed=paused))
            with heeding_signals(watch), watch:
                return work(watch, on_record)
    except Timeout:
        raise JobRefused(f"run {folder.name!r} trains in another process; stop it first") from None


class Ending(NamedTuple):
    """How a process ended its work: its last state, what is to be said of it, why; and a run's outcome."""

    state: State
    sentence: str = ""
    cause: Cause = Cause.NONE
    outcome: str = ""


def work(watch: Watch, on_record: Callable[[Record], None] | None = None) -> Status:
    """Trains the run of the watch's folder until it ends or is asked to end; returns its last status.

    on_record: is given every step's record, to show it.
    """
    return perform(watch, lambda: _train(watch, on_record))


def perform(watch: Watch, job: Callable[[], Ending]) -> Status:
    """Does a job and writes how it ended; an error ends it with a sentence, and log.txt has the rest."""
    watch.starts("loads PyTorch")
    try:
        ending = job()
    except Exception as error:
        with suppress(OSError), (watch.folder / LOG).open("a", encoding="utf-8") as log:
            traceback.print_exc(file=log)
        _end(watch, error)
    else:
        watch.finish(ending.state, ending.sentence, ending.outcome, cause=ending.cause)
    return watch.status


def _end(watch: Watch, error: Exception) -> None:
    """Writes the last status of a run that met an error: what a paused one was refused for pauses it."""
    refused = watch.status.resumed and watch.asked != "stop" and isinstance(error, ValueError | OSError)
    cause = Cause.DISK if is_full(error) else Cause.NONE
    state: State = "paused" if refused else "failed"
    watch.finish(state, _reason(error, watch.status), cause=cause, refused=refused)


def _train(watch: Watch, on_record: Callable[[Record], None] | None) -> Ending:
    """Trains until the end or a request."""
    from .recording import train_into
    from .results import outcome_of

    folder = RunFolder(watch.folder)
    check_files(folder.description())
    config = folder.config()
    queue.refuse_above(config, _memory_left(config.training.device))
    watch.note(smaller=queue.out_of_memory(config))

    def starts(training: Training) -> None:
        device = next(training.model.parameters()).device.type
        watch.compiling = lambda: training.compiling
        watch.trains(training.step, lambda: training.seconds, training.chosen, device)

    def note(record: Record) -> None:
        watch.step = record.step
        if on_record is not None:
            on_record(record)

    finished = train_into(
        folder, config, should_stop=lambda: bool(watch.asked), on_start=starts, on_record=note
    )
    if not finished:
        return Ending(ended_by(watch.asked))
    unreported = _report(folder)
    usual = config.task.training.get("learning_rate")
    outcome, cause = outcome_of(folder, watch.step, usual)
    return Ending("finished", cause=cause, outcome="; ".join(filter(None, [outcome, unreported])))


def _report(folder: RunFolder) -> str:
    """Writes down what the model scores; returns what kept it from that, "" where nothing did. The run has
    finished either way, and its last checkpoint stands.
    """
    from .report import write_report

    try:
        write_report(folder)
    except Exception as error:
        with suppress(OSError), (folder.path / LOG).open("a", encoding="utf-8") as log:
            traceback.print_exc(file=log)
        known = isinstance(error, ValueError | OSError)
        why = str(error).partition(";")[0] if known else f"{LOG} in the run's folder says why"
        command = f"python -m attention_lab.models.training report {folder.id}"
        return f"its report is missing ({why}); {command} writes it"
    return ""


def _memory_left(device: str) -> int:
    """Bytes that are free where a run on `device` will train."""
    import torch

    if device in ("auto", "cuda") and torch.cuda.is_available():
        return torch.cuda.mem_get_info()[0]
    return memory_left()


def _reason(error: Exception, status: Status) -> str:
    """One sentence that says why a run failed; everything else is in its log."""
    names = [kind.__name__ for kind in type(error).__mro__]
    if "MemoryError" in names or "OutOfMemoryError" in names or "can't allocate memory" in str(error):
        return f"out of memory at step {status.step + 1:,}; {status.smaller or 'choose a smaller model'}"
    if isinstance(error, ValueError | OSError | ArithmeticError):
        return str(error)
    return f"{type(error).__name__}: {error}; {LOG} in its folder says where"


# A cluster's run, followed from the command line

FOLLOW_SECONDS = 0.5


def train_there(folder: RunFolder, on_record: Callable[[Record], None] | None = None) -> Status:
    """Gives a run to the cluster and waits until it has ended. A signal to end (Ctrl-C, SIGTERM) pauses it,
    as in one process, and so does the dispatcher where this process is gone.

    on_record: is given the record of each step that was kept. Raises JobRefused where the run lies elsewhere
    than among all runs, trains already, or no cluster is there.
    """
    backend = RayBackend(runs_root())
    if folder.path.absolute().parent != runs_root().absolute():
        raise JobRefused(
            f"{str(folder.path)!r} is not among all runs, where the cluster looks; leave --out away, or "
            "unset ATTENTION_LAB_RAY to train here"
        )
    now = backend.status(folder.id)
    if now.live:
        raise JobRefused(f"run {folder.name!r} is {now.state} already; stop it first")
    step, signals = now.step, Signalled()
    with heeding_signals(signals):
        backend.submit(folder.id)
        while True:
            now = backend.status(folder.id)
            for line in folder.metrics(after_step=step):
                step = line["step"]
                if on_record is not None:
                    on_record(_record(line))
            if not now.live:
                return now
            if signals.signalled:
                signals.signalled = False
                backend.stop(folder.id, ask="pause")
            time.sleep(FOLLOW_SECONDS)


def _record(line: dict[str, Any]) -> Record:
    """The record of a step as the run's file has it."""
    from ..training.loop import Record

    names = ("step", "loss", "losses", "learning_rate", "gradient_norm", "tokens_per_second", "memory")
    return Record(*(line.get(name, math.nan) for name in names), validation=line.get("validation"))


if __name__ == "__main__":
    leave(main())
