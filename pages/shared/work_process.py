"""Expensive work, in processes of their own: whoever asks for something cheap never waits for it.

One process computes figures for all: one piece after the other with less right to a processor than the
server; each has a deadline, may take so much memory and no more, and is ended when it must be. A
visitor has one piece at a time, which a newer one of theirs replaces, and which is dropped when they
leave.

Two other processes of the same kind open the folders of models and read with their tokenizers, which
may do anything to a text. What they do there has a deadline and a limit on memory, and nobody waits for
it but who asked: while one tries a large model, or a text that never ends, the other reads.
"""

import logging
import math
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, Literal, TypeVar
from uuid import uuid4

import psutil
from cachetools import LRUCache, TTLCache

from models.byte_units import MB, readable
from models.limits import in_force
from models.runs.processes import n_starved
from models.zoo.hub import apart
from models.zoo.hub.apart import check_ordinary
from pages.shared import cache, server_load

POLL_SECONDS = 0.02
END_SECONDS = 2.0
LATE_SECONDS = 5
"""A process ends itself so long after its deadline, where nobody is left to end it."""


@dataclass(frozen=True)
class Outcome:
    """What comes out: a result, a sentence by which work was refused, or why there is neither."""

    kind: Literal["made", "refused", "memory", "large", "fault"]
    value: Any = None


@dataclass
class WorkProcess:
    """The process, and the pipe to it: functions with their arguments go in, outcomes come out.

    niceness: how much less right to a processor it has than the server. module: it is ready once it has
    imported this one. most: the bytes of an outcome. smaller: what else helps where it ended.
    """

    niceness: int
    module: str
    most: int
    smaller: str
    pipe: Connection = field(init=False)

    def __post_init__(self) -> None:
        # Not forked: threads of the server may hold locks just now.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        given = (theirs, self.niceness, self.module, self.most)
        self.process = context.Process(target=_work, args=given, daemon=True, name="dear work")
        self._starved = n_starved()
        self.process.start()
        theirs.close()

    def ask(self, function: Callable[..., Any], given: tuple[Any, ...], seconds: float, limit: int) -> None:
        """Gives it a function to call. limit: bytes beside those that the program takes by itself."""
        self.pipe.send((function, given, math.ceil(seconds) + LATE_SECONDS, limit))

    def answer(self, seconds: float, check: Callable[[], None]) -> Outcome:
        """What comes out. check: is called meanwhile, and may raise.

        Raises TimeoutError after so many seconds, EOFError or OSError if the process has ended.
        """
        end = time.monotonic() + seconds
        while not self.pipe.poll(POLL_SECONDS):
            check()
            if time.monotonic() > end:
                raise TimeoutError
        outcome: Outcome = self.pipe.recv()
        return outcome

    def last_words(self) -> str:
        """Why it ended, as a sentence for whoever waits."""
        self.process.join(END_SECONDS)
        code = self.process.exitcode
        if n_starved() > self._starved and code == -signal.SIGKILL:
            return (
                "The machine ran out of memory, and the system ended the process that computed this; "
                f"{self.smaller}."
            )
        if code is None:
            how = "closed its pipe"
        elif code < 0:
            how = f"was ended by the signal {_name(-code)}"
        else:
            how = f"ended with the code {code}"
        return f"The process that computed this {how}; try again, or {self.smaller}."

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _work(pipe: Connection, niceness: int, module: str, most: int) -> None:
    """Computes what comes through the pipe, until it is closed. First it sends a sign that it is ready."""
    os.nice(niceness)
    from pages.shared import cache

    cache.on_worker(lambda: None)  # imports torch
    # There is no page here; Streamlit would warn of that at each use of what pages import.
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    import_module(module)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    own = getattr(psutil.Process().memory_info(), "data", 0)
    pipe.send(Outcome("made"))
    while True:
        try:
            function, given, seconds, limit = pipe.recv()
        except EOFError:
            return
        resource.setrlimit(resource.RLIMIT_DATA, (min(own + limit, hard % 2**63), hard))  # -1: no limit
        signal.alarm(seconds)
        packed = _packed(function, given, most)
        signal.alarm(0)
        pipe.send_bytes(packed)


def _packed(function: Callable[..., Any], given: tuple[Any, ...], most: int) -> Any:
    """The outcome as bytes for the pipe; what cannot be sent is a fault."""
    try:
        packed = ForkingPickler.dumps(Outcome("made", function(*given)))
        return packed if len(packed) <= most else ForkingPickler.dumps(Outcome("large"))
    except BaseException as error:
        check_ordinary(error)
        return ForkingPickler.dumps(_outcome(error))


