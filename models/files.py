"""Files that are written whole or not at all, and read up to a limit; every refusal is a sentence."""

import errno
import json
import os
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import GenericAlias
from typing import Any, TypeVar

from .byte_units import MB

LIBRARY = Path(__file__).resolve().parents[1]
"""The folder in which all of this lies."""
OWN = LIBRARY if (LIBRARY / "requirements.txt").exists() else Path.home() / "attention-lab"
"""Where runs and data are kept unless somebody says otherwise: this repository, or, where the library is
installed, a folder beside a person's other ones.
"""
IMPORT_ROOT = Path(str(sys.modules[__name__.partition(".")[0]].__file__)).parents[1]
"""The folder from which another process can import what this one has imported."""
Data = TypeVar("Data")
MAX_JSON_BYTES = 64 * MB
"""Of a card, a config or a record of a run: no such file that the app writes is larger."""


class FileError(ValueError):
    """A file or folder that is missing, damaged, foreign, too large or too new; the text says what to do."""


class WriteError(FileError, OSError):
    """A file that could not be written: the disk is full, the folder is not writable. The old file stands."""

    def __str__(self) -> str:
        return str(self.args[0])


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns the operating system's refusals to write `path` into a WriteError with a remedy."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        raise WriteError(_sentence(path, error)) from error


def is_full(error: BaseException) -> bool:
    """Tells whether an error says that the disk is full."""
    refusal = error.__cause__ if isinstance(error, WriteError) else error
    return isinstance(refusal, OSError) and refusal.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _sentence(path: Path, error: OSError) -> str:
    where = f"{path.name} could not be written to {str(path.parent)!r}"
    if is_full(error):
        return f"{where}: the disk is full; free some space, then resume from the last checkpoint"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{where}: the folder is not writable; allow writing, or choose another folder"
    if error.errno == errno.ENOENT:
        return f"{where}: that folder is not there; put it back, or choose another"
    return f"{where}: {error.strerror or error}; see to the disk, then try again"


def write_whole(path: Path, content: bytes | memoryview, *, sync: bool = False) -> None:
    """Writes a file so that a reader sees the old one or the new, never half; `sync`: even after a power cut.

    Raises WriteError where the disk refuses; the old file then stands.
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


def write_json(path: Path, value: Any, *, sync: bool = False) -> None:
    """Writes a JSON file, whole or not at all. Raises WriteError where the disk refuses."""
    write_whole(path, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode(), sync=sync)


def read_json(path: Path, *, newest: int | None = None) -> dict[str, Any]:
    """The JSON object of a file. newest: the last version that is understood, of a file that states one.

    Raises FileError where the file is missing, damaged, no object, or of another version.
    """
    raw = read_bounded(path, MAX_JSON_BYTES, "JSON")
    try:
        value = parsed(raw)
    except ValueError:
        raise FileError(f"{str(path)!r} is no JSON; restore it") from None
    if not isinstance(value, dict):
        raise FileError(f"{str(path)!r} holds a {type(value).__name__}, not a JSON object; restore it")
    if newest is not None:
        check_version(path, value.get("version"), newest)
    return value


def parsed(raw: bytes) -> Any:
    """The value of a JSON text. Raises ValueError for text that is no JSON, or nested too deep.

    Its strings can be written as UTF-8: a lone surrogate, which JSON allows, becomes a replacement character.
    """
    try:
        value = json.loads(raw)
        return _with_whole_characters(value) if _HALF.search(raw) else value
    except RecursionError:
        raise ValueError("too deep") from None


_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def _with_whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_with_whole_characters(each) for each in value]
    if isinstance(value, dict):
        return {_with_whole_characters(name): _with_whole_characters(each) for name, each in value.items()}
    return value


def read_toml(path: Path, schema: type[Data]) -> Data:
    """The program's own data that are no code: a TOML file as the dataclass `schema` declares it.

    Raises FileError, with the place in the file, for what the class does not declare.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        # a tuple of one, since a dataclass alone takes no config, and what it holds takes that of the whole
        whole: Any = GenericAlias(tuple, (schema,))
        data: Data = TypeAdapter(whole, config={"extra": "forbid"}).validate_python((content,))[0]
        return data
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise FileError(f"{str(path)!r} is not as {schema.__name__} declares it: {error}") from None


def read_json_if_any(path: Path, *, newest: int | None = None) -> dict[str, Any]:
    """Reads as `read_json` does; {} where there is no such file."""
    return read_json(path, newest=newest) if path.is_file() else {}


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file with one a line; [] without a file. Broken or foreign lines are left out."""
    objects = []
    for line in read_bounded(path, MAX_JSON_BYTES, "JSON").splitlines() if path.is_file() else ():
        try:
            value = parsed(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            objects.append(value)
    return objects


def check_version(path: Path, version: object, newest: int) -> None:
    """Raises FileError unless a version is a whole number from 1 to the `newest` that is understood."""
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= newest:
        raise FileError(
            f"{str(path)!r} is of version {version!r}, but this program reads up to {newest}; use a newer one"
        )


def read_bounded(path: Path, limit: int, what: str) -> bytes:
    """A file's bytes. Raises FileError for more than `limit` of them. what: names its expected contents."""
    check_size(path, limit, what)
    try:
        with path.open("rb") as file:
            return file.read(limit)  # the file may have grown since it was checked
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read ({error}); check its permissions") from None


def only_file(path: Path) -> Path:
    """The path. Raises FileNotFoundError unless it is a file's: reading a pipe would wait without end."""
    if not path.is_file():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return path


def check_size(path: Path, limit: int, what: str) -> None:
    """Raises FileError unless `path` is a file of at most `limit` bytes. what: names what it should hold."""
    try:
        size = path.stat().st_size if path.is_file() else None
    except (OSError, ValueError) as error:
        raise FileError(f"{str(path)!r} cannot be read ({error}); check its permissions") from None
    if size is None:
        raise FileError(f"{str(path)!r} does not exist or is no file, but holds {what}; check the path")
    if size > limit:
        raise FileError(
            f"{str(path)!r} is larger than the {limit:,} bytes allowed for {what}; choose a smaller file"
        )
