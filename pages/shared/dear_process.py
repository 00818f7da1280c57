"""The process for dear work: what goes into it, what comes out, and why it ended if it did.

It is started by pages/shared/dear.py, one for all visitors, with less right to a processor than the server.
"""

import logging
import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, Literal

import psutil

from models.runs.processes import n_starved

LOOK_SECONDS = 0.02
END_SECONDS = 2.0
_NICENESS = 10
AGAIN = "try again, or choose fewer words, layers or heads"


@dataclass(frozen=True)
class Outcome:
    """What comes out: a result, a sentence by which work was refused, or why there is neither."""

    kind: Literal["made", "refused", "memory", "fault"]
    value: Any = None


@dataclass
class Process:
    """The process, and the pipe to it: functions with their arguments go in, outcomes come out.

    limit: bytes beside those that the program takes by itself.
    """

    limit: int
    pipe: Connection = field(init=False)

    def __post_init__(self) -> None:
        # Not forked: threads of the server may hold locks just now.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.limit), daemon=True, name="dear work")
        self._starved = n_starved()
        self.process.start()
        theirs.close()

    def answer(self, seconds: float, check: Callable[[], None]) -> Outcome:
        """What comes out. check: is called meanwhile, and may raise.

        Raises TimeoutError after so many seconds, EOFError or OSError if the process has ended.
        """
        end = time.monotonic() + seconds
        while not self.pipe.poll(LOOK_SECONDS):
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
                "choose fewer words, layers or heads."
            )
        if code is None:
            how = "closed its pipe"
        elif code < 0:
            how = f"was ended by the signal {_name(-code)}"
        else:
            how = f"ended with the code {code}"
        return f"The process that computed this {how}; {AGAIN}."

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _work(pipe: Connection, limit: int) -> None:
    """Computes what comes through the pipe, until it is closed. First it sends a sign that it is ready."""
    os.nice(_NICENESS)
    from pages.shared import cache

    cache.on_worker(lambda: None)  # imports torch
    # There is no page here; Streamlit would warn of that at each use of what pages import.
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    most = limit + getattr(psutil.Process().memory_info(), "data", 0)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    pipe.send(Outcome("made"))
    while True:
        try:
            function, given = pipe.recv()
        except EOFError:
            return
        pipe.send_bytes(_packed(function, given))


def _packed(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """The outcome as bytes for the pipe; what cannot be sent is a fault."""
    try:
        return ForkingPickler.dumps(Outcome("made", function(*given)))
    except Exception as error:
        return ForkingPickler.dumps(_outcome(error))


def _outcome(error: Exception) -> Outcome:
    """An error as what can be sent; texts that visitors typed go into no log."""
    # PyTorch reports too little memory as a RuntimeError.
    if isinstance(error, MemoryError) or "allocate memory" in str(error):
        return Outcome("memory")
    if isinstance(error, ValueError):
        return Outcome("refused", str(error))
    where = "".join(traceback.format_tb(error.__traceback__))
    print(f"{type(error).__name__} in the process for dear work:\n{where}", file=sys.stderr, flush=True)
    return Outcome("fault", type(error).__name__)