def _outcome(error: BaseException) -> Outcome:
    """An error as what can be sent; texts that visitors typed go into no log."""
    # PyTorch reports too little memory as a RuntimeError.
    if isinstance(error, MemoryError) or "allocate memory" in str(error):
        return Outcome("memory")
    if isinstance(error, ValueError):
        return Outcome("refused", str(error))
    where = "".join(traceback.format_tb(error.__traceback__))
    print(f"{type(error).__name__} in the process for dear work:\n{where}", file=sys.stderr, flush=True)
    return Outcome("fault", type(error).__name__)


Result = TypeVar("Result")
START_SECONDS = 60.0
MOST_OUTCOME = 2**31
"""Bytes of a result, which the server then holds; limits on memory make dear ones far smaller."""


@dataclass(eq=False)
class _Ticket:
    """One visitor's place in the queue."""

    visitor: str
    address: str = ""
    is_first: bool = False
    is_replaced: bool = False


class WorkQueue:
    """The queue before the process. `seconds` and `megabytes` are what one piece may take.

    piece: what that is called. smaller: what helps where it takes more. niceness, module, most: as a Process
    has them.
    """

    def __init__(
        self,
        seconds: float,
        megabytes: int,
        piece: str = "one visitor's figure",
        smaller: str = "choose fewer words, layers or heads",
        niceness: int = 10,
        module: str = "torch",
        most: int = MOST_OUTCOME,
    ) -> None:
        self.seconds, self.bytes, self.piece, self.smaller = seconds, megabytes * MB, piece, smaller
        self.most = most
        self._make = partial(WorkProcess, niceness, module, most, smaller)
        self._queue: list[_Ticket] = []
        self._at_work: _Ticket | None = None
        self._turn, self._served = 0, LRUCache[str, int](1_000)
        self._changed = threading.Condition()
        self._process: WorkProcess | None = None

    @property
    def n_waiting(self) -> int:
        """How many pieces wait or are worked on."""
        return len(self._queue)

    def run(
        self,
        function: Callable[..., Result],
        *given: Any,
        visitor: str,
        is_wanted: Callable[[], Any],
        more_seconds: float = 0,
        more_bytes: int = 0,
        address: str = "",
        is_first: bool = False,
    ) -> Result:
        """The result of `function(*given)`, computed in the process. function: one at a module's top level.

        visitor: all who keep no cookie, "", have one place together. address: where the visitor comes from;
        addresses take turns, so that whoever comes from one as ever new visitors makes nobody else wait.
        is_first: goes before all others, and may always wait.
        is_wanted: is called again and again; if it raises, the work is dropped and the error passed on.
        more_seconds, more_bytes: what this piece may take beyond others.
        Raises ValueError, with a sentence, where the server holds too much memory or too many wait, where the
        work refuses, takes too long or too much memory, where its process ends or meets an error, or where
        newer work has replaced it.
        """
        server_load.check_memory()
        ticket = _Ticket(visitor, address, is_first)
        with self._changed:
            waiting, most = len(self._queue), in_force().dear_waiting
            if waiting >= most and not is_first:
                raise ValueError(
                    f"{waiting} expensive figures wait already, and at most {most} may; choose fewer words, "
                    "layers or heads, or try again in a minute."
                )
            for other in self._queue:
                other.is_replaced |= other.visitor == visitor
            self._queue.append(ticket)
        try:
            with server_load.counted_waiting():
                self._wait(ticket, is_wanted)
                return self._done(
                    ticket, function, given, is_wanted, self.seconds + more_seconds, self.bytes + more_bytes
                )
        finally:
            with self._changed:
                self._queue.remove(ticket)
                self._at_work = None if self._at_work is ticket else self._at_work
                self._changed.notify_all()

    def _wait(self, ticket: _Ticket, is_wanted: Callable[[], Any]) -> None:
        while True:
            self._check(ticket, is_wanted)
            with self._changed:
                if self._at_work is None and self._next() is ticket:
                    self._at_work, self._turn = ticket, self._turn + 1
                    self._served[ticket.address] = self._turn
                    return
                self._changed.wait(POLL_SECONDS)

    def _next(self) -> _Ticket:
        """Whose turn it is: of those whose address was served the longest ago, or never, who came first."""
        return min(self._queue, key=lambda each: (not each.is_first, self._served.get(each.address, 0)))

    def _check(self, ticket: _Ticket, is_wanted: Callable[[], Any]) -> None:
        is_wanted()
        if ticket.is_replaced:
            raise ValueError("Something newer that you asked for is computed instead; see your other tab.")

    def _done(
        self,
        ticket: _Ticket,
        function: Callable[..., Any],
        given: Any,
        is_wanted: Any,
        seconds: float,
        limit: int,
    ) -> Any:
        def check() -> None:
            self._check(ticket, is_wanted)

        try:
            process = self._ready(check)
            with server_load.counted_working("dear", time.perf_counter()):
                process.ask(function, given, seconds, limit)
                outcome = process.answer(seconds, check)
        except TimeoutError:
            self._end()
            raise ValueError(
                f"This took longer than {seconds:g} seconds, the most that {self.piece} may take here; "
                f"{self.smaller}."
            ) from None
        except (EOFError, OSError):
            said = self._process.last_words() if self._process else ""
            self._end()
            raise ValueError(said) from None
        except BaseException:  # Streamlit's own exceptions, too, which say that nobody waits any more
            self._end()
            raise
        return self._opened(outcome, limit)

    def _opened(self, outcome: Outcome, limit: int) -> Any:
        if outcome.kind == "made":
            return outcome.value
        if outcome.kind == "memory":
            raise ValueError(
                f"This takes more than {readable(limit)} of memory, the most that {self.piece} may take "
                f"here; {self.smaller}."
            )
        if outcome.kind == "large":
            raise ValueError(
                f"This makes more than {readable(self.most)}, the most that {self.piece} may bring here; "
                f"{self.smaller}."
            )
        if outcome.kind == "fault":
            raise ValueError(
                f"The process that computed this met an error of its own ({outcome.value}); try again, "
                f"or {self.smaller}. What the server prints says where."
            )
        raise ValueError(outcome.value)

    def _ready(self, check: Callable[[], None]) -> WorkProcess:
        """The process, once it has started; only who is first in the queue asks."""
        if self._process is not None and not self._process.process.is_alive():
            self._end()
        if self._process is None:
            self._process = self._make()
            try:
                self._process.answer(START_SECONDS, check)
            except TimeoutError:
                self._end()
                raise ValueError(
                    f"The process for {self.piece} did not start within {START_SECONDS:g} seconds, "
                    "since this machine is busy; try again in a minute."
                ) from None
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None


