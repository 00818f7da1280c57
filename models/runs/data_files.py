"""The files of a person's own that a run reads: what they are called, and whether they are what they were.

config.json holds them as "files": for each option that names one, its name, its bytes and its SHA-256.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.data.own_names import own_name

if TYPE_CHECKING:
    from models.data.tasks import Task

FILES = "files"
_BY_CONTENT = re.compile(r"([0-9a-f]{64})\.[a-z0-9-]{1,12}")  # an uploaded file is named by its SHA-256


def files_of(task: Task, before: Mapping[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    """The files that a task reads, by option, as they are now; those that are not there are left out.

    before: the config.json of a run that this one goes on from: what that says of a file still counts.
    """
    found = {}
    options = task.to_dict()
    for name in [spec.name for spec in fields(task) if spec.metadata.get("file")]:
        if not options.get(name):
            continue
        if before is not None and _options(before).get(name) == options[name]:
            known = _files(before).get(name)
            if known is not None:
                found[name] = known
            continue
        path = Path(options[name]).expanduser()
        try:
            found[name] = {
                "name": own_name(path),
                "bytes": path.stat().st_size,
                "sha256": _digest(path, trust_name=True),
            }
        except OSError:
            continue  # whoever reads it says so
    return found


def check_files(described: Mapping[str, Any]) -> None:
    """Raises ValueError where a file of this run is gone or has other content than when the run was made.

    Runs from before "files" were kept are not checked.
    """
    for option, file in _files(described).items():
        path, name = Path(str(_options(described).get(option, ""))).expanduser(), str(file.get("name"))[:120]
        try:
            size, digest = path.stat().st_size, _digest(path)
        except OSError as error:
            raise ValueError(
                f"{name!r}, which this run reads, is gone ({error.strerror}); put it back as it was, or hand "
                "it in again on Train, and resume: nothing is lost"
            ) from None
        if (size, digest) != (file.get("bytes"), file.get("sha256")):
            raise ValueError(
                f"{name!r} has changed since this run began; put it back as it was and resume, or start a "
                "new run: of other data, other examples would be held out"
            )


def name_of(described: Mapping[str, Any], option: str) -> str:
    """What the file of an option is called; "" where nobody knows, or it is none."""
    said = _files(described).get(option, {}).get("name")
    if isinstance(said, str):
        return said[:120]
    path = _options(described).get(option)
    return own_name(Path(path)) if isinstance(path, str) and _BY_CONTENT.fullmatch(Path(path).name) else ""


def own_names_in(runs: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What files are called that a server keeps by their content, in the config.json of these runs; two of
    one name are told apart by the beginning of their digests.
    """
    found: dict[str, str] = {}
    for described in runs:
        for option, path in _options(described).items():
            kept = Path(path).name if isinstance(path, str) else ""
            if _BY_CONTENT.fullmatch(kept):
                found.setdefault(kept, name_of(described, option) or kept)
    many = Counter(found.values())
    return {kept: name if many[name] == 1 else f"{name} ({kept[:8]}…)" for kept, name in found.items()}


def _digest(path: Path, *, trust_name: bool = False) -> str:
    """The SHA-256 of a file; one that is named by it is not read where that name can be trusted."""
    named = _BY_CONTENT.fullmatch(path.name)
    if named and trust_name:
        return named[1]
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(described: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found = described.get(FILES)
    said = found if isinstance(found, dict) else {}
    return {name: file for name, file in said.items() if isinstance(file, dict)}


def _options(described: Mapping[str, Any]) -> Mapping[str, Any]:
    task = described.get("task")
    options = task.get("options") if isinstance(task, dict) else None
    return options if isinstance(options, dict) else {}
