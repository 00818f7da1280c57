"""What a run has recorded so far, read as it grows: each poll reads only the lines that are new."""

import os
import threading
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from models.byte_units import KB, MB
from models.files import parsed

MOST_BYTES = 16 * MB
"""More than any run writes; a foreign file of that size is not read to its end."""

MOST_STEPS = 10**12
"""More than any run has."""
Entry = dict[str, Any]


class History:
    """The records of one JSON-lines file, oldest first.

    Half-written last lines wait for their end; lines that are no records are left out. A file that was
    replaced, as a resumed or thinned run does it, is read again from its start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._forget(None)

    def _forget(self, identity: tuple[int, int] | None) -> None:
        self._identity = identity
        self._read = 0
        self._rest = b""
        self._entries: list[Entry] = []

    def entries(self) -> list[Entry]:
        """All records up to now; [] where there is no file."""
        with self._lock:
            try:
                with self._path.open("rb") as file:
                    self._take(file)
            except OSError:
                self._forget(None)
            return list(self._entries)

    def _take(self, file: Any) -> None:
        status = os.fstat(file.fileno())
        identity = (status.st_dev, status.st_ino)
        if identity != self._identity or status.st_size < self._read:
            self._forget(identity)
        file.seek(self._read)
        new = file.read(max(0, MOST_BYTES - self._read))
        self._read += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        self._entries += filter(None, map(_entry, lines))


def _entry(line: bytes) -> Entry | None:
    try:
        value = parsed(line)
    except ValueError:
        return None
    step = value.get("step") if isinstance(value, dict) else None
    return value if isinstance(step, int) and not isinstance(step, bool) and 0 <= step <= MOST_STEPS else None


_histories: LRUCache[Path, History] = LRUCache(64)
_lock = threading.Lock()


def history_of(path: Path) -> History:
    """The history of a file, shared by all who watch it."""
    with _lock:
        if path not in _histories:
            _histories[path] = History(path)
        return _histories[path]


TAIL_BYTES = 128 * KB
_tails: LRUCache[Path, tuple[tuple[int, int], list[Entry]]] = LRUCache(512)


def latest(path: Path) -> list[Entry]:
    """The last few hundred records of a file, for lists of many runs; [] where there is none."""
    try:
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        with _lock:
            known = _tails.get(path)
        if known and known[0] == stamp:
            return known[1]
        with path.open("rb") as file:
            start = max(0, status.st_size - TAIL_BYTES)
            file.seek(start)
            lines = file.read(TAIL_BYTES).split(b"\n")
    except OSError:
        return []
    entries = list(filter(None, map(_entry, lines[1 if start else 0 :])))
    with _lock:
        _tails[path] = (stamp, entries)
    return entries