figure_queue = WorkQueue(in_force().dear_seconds, in_force().dear_mb)


SECONDS = 10.0
READ_MB = 1_000
MOST_READ = 64 * MB
OPENING_SECONDS = 20.0
"""What opening a folder takes beyond a text, as parts of transformers are imported for the first time."""
BYTES_A_SECOND = 20 * MB
"""Of weights that are opened, on a slow disk."""
COPIES = 3
"""So many times the bytes of weights may be in memory while they are opened: as a file, and as tensors."""
REFUSED_SECONDS = 600
"""After so long a folder is tried again that was refused: the machine may have been busy."""

_readers = [
    WorkQueue(
        SECONDS, READ_MB, "the reading of a model's folder", "give a shorter text, or open another model",
        niceness=0, module="models.zoo.hub.model", most=MOST_READ,
    )
    for _ in range(2)
]  # fmt: skip
_opening = threading.Lock()
"""One folder is tried at a time, so that the other process is left to read."""
_opened: LRUCache[object, bool] = LRUCache(256)
_refused: TTLCache[object, str] = TTLCache(256, ttl=REFUSED_SECONDS)


def serve_readers() -> None:
    """From now on such work of this server is done in these processes; they start when it is asked for."""
    apart.hand_in(run_reader)


def run_reader(function: Callable[..., Result], *given: Any, n_bytes: int = 0) -> Result | None:
    """As a Runner of models.zoo.hub.apart."""
    with cache.leaving_turn():
        if not n_bytes:
            return _run(function, *given)
        what = (function, *given)
        with _opening:
            if what in _refused:
                raise ValueError(_refused[what])
            if what not in _opened:
                more = OPENING_SECONDS + n_bytes / BYTES_A_SECOND
                try:
                    _run(function, *given, more_seconds=more, more_bytes=COPIES * n_bytes)
                except ValueError as error:
                    _refused[what] = str(error)
                    raise
                _opened[what] = True
    return None


def _run(function: Callable[..., Result], *given: Any, **more: Any) -> Result:
    reader = min(_readers, key=lambda each: each.n_waiting)
    # Each piece is a visitor's of its own: none replaces another.
    return reader.run(function, *given, visitor=uuid4().hex, is_wanted=lambda: None, **more)
