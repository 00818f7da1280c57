"""Runs behind an fsspec URL (s3://, gs://, file://, ...): each side works in a folder and copies files.

python -m models.runs.ray.mirror: fetches all runs of ATTENTION_LAB_RUNS, for a server that starts anew.

A node trains in a local folder and sends what changed about once a second; the dispatcher fetches that into
the folder that the server reads, and sends requests. Files are copied whole; status.json comes last, so that
what it says is there already. The server owns the config, the owner and requests, the node all else. One
server at a time uses a URL.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import fsspec

from models.files import parsed, write_whole
from models.runs.folder import LOCK, PICTURES, REQUEST, SNAPSHOTS, STATUS
from models.runs.owners import OWNER
from models.zoo.folders import CONFIG, TASK, runs_root, runs_url

SEND_SECONDS = 1.0
FROM_SERVER = (CONFIG, TASK, OWNER, REQUEST)
_NEVER = (LOCK,)
_SHRINKING = (f"{SNAPSHOTS}/", f"{PICTURES}/")  # a run that goes on removes what came after its checkpoint
_MARKS = ("size", "mtime", "LastModified", "last_modified", "ETag", "etag", "updated", "created")


class Mirror:
    """A folder, and the URL that it is a copy of. Raises OSError, or what the file system raises."""

    def __init__(self, root: Path, url: str) -> None:
        self.root, self.url = root, url
        self._system, self._base = fsspec.core.url_to_fs(url, use_listings_cache=False)
        self._sent: dict[str, tuple[int, int]] = {}
        self._got: dict[str, str] = {}

    def send(self, run_id: str, wanted: Callable[[str], bool] = lambda name: True) -> None:
        """Copies a run's files that changed since they were sent last, and removes what the run removed."""
        folder = self.root / run_id
        here = {
            str(path.relative_to(folder)): path
            for path in folder.rglob("*")
            if path.is_file() and path.name not in _NEVER and not path.name.startswith(".")
        }
        for name, path in sorted(here.items(), key=lambda item: (item[0] == STATUS, item[0])):
            with contextlib.suppress(FileNotFoundError):  # replaced or removed just now
                mark = _mark(path)
                if wanted(name) and self._sent.get(f"{run_id}/{name}") != mark:
                    self.put(f"{run_id}/{name}", path.read_bytes())
                    self._sent[f"{run_id}/{name}"] = mark
        for name in [name for name in self._sent if name.startswith(f"{run_id}/")]:
            rest = name.removeprefix(f"{run_id}/")
            if rest not in here and rest.startswith(_SHRINKING):
                self.drop(name)
                del self._sent[name]

    def fetch(self, run_id: str, wanted: Callable[[str], bool] = lambda name: True) -> None:
        """Copies the files that changed there since they were fetched last."""
        there = self._names(run_id)
        if not there:
            return
        for name in sorted(there, key=lambda name: (name == STATUS, name)):
            if wanted(name) and self._got.get(f"{run_id}/{name}") != there[name]:
                content = self.get(f"{run_id}/{name}")
                if content is not None:
                    path = self.root / run_id / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_whole(path, content)
                    self._sent[f"{run_id}/{name}"] = _mark(path)
                    self._got[f"{run_id}/{name}"] = there[name]
        for part in _SHRINKING:
            for path in (self.root / run_id / part).glob("*"):
                if wanted(f"{part}{path.name}") and f"{part}{path.name}" not in there:
                    path.unlink(missing_ok=True)

    def fetch_all(self) -> None:
        """Fetches every run that is there."""
        with contextlib.suppress(FileNotFoundError):
            for path in self._system.ls(self._base, detail=False):
                name = Path(path).name
                if not name.startswith(".") and self._system.exists(f"{self._base}/{name}/{CONFIG}"):
                    self.fetch(name)

    def put(self, name: str, content: bytes) -> None:
        """Writes one file, so that a reader sees the old one or the new where the file system allows that."""
        path = f"{self._base}/{name}"
        local = "file" in self._system.protocol
        if local:
            self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._system.pipe_file(f"{path}.part" if local else path, content)
        if local:
            os.replace(f"{path}.part", path)

    def get(self, name: str) -> bytes | None:
        """One file; None where there is none."""
        try:
            return bytes(self._system.cat_file(f"{self._base}/{name}"))
        except FileNotFoundError:
            return None

    def drop(self, name: str) -> None:
        """Removes a file, or a run with all its files; nothing where there is none."""
        with contextlib.suppress(FileNotFoundError):
            self._system.rm(f"{self._base}/{name}", recursive=True)

    def _names(self, run_id: str) -> dict[str, str]:
        """The files of a run there, and what tells that they changed."""
        base = f"{self._base}/{run_id}"
        try:
            found: dict[str, Any] = self._system.find(base, detail=True)
        except FileNotFoundError:
            return {}
        marks = {path: [str(info.get(mark)) for mark in _MARKS] for path, info in found.items()}
        return {
            path.removeprefix("/").removeprefix(base.removeprefix("/")).strip("/"): " ".join(mark)
            for path, mark in marks.items()
            if not path.endswith(".part")
        }


