"""Files that visitors upload: kept for a time in a folder for each visitor, under the hash of their content,
with what they called them in a file beside each.

A link names a file by that hash, and is read as a name in the folder of whoever opens it: it can only ever
name a file that they handed in themselves.
"""

import errno
import hashlib
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cachetools import LRUCache
from filelock import FileLock, Timeout

from attention_lab.models.byte_units import MB, readable
from attention_lab.models.data.tables import columns_of
from attention_lab.models.data.text_files import AUTO, names_file_of, names_of, own_name, with_name
from attention_lab.models.fields import checked, text
from attention_lab.models.files import write_whole, writing
from attention_lab.models.limits import in_force
from attention_lab.models.runs.owners import Visitor
from attention_lab.models.zoo.folders import uploads_root
from attention_lab.models.zoo.hub.photos import ENDINGS as PICTURES
from attention_lab.models.zoo.own_attention import ENDING
from attention_lab.pages.shared import visitors

ATTENTION = ENDING
"""The ending of the files that hold attention; all others are to train on."""
MAX_BYTES = in_force().upload_mb * MB
MOST_OF_A_VISITOR, MOST_IN_ALL = 10, 1_000
"""Files: a page lists a visitor's, and all are counted at each upload."""

PATIENCE_SECONDS = 10.0
"""One file waits at most so long for others to be counted and written."""

THE_FILE = "your file"
_NAME = re.compile(r"[0-9a-f]{64}\.[a-z0-9-]{1,12}")
_DAY = 86_400
_LOOKED_AT = 4_096  # bytes, most of which are not blank in any file but an empty one
_KINDS = {f".{ATTENTION}": "attention"} | {f".{ending}": "picture" for ending in PICTURES}


@dataclass(frozen=True)
class Upload:
    """A file that is kept: its name in links, its bytes, the days until it expires if nobody uses it, and all
    that its owner called it, the last first.
    """

    name: str
    size: int
    days_left: int
    called: tuple[str, ...] = field(default=(), compare=False)


def folder(visitor: Visitor | None = None) -> Path:
    """The folder of a visitor, by default of this page's; it lies beside the runs, which read its files."""
    owner = (visitor or visitors.visitor()).id
    return uploads_root() / (owner or "nobody")


