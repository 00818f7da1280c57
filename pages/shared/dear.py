"""Dear work, in a process of its own: whoever asks for something cheap never waits for it.

One process for all: it computes one piece after the other with less right to a processor than the server, has
a deadline, may take so much memory and no more, and is ended when it must be. A visitor has one piece at a
time, which a newer one of theirs replaces, and which is dropped when they leave. Other processes of the same
kind open the folders of models (pages/shared/readers.py).
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from cachetools import LRUCache

from models.byte_units import MB, readable
from models.limits import in_force
from pages.shared import memory, metrics
from pages.shared.dear_process import LOOK_SECONDS, Outcome, Process

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


class Workshop:
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
        self._make = partial(Process, niceness, module, most, smaller)
        self._queue: list[_Ticket] = []
        self._at_work: _Ticket | None = None
        self._turn, self._served = 0, LRUCache[str, int](1_000)
        self._changed = threading.Condition()
        self._process: Process | None = None

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
        memory.check()
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
            with metrics.queued():
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
                self._changed.wait(LOOK_SECONDS)

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
            with metrics.working("dear", time.perf_counter()):
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

    def _ready(self, check: Callable[[], None]) -> Process:
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


workshop = Workshop(in_force().dear_seconds, in_force().dear_mb)
