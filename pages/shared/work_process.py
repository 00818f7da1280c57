"""Work in processes of their own, which may go wrong: whoever asks for something cheap never waits for it.

One process computes expensive figures for all, with less right to a processor than the server. Two others
open the folders of models and read with their tokenizers, which may do anything to a text: while one tries a
large model, or a text that never ends, the other reads. A call has a deadline, may take so much memory and no
more, and its process is ended when it must be.
"""

import logging
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, Literal, TypeVar

import psutil
from cachetools import LRUCache, TTLCache

from attention_lab.models.byte_units import MB, readable
from attention_lab.models.limits import in_force
from attention_lab.models.runs.processes import oom_kills
from attention_lab.models.zoo.hub import isolation
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.work import POLL_SECONDS, Asker, Queue

Result = TypeVar("Result")
START_SECONDS = 60.0
END_SECONDS = 2.0
LATE_SECONDS = 5
"""A process ends itself so long after its deadline, where nobody is left to end it."""
MOST_RESULT = 2**31
"""Bytes of a result, which the server then holds; limits on memory make expensive ones far smaller."""


@dataclass(frozen=True)
class Outcome:
    """What comes out: a result, a sentence by which work was refused, or why there is neither."""

    kind: Literal["result", "refused", "memory", "large", "fault"]
    value: Any = None


class WorkProcess:
    """A process to call functions in, one after the other; it starts with the first.

    seconds, megabytes: what one call may take. piece: what that is called. smaller: what helps where it takes
    more. niceness: how much less right to a processor it has than the server. module: it is ready once it has
    imported this one. most: the bytes of a result.
    """

    def __init__(
        self,
        seconds: float,
        megabytes: int,
        piece: str = "one visitor's figure",
        smaller: str = "choose fewer words, layers or heads",
        niceness: int = 10,
        module: str = "torch",
        most: int = MOST_RESULT,
    ) -> None:
        self.seconds, self.bytes, self.piece, self.smaller = seconds, megabytes * MB, piece, smaller
        self.niceness, self.module, self.most = niceness, module, most
        self.process: Any = None
        self._pipe: Connection
        self._oom_kills = 0

    def call(
        self,
        function: Callable[..., Result],
        arguments: tuple[Any, ...],
        check: Callable[[], None],
        *,
        more_seconds: float = 0,
        more_bytes: int = 0,
    ) -> Result:
        """The result of `function(*given)`. function: one at a module's top level. check: is called
        meanwhile, and may raise. more_seconds, more_bytes: what this call may take beyond others.

        Raises ValueError, with a sentence, where the work refuses, takes too long or too much memory, and
        where its process ends or meets an error.
        """
        seconds, limit = self.seconds + more_seconds, self.bytes + more_bytes
        try:
            self._start(check)
            self._pipe.send((function, arguments, math.ceil(seconds) + LATE_SECONDS, limit))
            outcome = self._outcome(seconds, check)
        except TimeoutError:
            self.end()
            raise ValueError(
                f"This took over {seconds:g} seconds, the most for {self.piece}; {self.smaller}."
            ) from None
        except (EOFError, OSError):
            problem = self._why_ended()
            self.end()
            raise ValueError(problem) from None
        except BaseException:  # such as that nobody waits any more
            self.end()
            raise
        if outcome.kind == "result":
            result: Result = outcome.value
            return result
        raise ValueError(self._problem(outcome, limit))

    def _problem(self, outcome: Outcome, limit: int) -> str:
        sentences = {
            "memory": (
                f"This takes over {readable(limit)} of memory, the most for {self.piece}; {self.smaller}."
            ),
            "large": f"This makes over {readable(self.most)}, the most for {self.piece}; {self.smaller}.",
            "fault": f"The process failed ({outcome.value}); try again, or {self.smaller}.",
        }
        return sentences.get(outcome.kind, str(outcome.value))

    def _start(self, check: Callable[[], None]) -> None:
        if self.process is not None and self.process.is_alive():
            return
        self.end()
        # Not forked: threads of the server may hold locks just now.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        arguments = (theirs, self.niceness, self.module, self.most)
        self.process = context.Process(target=_answer_calls, args=arguments, daemon=True, name="work apart")
        self._oom_kills = oom_kills()
        self.process.start()
        theirs.close()
        try:
            self._outcome(START_SECONDS, check)
        except TimeoutError:
            self.end()
            raise ValueError(
                f"The process for {self.piece} did not start in {START_SECONDS:g} seconds; try again in "
                "a minute."
            ) from None

    def _outcome(self, seconds: float, check: Callable[[], None]) -> Outcome:
        """What comes out. Raises TimeoutError after so many seconds, EOFError or OSError if the process
        ends.
        """
        end = time.monotonic() + seconds
        while not self._pipe.poll(POLL_SECONDS):
            check()
            if time.monotonic() > end:
                raise TimeoutError
        outcome: Outcome = self._pipe.recv()
        return outcome

    def _why_ended(self) -> str:
        """Why the process ended, as a sentence for whoever waits."""
        self.process.join(END_SECONDS)
        code = self.process.exitcode
        if oom_kills() > self._oom_kills and code == -signal.SIGKILL:
            return f"The machine ran out of memory; {self.smaller}."
        if code is None:
            how = "closed its pipe"
        elif code < 0:
            names = {each.value: each.name for each in signal.Signals}
            how = f"was ended by the signal {names.get(-code, -code)}"
        else:
            how = f"ended with the code {code}"
        return f"The process that computed this {how}; try again, or {self.smaller}."

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self._pipe.close()
            self.process = None


