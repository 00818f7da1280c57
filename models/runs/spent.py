"""How long each visitor of a class has trained lately: a line for each stretch, in a file beside the runs.

So the time of a deleted run still counts. What a run's process has not noted, since it trains still or was
killed, is in the run's own status.
"""

import contextlib
import json
import re
import time
from pathlib import Path
from typing import Any

from models.files import read_lines, write_whole
from models.runs.folder import list_runs
from models.runs.owners import owned
from models.runs.status import read_status

DAY_SECONDS = 86_400
_FOLDER = ".minutes"
_NAME = re.compile("[0-9a-z]{1,64}")


def note(root: Path, visitor_id: str, seconds: int | float, *, at: float | None = None) -> None:
    """Adds a stretch that ends `at` a Unix time, or now, and removes those older than a day.

    Raises WriteError.
    """
    if not _NAME.fullmatch(visitor_id):
        return
    stretch = {"at": time.time() if at is None else at, "seconds": round(seconds, 1)}
    lines = [*_noted(root, visitor_id), stretch]
    path = _file(root, visitor_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "".join(f"{json.dumps(line)}\n" for line in lines).encode())


def note_killed(folder: Path) -> None:
    """Adds the stretch of a run whose process could not note it; before the run's status is lost.

    A disk that refuses keeps nobody from deleting or resuming a run.
    """
    status = read_status(folder)
    if status.unnoted > 0:
        with contextlib.suppress(OSError):
            note(folder.parent, owned(folder).owner, status.unnoted, at=status.heartbeat)


def minutes(root: Path, visitor_id: str) -> float:
    """The minutes that a visitor's runs have trained within the last day."""
    return sum(float(line["seconds"]) for line in _lately(root, visitor_id)) / 60


def hours_until_less(root: Path, visitor_id: str) -> float:
    """The hours until the first of these stretches is a day old."""
    first = min((float(line["at"]) for line in _lately(root, visitor_id)), default=time.time() - DAY_SECONDS)
    return max(0.0, first + DAY_SECONDS - time.time()) / 3_600


def _lately(root: Path, visitor_id: str) -> list[dict[str, Any]]:
    """The stretches of the last day, noted or not."""
    if not _NAME.fullmatch(visitor_id):
        return []
    theirs = [read_status(run.path) for run in list_runs(root) if owned(run.path).owner == visitor_id]
    unnoted = [{"at": status.heartbeat, "seconds": status.unnoted} for status in theirs]
    return [*_noted(root, visitor_id), *filter(_counts, unnoted)]


def _noted(root: Path, visitor_id: str) -> list[dict[str, Any]]:
    """The stretches of a visitor's file; invalid lines are left out."""
    return list(filter(_counts, read_lines(_file(root, visitor_id))))


def _counts(line: dict[str, Any]) -> bool:
    """Whether it is a stretch of the last day."""
    if not all(isinstance(line.get(name), int | float) for name in ("at", "seconds")):
        return False
    now = time.time()
    return line["seconds"] > 0 and now - DAY_SECONDS < line["at"] <= now


def _file(root: Path, visitor_id: str) -> Path:
    return root / _FOLDER / f"{visitor_id}.jsonl"
