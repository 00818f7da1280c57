"""What a person called a file that is kept under the hash of its content; a file beside it says it."""

import json
import re
from pathlib import Path

ENDING = ".names"
_KEPT = re.compile(r"[0-9a-f]{64}\.[a-z0-9-]{1,12}")
_MOST, _MOST_BYTES, MOST_CHARACTERS = 8, 20_000, 120


def own_name(path: Path) -> str:
    """The name that its owner last gave a file; the file's own where nobody gave one."""
    return names_of(path)[0]


def names_of(path: Path) -> list[str]:
    """All names that were given to a file, the last first; at least one."""
    if not _KEPT.fullmatch(path.name):
        return [path.name]
    try:
        with beside(path).open("rb") as file:
            said = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        said = []
    names = (
        [name[:MOST_CHARACTERS] for name in said if isinstance(name, str)] if isinstance(said, list) else []
    )
    return names[:_MOST] or [path.name]


def with_name(path: Path, name: str) -> bytes:
    """What to keep beside a file to which a person gives one more name; newer names come first."""
    plain = "".join(letter for letter in Path(name.replace("\\", "/")).name if letter.isprintable()).strip()
    before = [known for known in names_of(path) if known not in (plain, path.name)]
    return json.dumps([plain[:MOST_CHARACTERS] or path.name, *before][:_MOST]).encode()


def beside(path: Path) -> Path:
    """The file that holds a file's names."""
    return path.with_name(path.name + ENDING)
