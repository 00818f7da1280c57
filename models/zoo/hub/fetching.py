"""One model of the hub that is coming just now, in a process of its own, whoever asked for it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from models.byte_units import MB
from models.files import FileError
from models.zoo.hub.coming import Coming, check_room, fetch

END_SECONDS = 15.0
"""How long the process may take to stop: the hub may be silent so long before it hears of it."""
_NICENESS = 10


_lock = threading.RLock()


class Stopped(Exception):  # noqa: N818 (a person's wish, not a fault)
    """Raised where bytes arrive that nobody wants any more."""


@dataclass
class Fetching:
    """A model that is coming, has come, or does not come. problem: why it does not, as a sentence."""

    coming: Coming
    problem: str = ""
    done: bool = False
    _stopped_at: float | None = None
    _counter: Any = field(init=False, repr=False)
    _pipe: Connection = field(init=False, repr=False)
    _process: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # not forked: threads of the server may hold locks
        self._counter = context.Value("q", 0)
        self._pipe, theirs = context.Pipe(duplex=False)
        given = (self.coming, self._counter, theirs)
        self._process = context.Process(target=_work, args=given, daemon=True, name="fetching a model")
        self._process.start()
        theirs.close()

    @property
    def n_come(self) -> int:
        """The bytes that have come."""
        return min(self._counter.value, self.coming.n_bytes)

    def is_running(self) -> bool:
        """Whether it is still coming; takes note of how it ended."""
        with _lock:  # every visitor's page asks
            return self._is_running()

    def _is_running(self) -> bool:
        if self.done or self.problem:
            return False
        if self._stopped_at is not None and time.monotonic() > self._stopped_at + END_SECONDS:
            self._process.kill()
        if not self._pipe.poll() and self._process.is_alive():
            return True
        try:
            self.problem = self._pipe.recv() if self._pipe.poll() else self._last_words()
        except EOFError:
            self.problem = self._last_words()
        self.done = not self.problem
        self._process.join(END_SECONDS)
        self._pipe.close()
        return False

    def _last_words(self) -> str:
        self._process.join(END_SECONDS)
        if self._stopped_at is not None:  # before it could listen, or as it did not
            return _was_stopped(self.coming)
        return (
            f"the process that fetched {self.coming.repository!r} ended with the code "
            f"{self._process.exitcode}; what had come as a whole is kept: download it again for the rest"
        )

    def stop(self) -> None:
        """Ends it: whole files stay for the next time, halves go."""
        if self._stopped_at is None and self._process.is_alive():
            self._stopped_at = time.monotonic()
            self._process.terminate()


def _was_stopped(coming: Coming) -> str:
    return f"{coming.repository!r} was stopped; whole files of it stay here for the next time"


_last: Fetching | None = None


def latest() -> Fetching | None:
    """The model that was asked for last; None where there was none."""
    return _last


def begin(coming: Coming) -> None:
    """Begins to fetch a model. Raises FileError while another one comes, and where the disk has no room."""
    global _last
    with _lock:
        if _last is not None and _last.is_running():
            raise FileError(
                f"{_last.coming.repository!r} is coming just now, and one model comes at a time; wait, or "
                "stop it"
            )
        check_room(coming)
        _last = Fetching(coming)


def _work(coming: Coming, counter: Any, pipe: Connection) -> None:
    """Fetches a model in the process of its own; sends "" or why it did not come."""
    os.nice(_NICENESS)
    # The library for the hub's newer transfers cannot be stopped between two pieces of a file.
    os.environ["HF_HUB_DISABLE_XET"] = "1"
    from huggingface_hub import constants

    constants.DOWNLOAD_CHUNK_SIZE = MB  # so often it is heard whether to stop
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())

    def told(n_bytes: int) -> None:
        if stopped.is_set():
            raise Stopped
        with counter.get_lock():
            counter.value += n_bytes

    try:
        fetch(coming, told)
        pipe.send("")
    except Stopped:
        pipe.send(_was_stopped(coming))
    except FileError as error:
        pipe.send(str(error))
    except Exception as error:
        pipe.send(f"{coming.repository!r} did not come as a whole ({error}); download it again for the rest")