def _answer_calls(pipe: Connection, niceness: int, module: str, most: int) -> None:
    """Computes what comes through the pipe, until it is closed. First it sends a sign that it is ready."""
    if sys.platform != "win32":
        os.nice(niceness)
    cache.on_worker(lambda: None)  # imports torch
    # There is no page here; Streamlit would warn of that at each use of what pages import. Its options say
    # whether this is a part of a class.
    import_module("streamlit")
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    import_module(module)
    own = getattr(psutil.Process().memory_info(), "data", 0)
    pipe.send(Outcome("result"))
    while True:
        try:
            function, arguments, seconds, limit = pipe.recv()
        except EOFError:
            return
        _bound(seconds, own + limit)
        packed = _packed(function, arguments, most)
        _bound(0, own + limit)
        pipe.send_bytes(packed)


def _bound(seconds: int, n_bytes: int) -> None:
    """Lets this process take so much memory and, unless it is 0, so much time. Windows can do neither."""
    if sys.platform != "win32":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (min(n_bytes, hard % 2**63), hard))  # -1: no limit
        signal.alarm(seconds)


def _packed(function: Callable[..., Any], arguments: tuple[Any, ...], most: int) -> Any:
    """The outcome as bytes for the pipe; what cannot be sent is a fault."""
    try:
        packed = ForkingPickler.dumps(Outcome("result", function(*arguments)))
        return packed if len(packed) <= most else ForkingPickler.dumps(Outcome("large"))
    except BaseException as error:
        isolation.check_ordinary(error)
        return ForkingPickler.dumps(_outcome_of(error))


def _outcome_of(error: BaseException) -> Outcome:
    """An error as what can be sent; texts that visitors typed go into no log."""
    # PyTorch reports too little memory as a RuntimeError.
    if isinstance(error, MemoryError) or "allocate memory" in str(error):
        return Outcome("memory")
    if isinstance(error, ValueError):
        return Outcome("refused", str(error))
    where = "".join(traceback.format_tb(error.__traceback__))
    print(f"{type(error).__name__} in the process for dear work:\n{where}", file=sys.stderr, flush=True)
    return Outcome("fault", type(error).__name__)


class ProcessQueue(Queue):
    """Jobs that a process does: calls of functions."""

    def __init__(self, name: str, process: WorkProcess, **options: Any) -> None:
        super().__init__(name, smaller=process.smaller, **options)
        self.process = process

    def call(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        more_seconds: float = 0,
        more_bytes: int = 0,
        **how: Any,
    ) -> Result:
        """The result of `function(*given)`, as `WorkProcess.call` has it. how: as `Queue.run` takes it."""

        def work(job: Any) -> Result:
            return self.process.call(
                function, arguments, job.check, more_seconds=more_seconds, more_bytes=more_bytes
            )

        return self.run(work, **how)


MOST_MB = 1_000
"""The memory that such a figure may take beside the program itself; above it its process is ended."""
MOST_WAITING = 200
"""Figures that may wait for their turn in one server; a teacher's always may, and goes first."""

figures = ProcessQueue(
    "expensive figures", WorkProcess(in_force().dear_seconds, MOST_MB),
    later="choose fewer words, layers or heads, or try again in a minute",
    most=lambda: MOST_WAITING,
)  # fmt: skip
"""Where a class computes what would make others wait."""

READ_SECONDS = 10.0
READ_MB = 1_000
OPENING_SECONDS = 20.0
"""What opening a folder takes beyond a text, as parts of transformers are imported for the first time."""
BYTES_A_SECOND = 20 * MB
"""Of weights that are opened, on a slow disk."""
COPIES = 3
"""So many times the bytes of weights may be in memory while they are opened: as a file, and as tensors."""
REFUSED_SECONDS = 600
"""After so long a folder is tried again that was refused: the machine may have been busy."""

readers = [
    ProcessQueue(
        "readings of models' folders",
        WorkProcess(
            READ_SECONDS, READ_MB, "the reading of a model's folder",
            "give a shorter text, or open another model", niceness=0, most=64 * MB,
            module="attention_lab.models.zoo.hub.model",
        ),
        most=lambda: sys.maxsize,
    )
    for _ in range(2)
]  # fmt: skip
_opening = threading.Lock()
"""One folder is tried at a time, so that the other process is left to read."""
_opened: LRUCache[object, bool] = LRUCache(256)
_refused: TTLCache[object, str] = TTLCache(256, ttl=REFUSED_SECONDS)


def serve_readers() -> None:
    """From now on folders are read by these processes; they start when it is asked for."""
    isolation.set_runner(read_apart)


def read_apart(function: Callable[..., Result], *arguments: Any, n_bytes: int = 0) -> Result | None:
    """As a Runner of models.zoo.hub.isolation."""
    with cache.leaving_turn():
        if not n_bytes:
            return _read(function, *arguments)
        what = (function, *arguments)
        with _opening:
            if what in _refused:
                raise ValueError(_refused[what])
            if what not in _opened:
                more = OPENING_SECONDS + n_bytes / BYTES_A_SECOND
                try:
                    _read(function, *arguments, more_seconds=more, more_bytes=COPIES * n_bytes)
                except ValueError as error:
                    _refused[what] = str(error)
                    raise
                _opened[what] = True
    return None


def _read(function: Callable[..., Result], *arguments: Any, **more: Any) -> Result:
    reader = min(readers, key=lambda each: each.n_waiting)
    return reader.call(function, *arguments, asker=Asker(), **more)