def _mark(path: Path) -> tuple[int, int]:
    """What tells that a file changed here."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def uploads_of(folder: Path) -> list[str]:
    """The files of the server that a run reads, relative to the folder of the runs."""
    options = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["task"]["options"]
    mine = f"{folder.parent}/"
    return [value.removeprefix(mine) for value in options.values() if str(value).startswith(mine)]


@contextlib.contextmanager
def copy(url: str, server: str, run_id: str) -> Iterator[Path]:
    """Inside, a folder of this node alone has the run and the files that it reads; removed at the end.

    server: the server's folder of the runs, whose files the run's config may name.
    """
    with tempfile.TemporaryDirectory(prefix="attention-lab-") as name:
        root, mirror = Path(name), Mirror(Path(name), url)
        mirror.fetch(run_id)
        config = root / run_id / CONFIG
        said = config.read_text(encoding="utf-8").replace(json.dumps(f"{server}/")[1:-1], f"{root}/")
        config.write_text(said, encoding="utf-8")
        for file in uploads_of(root / run_id):
            content = mirror.get(file)
            if content is not None:
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_bytes(content)
        yield root


@contextlib.contextmanager
def working_copy(url: str, server: str, run_id: str, attempt: int) -> Iterator[Path]:
    """A `copy` that goes back to the URL as it changes, and for the last time at the end.

    attempt: where the URL names a later one, this process ends at once.
    """
    with copy(url, server, run_id) as root:
        mirror, over = Mirror(root, url), Event()
        mirror.fetch(
            run_id, lambda name: name.startswith(_SHRINKING)
        )  # to know what a run that goes on removes

        def keep_sending() -> None:
            while not over.wait(SEND_SECONDS):
                with contextlib.suppress(Exception):  # a store that stutters: the next second sends it
                    exchange(mirror, run_id, attempt)

        thread = Thread(target=keep_sending, name="mirror", daemon=True)
        thread.start()
        try:
            yield root
        finally:
            over.set()
            thread.join()
            exchange(mirror, run_id, attempt)


def exchange(mirror: Mirror, run_id: str, attempt: int) -> None:
    """Takes a request, sees whether the run is another's by now, and sends what changed."""
    mirror.fetch(run_id, lambda name: name == REQUEST)
    if latest(mirror, run_id) > attempt:
        os._exit(1)
    mirror.send(run_id, lambda name: name not in FROM_SERVER)


def latest(mirror: Mirror, run_id: str) -> int:
    """The attempt that the status there names; 0 without one."""
    try:
        said = parsed(mirror.get(f"{run_id}/{STATUS}") or b"{}")
    except ValueError:
        return 0
    found = said.get("attempt") if isinstance(said, dict) else 0
    return found if isinstance(found, int) else 0


if __name__ == "__main__":
    if not runs_url():
        raise SystemExit("ATTENTION_LAB_RUNS names no URL: there is nothing to fetch")
    Mirror(runs_root(), runs_url()).fetch_all()
    print("the runs are in", runs_root())
