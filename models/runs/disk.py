"""Files that are written whole or not at all, and what to say when the disk refuses."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MAX_JSON_BYTES = 64 << 20


class RunFolderError(ValueError):
    """A run's folder that is missing, damaged, foreign or of a newer version; the text says what to do."""


class CheckpointError(RunFolderError, OSError):
    """A run that could not be written: the disk is full, the folder is not writable. The old files stand."""

    def __str__(self) -> str:
        return str(self.args[0])


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns the operating system's refusals to write `path` into a CheckpointError with a remedy."""
    try:
        yield
    except CheckpointError:
        raise
    except OSError as error:
        raise CheckpointError(_sentence(path, error)) from error


def _sentence(path: Path, error: OSError) -> str:
    where = f"{path.name} could not be written to {str(path.parent)!r}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"{where}: the disk is full; free some space, then resume from the last checkpoint"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{where}: the folder is not writable; allow writing, or choose another folder"
    if error.errno == errno.ENOENT:
        return f"{where}: the folder is gone; it was moved or deleted while the run was writing"
    return f"{where}: {error.strerror or error}; see to the disk, then resume from the last checkpoint"


def write_whole(path: Path, content: bytes, *, sync: bool = False) -> None:
    """A reader sees the old file or the new one, never half of one; `sync` outlives a power cut, too.

    Raises CheckpointError where the disk refuses; the old file then stands.
    """
    with writing(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write_json(path: Path, value: Any) -> None:
    """A JSON file, whole or not at all. Raises CheckpointError where the disk refuses."""
    write_whole(path, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; {} where there is no such file. Raises RunFolderError for damaged or foreign ones."""
    raw = _read(path)
    if raw is None:
        return {}
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        raise RunFolderError(
            f"{str(path)!r} is damaged: it is no JSON; restore it, or delete the run"
        ) from None
    if not isinstance(value, dict):
        raise RunFolderError(f"{str(path)!r} holds a {type(value).__name__}, not a JSON object; restore it")
    return value


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file with one a line; lines that are cut short or foreign are left out."""
    found = []
    for line in (_read(path) or b"").splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_JSON_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise RunFolderError(f"{str(path)!r} cannot be read ({error}); check its permissions") from None
    if len(raw) > MAX_JSON_BYTES:
        raise RunFolderError(f"{str(path)!r} has more than {MAX_JSON_BYTES:,} bytes: no run writes that")
    return raw
