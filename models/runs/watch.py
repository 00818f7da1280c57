"""The thread beside a training run: it gives signs of life, takes requests, and sees its parent end."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any

import psutil

from models.byte_units import MB
from models.limits import in_force
from models.runs import spent
from models.runs.folder import LOG
from models.runs.owners import owned
from models.runs.processes import Identity, memory_left, n_starved, this_process
from models.runs.status import CUT_SHORT, State, Status, ended_by, latest_attempt, read_request, write_status

MAX_LOG_BYTES = in_force().log_mb * MB
LOOK_SECONDS = 0.25
BEAT_SECONDS = 1.0
PATIENCE_SECONDS = 3.0
"""A step that goes on longer after a request is cut short, so that a run stops within five seconds."""

SERVER_GONE = "the server stopped; resume goes on from here"
TIME_IS_UP = "it had its slot for {} minutes, and others wait; resume goes on from here, after them"
SIGNALLED = "the process was asked to end (Ctrl-C, or the system); resume goes on from here"


class Watch:
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
        self.signalled = False  # set by signal handlers, which may take no lock
        self._status = replace(
            status, pid=me.pid, started_at=me.started_at, born=me.born, asked="", outcome=""
        )
        self._process = psutil.Process()
        self._clock: Callable[[], float] = lambda: status.seconds
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

    def finish(self, state: State, sentence: str = "", outcome: str = "", *, refused: bool = False) -> None:
        """Writes the last status; nothing is written after it.

        refused: what was to let a paused run go on was refused, so that it is paused still.
        """
        self._over.set()
        self._thread.join()
        self._count_minutes()
        said = sentence or self._status.sentence
        self.note(state=state, sentence=said, asked="", outcome=outcome, resumed=refused)

    def _seconds_in_slot(self) -> float:
        return 0.0 if self._in_slot_since is None else time.monotonic() - self._in_slot_since

    def _count_minutes(self) -> None:
        """Notes the time in the slot for an owner whose minutes are limited."""
        if self.minutes and self._in_slot_since is not None:
            with contextlib.suppress(OSError):
                spent.note(self.folder.parent, owned(self.folder).owner, self._seconds_in_slot())
                self._in_slot_since = None

    def note(self, **changes: Any) -> None:
        """Writes the status with these fields changed. A disk that refuses does not end the run."""
        with self._lock:
            vital = {
                "step": self.step,
                "seconds": round(self._clock(), 1),
                "heartbeat": time.time(),
                "up": time.monotonic(),
                "memory": self._process.memory_info().rss,
                "free": memory_left(),
                "n_starved": n_starved(),
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
                self._look()
            elif self._asked_at is not None and now - self._asked_at > PATIENCE_SECONDS:
                self._cut_short()
            if now >= next_beat:
                next_beat = now + BEAT_SECONDS
                self._beat()

    def _look(self) -> None:
        """Takes up the first request of anyone who may ask."""
        asked: str | None
        if self.signalled:
            asked, sentence = "pause", SIGNALLED
        elif self.parent is not None and not self.parent.alive:
            asked, sentence = "pause", SERVER_GONE
        elif self.minutes and self._seconds_in_slot() >= 60 * self.minutes:
            asked, sentence = "pause", TIME_IS_UP.format(self.minutes)
        else:
            asked, sentence = read_request(self.folder), self._status.sentence
        if asked:
            self._asked_at = time.monotonic()
            self.note(asked=asked, state="stopping", sentence=sentence)

    def _beat(self) -> None:
        if not self.folder.is_dir():  # somebody deleted the run
            os._exit(1)
        if self._status.attempt and latest_attempt(self.folder) > self._status.attempt:
            os._exit(1)  # the run was given to another process, since this one seemed lost
        self.note()
        log = self.folder / LOG
        with contextlib.suppress(OSError):
            if log.stat().st_size > MAX_LOG_BYTES:
                os.truncate(log, 0)

    def _cut_short(self) -> None:
        self._count_minutes()
        self.note(state=ended_by(self.asked), sentence=CUT_SHORT, asked="", resumed=False)
        os._exit(1)
