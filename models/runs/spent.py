"""How long each visitor of a class has trained lately: a line for each stretch, in a file beside the runs.

So the time of a deleted run still counts.
"""

import json
import re
import time
from pathlib import Path
from typing import Any

from models.files import read_lines, write_whole

DAY_SECONDS = 86_400
_FOLDER = ".minutes"
_NAME = re.compile("[0-9a-z]{1,64}")


def note(root: Path, visitor_id: str, seconds: int | float) -> None:
    """Adds a stretch that ends now, and removes those older than a day. Raises WriteError."""
    if not _NAME.fullmatch(visitor_id):
        return
    lines = [*_lately(root, visitor_id), {"at": time.time(), "seconds": round(seconds, 1)}]
    path = _file(root, visitor_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "".join(f"{json.dumps(line)}\n" for line in lines).encode())


def minutes(root: Path, visitor_id: str) -> float:
    """The minutes that a visitor's runs have trained within the last day."""
    return sum(float(line["seconds"]) for line in _lately(root, visitor_id)) / 60


def hours_until_less(root: Path, visitor_id: str) -> float:
    """The hours until the first of these stretches is a day old."""
    first = min((float(line["at"]) for line in _lately(root, visitor_id)), default=time.time() - DAY_SECONDS)
    return max(0.0, first + DAY_SECONDS - time.time()) / 3_600


def _lately(root: Path, visitor_id: str) -> list[dict[str, Any]]:
    """The stretches of the last day; invalid lines are left out."""
    now = time.time()
    found = read_lines(_file(root, visitor_id)) if _NAME.fullmatch(visitor_id) else []
    return [
        line
        for line in found
        if all(isinstance(line.get(name), int | float) for name in ("at", "seconds"))
        and now - DAY_SECONDS < line["at"] <= now
    ]


def _file(root: Path, visitor_id: str) -> Path:
    return root / _FOLDER / f"{visitor_id}.jsonl"