def _is_here(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and (folder() / name).is_file()


FILE = text(
    "the name of a file that you handed in here",
    lambda raw: checked(raw, lambda name: name == "" or _is_here(name)),
)


def path_of(name: str) -> Path:
    """The path of a file, which counts as used now. Raises ValueError where it is gone."""
    if not _is_here(name):
        raise ValueError("the file is no longer here; choose it again")
    path = folder() / name
    with writing(path):
        os.utime(path)
    return path


def without_names(sentence: str) -> str:
    """A sentence in which a file's own name, or `THE_FILE`, stands in place of its hash."""

    return _with_names(sentence, lambda name: THE_FILE)


def with_short_name(value: str) -> str:
    """A setting in which a file's own name, or the beginning of its hash, stands in place of its hash."""
    return _with_names(value, lambda name: f"{name[:8]}…{name[64:]}")


def _with_names(text: str, unknown: Callable[[str], str]) -> str:
    def replacement(match: re.Match[str]) -> str:
        name = match["name"]
        own = own_name(folder() / name)
        return unknown(name) if own == name else f"{match['mark']}{own}{match['mark']}"

    return re.sub(rf"(?P<mark>['\"]?)(?P<name>{_NAME.pattern})(?P=mark)", replacement, text)


def called(name: str) -> str:
    """What this visitor called a file that they handed in; their other names for the same content follow."""
    first, *others = names_of(folder() / name)
    return f"{first} (also {', '.join(others)})" if others else first


def name_of(path: object) -> str:
    """The name of a file by its path, as a run's options hold it; "" for one that is not this visitor's."""
    name = Path(path).name if isinstance(path, str) else ""
    return name if _is_here(name) and Path(str(path)).parent == folder() else ""


def mine(kind: str = "data") -> list[Upload]:
    """The files of this visitor, the last used first: "data" to train on, "attention", or each "picture"."""
    ends = in_force().upload_days - time.time() / _DAY
    files = sorted(_files(folder()).items(), key=lambda file: file[1].st_mtime, reverse=True)
    return [
        Upload(path.name, it.st_size, max(0, round(ends + it.st_mtime / _DAY)), tuple(names_of(path)))
        for path, it in files
        if _KINDS.get(path.suffix, "data") == kind
    ]


def delete(name: str) -> None:
    """Removes a file of this visitor; one that is gone stays gone."""
    if _is_here(name):
        with writing(folder() / name):
            _remove(folder() / name)


def keep(content: bytes | memoryview, original: str) -> str:
    """Keeps a file and returns its name. Raises ValueError where it is empty, too large, or one too many.

    original: what the visitor called it: its ending is used, and the name is kept for them, unless it begins
    with "_".
    """
    visitor = visitors.visitor()
    if in_force().read_only:
        raise ValueError("this server is read-only: it takes no files")
    if not visitor.id:
        raise ValueError(
            "your browser keeps no cookie of this server, so a file would have no owner; allow cookies and "
            "reload"
        )
    if not len(content) or (not bytes(content[:_LOOKED_AT]).strip() and not bytes(content).strip()):
        raise ValueError(f"{original[:80]!r} is empty; choose another file")
    if len(content) > MAX_BYTES:
        raise ValueError(
            f"{original[:80]!r} has {readable(len(content))}; at most {readable(MAX_BYTES)} are read: cut it"
        )
    ending = re.sub(r"[^a-z0-9-]", "", Path(original).suffix.lower())[:12] or "txt"
    target = folder(visitor) / f"{hashlib.sha256(content).hexdigest()}.{ending}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.parents[1] / ".lock", timeout=PATIENCE_SECONDS):
            if not target.is_file():
                _make_room(target.parent, len(content))
                write_whole(target, content)
            if not original.startswith("_"):
                write_whole(names_file_of(target), with_name(target, original))
    except Timeout:
        raise ValueError("other files are being kept just now; try again in a moment") from None
    except OSError as error:
        raise ValueError(f"{original[:80]!r} was not kept: {_why_not(error)}") from None
    return target.name


def _why_not(error: OSError) -> str:
    """Why the disk of the server refuses a file, in words that a visitor can pass on."""
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    if cause.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the server's disk is full; tell its keeper, or hand in less"
    return f"this server cannot write to its disk ({cause.strerror}); tell its keeper"


def _make_room(target: Path, coming: int) -> None:
    """Removes expired files. Raises ValueError where the visitor's files, or all together, are too many."""
    limits, sizes = in_force(), {}
    oldest = time.time() - limits.upload_days * _DAY
    for one in target.parent.glob("*"):
        for unfinished in one.glob(".*.tmp"):  # files arrive one at a time: the writer of this was killed
            unfinished.unlink(missing_ok=True)
        for path, it in _files(one).items():
            if it.st_mtime < oldest:
                _remove(path)
            else:
                sizes[path] = it.st_size
    _check(
        "you handed in already", "delete one that you no longer need", coming,
        [size for path, size in sizes.items() if path.parent == target],
        MOST_OF_A_VISITOR, limits.uploads_of_a_visitor_mb * MB,
    )  # fmt: skip
    _check(
        "all visitors handed in", "delete one of yours, or wait until others expire", coming,
        list(sizes.values()), MOST_IN_ALL, limits.uploads_in_all_mb * MB,
    )  # fmt: skip


def _remove(path: Path) -> None:
    """Removes a file, and what it was called."""
    path.unlink(missing_ok=True)
    names_file_of(path).unlink(missing_ok=True)


def _check(who: str, remedy: str, coming: int, sizes: list[int], most: int, most_bytes: int) -> None:
    total = sum(sizes)
    if len(sizes) >= most or total + coming > most_bytes:
        raise ValueError(
            f"{len(sizes)} files with {readable(total)} are what {who}, and this has {readable(coming)}; the "
            f"limits are {most:,} and {readable(most_bytes)}: {remedy}"
        )


def _files(place: Path) -> dict[Path, os.stat_result]:
    """The files in a visitor's folder, without one that is removed meanwhile."""
    files = {}
    for path in place.glob("*"):
        with suppress(OSError):
            if _NAME.fullmatch(path.name):
                files[path] = path.stat()
    return files


# The columns of a table of a visitor's own, as the menus offer them.

BY_ITSELF = "by its name or place"
_READ = ("encoding", "separator", "header")
_kept: LRUCache[tuple[object, ...], tuple[str, ...]] = LRUCache(200)


def columns_on_offer(file: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the columns of an upload, or of a run's file, by its beginning; () where it is gone.

    values: settings, of which those count that say how the file is read.
    """
    try:
        path = Path(file) if Path(file).is_absolute() else path_of(file)
    except ValueError:
        return ()
    key = (str(path), *(values.get(name, AUTO) for name in _READ))
    if key not in _kept:
        _kept[key] = columns_of(path, *key[1:])
    return _kept[key]


def column_menu(names: Sequence[str], now: str) -> dict[str, Any]:
    """What a menu of these columns is drawn with; `now` stays on offer, also where no column has its name."""
    return {
        "options": ("", *dict.fromkeys(name for name in (*names, now) if name)),
        "format_func": lambda name: name or BY_ITSELF,
    }
