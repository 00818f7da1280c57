"""Dear work, in a process of its own: whoever asks for something cheap never waits for it.

One process for all: it computes one piece after the other with less right to a processor than the server, has
a deadline, may take so much memory and no more, and is ended when it must be. A visitor has one piece at a
time, which a newer one of theirs replaces, and which is dropped when they leave.
"""

import logging
import multiprocessing
import os
import resource
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import psutil

from models.byte_units import MB, readable
from models.limits import in_force
from pages.shared import metrics

Result = TypeVar("Result")
LOOK_SECONDS = 0.02
START_SECONDS = 60.0
_NICENESS = 10


@dataclass(eq=False)
class _Ticket:
    """One visitor's place in the queue."""

    visitor: str
    is_replaced: bool = False


@dataclass
class _Process:
    """The process, and the pipe to it: functions with their arguments go in, results come out."""

    limit: int
    pipe: Connection = field(init=False)

    def __post_init__(self) -> None:
        # Not forked: threads of the server may hold locks just now.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.limit), daemon=True, name="dear work")
        self.process.start()
        theirs.close()

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Workshop:
    """The queue before the process. `seconds` and `megabytes` are what one piece may take."""

    def __init__(self, seconds: float, megabytes: int) -> None:
        self.seconds, self.bytes = seconds, megabytes * MB
        self._queue: list[_Ticket] = []
        self._changed = threading.Condition()
        self._process: _Process | None = None

    def run(
        self, function: Callable[..., Result], *given: Any, visitor: str, is_wanted: Callable[[], Any]
    ) -> Result:
        """The result of `function(*given)`, computed in the process. function: one at a module's top level.

        is_wanted: is called again and again; if it raises, the work is dropped and the error passed on.
        Raises ValueError where the work takes too long or too much memory, or a newer one has replaced it.
        """
        ticket = _Ticket(visitor)
        with self._changed:
            for other in self._queue:
                other.is_replaced |= bool(visitor) and other.visitor == visitor
            self._queue.append(ticket)
        try:
            with metrics.queued():
                self._wait(ticket, is_wanted)
                return self._done(ticket, function, given, is_wanted)
        finally:
            with self._changed:
                self._queue.remove(ticket)
                self._changed.notify_all()

    def _wait(self, ticket: _Ticket, is_wanted: Callable[[], Any]) -> None:
        while self._queue[0] is not ticket:
            self._check(ticket, is_wanted)
            with self._changed:
                self._changed.wait(LOOK_SECONDS)

    def _check(self, ticket: _Ticket, is_wanted: Callable[[], Any]) -> None:
        is_wanted()
        if ticket.is_replaced:
            raise ValueError("Something newer that you asked for is computed instead; see your other tab.")

    def _done(self, ticket: _Ticket, function: Callable[..., Any], given: Any, is_wanted: Any) -> Any:
        def check() -> None:
            self._check(ticket, is_wanted)

        try:
            pipe = self._ready(check)
            with metrics.working("dear", time.perf_counter()):
                pipe.send((function, given))
                result = _answer(pipe, self.seconds, check)
        except TimeoutError:
            self._end()
            raise ValueError(
                f"This took longer than {self.seconds:g} seconds, the most that one visitor's figure may "
                "take here; choose fewer words, layers or heads."
            ) from None
        except (EOFError, OSError):  # the system ended it
            self._end()
            raise ValueError(self._too_much()) from None
        except BaseException:  # Streamlit's own exceptions, too, which say that nobody waits any more
            self._end()
            raise
        if isinstance(result, MemoryError):
            raise ValueError(self._too_much())
        if isinstance(result, Exception):
            raise result
        return result

    def _too_much(self) -> str:
        return (
            f"This takes more than {readable(self.bytes)} of memory, the most that one visitor's figure may "
            "take here; choose fewer words, layers or heads."
        )

    def _ready(self, check: Callable[[], None]) -> Connection:
        """The pipe to the process, once it has started; only who is first in the queue asks."""
        if self._process is not None and not self._process.process.is_alive():
            self._end()
        if self._process is None:
            self._process = _Process(self.bytes)
            _answer(self._process.pipe, START_SECONDS, check)
        return self._process.pipe

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None


def _answer(pipe: Connection, seconds: float, check: Callable[[], None]) -> Any:
    """What comes through the pipe. Raises TimeoutError after so many seconds, EOFError if it is closed."""
    end = time.monotonic() + seconds
    while not pipe.poll(LOOK_SECONDS):
        check()
        if time.monotonic() > end:
            raise TimeoutError
    return pipe.recv()


def _work(pipe: Connection, limit: int) -> None:
    """Computes what comes through the pipe, until it is closed. First it sends a sign that it is ready.

    limit: bytes beside those that the program takes by itself.
    """
    os.nice(_NICENESS)
    from pages.shared import cache

    cache.on_worker(lambda: None)  # imports torch
    # There is no page here; Streamlit would warn of that at each use of what pages import.
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    most = limit + getattr(psutil.Process().memory_info(), "data", 0)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    pipe.send(None)
    while True:
        try:
            function, given = pipe.recv()
        except EOFError:
            return
        try:
            result = function(*given)
        except MemoryError as error:
            result = error
        except RuntimeError as error:  # torch reports too little memory so
            result = MemoryError(str(error)) if "allocate memory" in str(error) else error
        except Exception as error:
            result = error
        pipe.send(result)


workshop = Workshop(in_force().dear_seconds, in_force().dear_mb)
