"""Processes that open the folders of models and read with their tokenizers, which may do anything to a text.

What they do there has a deadline and a limit on memory, and nobody waits for it but who asked. Two processes:
while one tries a large model, or a text that never ends, the other reads.
"""

import threading
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import uuid4

from cachetools import LRUCache, TTLCache

from models.byte_units import MB
from models.zoo.hub import apart
from pages.shared import cache
from pages.shared.dear import Workshop

Result = TypeVar("Result")
SECONDS = 10.0
MEGABYTES = 1_000
MOST_OUTCOME = 64 * MB
OPENING_SECONDS = 20.0
"""What opening a folder takes beyond a text, as parts of transformers are imported for the first time."""
BYTES_A_SECOND = 20 * MB
"""Of weights that are opened, on a slow disk."""
COPIES = 3
"""So many times the bytes of weights may be in memory while they are opened: as a file, and as tensors."""
REFUSED_SECONDS = 600
"""After so long a folder is tried again that was refused: the machine may have been busy."""

_readers = [
    Workshop(
        SECONDS, MEGABYTES, "the reading of a model's folder", "give a shorter text, or open another model",
        niceness=0, module="models.zoo.hub.model", most=MOST_OUTCOME,
    )
    for _ in range(2)
]  # fmt: skip
_opening = threading.Lock()
"""One folder is tried at a time, so that the other process is left to read."""
_opened: LRUCache[object, bool] = LRUCache(256)
_refused: TTLCache[object, str] = TTLCache(256, ttl=REFUSED_SECONDS)


def serve() -> None:
    """From now on such work of this server is done in these processes; they start when it is asked for."""
    apart.hand_in(run)


def run(function: Callable[..., Result], *given: Any, n_bytes: int = 0) -> Result | None:
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
