"""Files that visitors hand in: kept once each under the hash of their content, bounded in number and bytes.

A link names a file by that hash, so it can only ever name one that somebody handed in here.
"""

import hashlib
import re
from pathlib import Path

from models.byte_units import GB, MB, readable
from models.files import write_whole
from models.limits import in_force
from models.zoo.run_folders import runs_root
from pages.shared.link import checked, text

MAX_BYTES = in_force().upload_mb * MB
MAX_FILES = 50
MAX_TOTAL = GB

THE_FILE = "your file"
_NAME = re.compile(r"[0-9a-f]{64}\.[a-z0-9-]{1,12}")


def folder() -> Path:
    """Where they are; beside the runs, so that a run finds its data as long as it is there."""
    return runs_root() / "uploads"


def _is_here(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and (folder() / name).is_file()


FILE = text(
    "the name of a file that was handed in here",
    lambda raw: checked(raw, lambda name: name == "" or _is_here(name)),
)


def path_of(name: str) -> Path:
    """The file of a name. Raises ValueError where it is gone."""
    if not _is_here(name):
        raise ValueError("the file that was handed in is no longer here; choose it again")
    return folder() / name


def without_names(sentence: str) -> str:
    """A sentence in which files are called what their owners know them by: theirs, and not their hashes."""
    return re.sub(rf"(['\"]?){_NAME.pattern}\1", THE_FILE, sentence)


def name_of(path: object) -> str:
    """The name of a file by its path, as a run's options hold it; "" for a file that was not handed in."""
    name = Path(path).name if isinstance(path, str) else ""
    is_one = (
        bool(_NAME.fullmatch(name)) and Path(str(path)).parent == folder() and (folder() / name).is_file()
    )
    return name if is_one else ""


def keep(content: bytes | memoryview, original: str) -> str:
    """Keeps a file and returns its name. Raises ValueError where it is empty, too large, or one too many.

    original: what the visitor called it; only its ending is used.
    """
    if not len(content):
        raise ValueError(f"{original[:80]!r} is empty; choose a file with text in it")
    if len(content) > MAX_BYTES:
        raise ValueError(
            f"{original[:80]!r} has {readable(len(content))}; at most {readable(MAX_BYTES)} are read: cut it"
        )
    ending = re.sub(r"[^a-z0-9-]", "", Path(original).suffix.lower())[:12] or "txt"
    name = f"{hashlib.sha256(content).hexdigest()}.{ending}"
    target = folder()
    if (target / name).is_file():
        return name
    _make_room(target, len(content))
    target.mkdir(parents=True, exist_ok=True)
    write_whole(target / name, content)
    return name


def _make_room(target: Path, coming: int) -> None:
    """Raises ValueError where there are as many files, or bytes, as are kept."""
    files = [path for path in target.glob("*") if _NAME.fullmatch(path.name)] if target.is_dir() else []
    total = sum(path.stat().st_size for path in files)
    if len(files) >= MAX_FILES or total + coming > MAX_TOTAL:
        raise ValueError(
            f"{len(files)} files with {readable(total)} were handed in already; at most {MAX_FILES} and "
            f"{readable(MAX_TOTAL)} are kept: remove some from the runs' folder {target.name!r}"
        )
