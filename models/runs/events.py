"""TensorBoard's event files, written without a thread of their own, so that a full disk says so."""

from __future__ import annotations

import os
import socket
import struct
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from tensorboardX.crc32c import crc32c
from tensorboardX.proto.event_pb2 import Event
from tensorboardX.proto.summary_pb2 import Summary

from models.files import writing

_MASK = 0xA282EAD8


class Events:
    """A new event file in a folder; its steps, from `first_step` on, replace those of older files.

    Raises WriteError where the disk refuses.
    """

    def __init__(self, folder: Path, first_step: int) -> None:
        name = f"events.out.tfevents.{time.time_ns() // 1_000_000}.{socket.gethostname()}.{os.getpid()}"
        self._path = folder / name
        with writing(self._path):
            self._file = self._path.open("ab")
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))
        if first_step > 1:
            start = Event(wall_time=time.time(), step=first_step)
            start.session_log.status = 1  # SessionLog.START: later steps of older files were never reached
            self._write(start)
        self.flush()

    def __enter__(self) -> Events:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        # Closing would try again to write what a full disk refused: the first error is enough.
        with suppress(OSError) if error else writing(self._path):
            self._file.close()

    def add(self, step: int, values: dict[str, float]) -> None:
        """Adds the numbers of one step, by their names."""
        entries = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=entries)))

    def flush(self) -> None:
        """Hands everything that was added to the operating system."""
        with writing(self._path):
            self._file.flush()

    def _write(self, event: Event) -> None:
        """Writes one record of the TFRecord format: length, its checksum, the bytes, their checksum."""
        content = event.SerializeToString()
        length = struct.pack("<Q", len(content))
        with writing(self._path):
            self._file.write(length + _checksum(length) + content + _checksum(content))


def _checksum(content: bytes) -> bytes:
    crc = crc32c(content)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF)
