"""A process for work that may go wrong: what goes into it, what comes out, and why it ended if it did.

It is started by pages/shared/dear.py, one for all visitors.
"""

import logging
import math
import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, Literal

import psutil

from models.runs.processes import n_starved
from models.zoo.hub.apart import check_ordinary

LOOK_SECONDS = 0.02
END_SECONDS = 2.0
LATE_SECONDS = 5
"""A process ends itself so long after its deadline, where nobody is left to end it."""


@dataclass(frozen=True)
class Outcome:
    """What comes out: a result, a sentence by which work was refused, or why there is neither."""

    kind: Literal["made", "refused", "memory", "large", "fault"]
    value: Any = None


@dataclass
class Process:
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
