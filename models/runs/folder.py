"""A run's folder, which is the truth about it: the page, the command line and the worker all read it here.

Its JSON is read without torch; only `config`, `task` and the methods that return tensors import it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.files import (
    FileError,
    WriteError,
    read_json,
    read_json_if_any,
    read_lines,
    write_json,
    writing,
)
from models.runs.data_files import FILES, files_of
from models.runs.kept import numbered, numbered_files, step_of, tensors_of
from models.runs.notes import checked_about, checked_name, checked_notes, checked_tags
from models.runs.owners import OWNER
from models.runs.refused import gone_if
from models.training.config import RunConfig, TrainingConfig
from models.zoo.run_folders import (
    BEST,
    CHECKPOINT,
    CONFIG,
    NEXT_BEST,
    PROBE,
    TASK,
    VERSION,
    Which,
    check_runs_root,
    read_description,
    runs_root,
    weights_path,
)

if TYPE_CHECKING:
    from torch import Tensor

    from models.data.tasks import Task
    from models.engine.transformer import Transformer
    from models.runs.best import Best
    from models.runs.checkpoints import Checkpoint

STATUS, REQUEST = "status.json", "request.json"
METRICS, SAMPLES, REPORT = "metrics.jsonl", "samples.jsonl", "report.json"
LOG, LOCK = "log.txt", ".lock"  # of the process that trains
SNAPSHOTS, PICTURES, EVENTS = "snapshots", "pictures", "events.out.tfevents"
_FILES = (
    CONFIG, TASK, PROBE, STATUS, REQUEST, METRICS, SAMPLES, REPORT, CHECKPOINT, LOG, LOCK, OWNER, BEST,
    NEXT_BEST,
)  # fmt: skip


class RunFolder:
    """One run on disk. Missing files read as empty; half-written last lines and foreign files are left out.

    Methods raise FileError, with a remedy, for what is damaged or of a newer version, and
    WriteError where the disk refuses to write.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"RunFolder({str(self.path)!r})"

    @property
    def id(self) -> str:
        """The run's name in links and on the command line."""
        return self.path.name

    @property
    def name(self) -> str:
        """What a person calls the run; the folder's name where nothing is said or the config is damaged."""
        try:
            return str(self.description().get("name") or self.id)
        except FileError:
            return self.id

    @property
    def created(self) -> str:
        """When it was made, as ISO 8601 text in UTC; "" where that is not known."""
        try:
            return str(self.description().get("created", ""))
        except FileError:
            return ""

    def description(self) -> dict[str, Any]:
        """config.json as it stands: version, name, created, task, model, training."""
        return read_description(self.path)

    def config(self) -> RunConfig:
        """The run's config; its task has what it learnt from its data."""
        from models.zoo.files import checked, read_config, read_task

        said, path = self.description(), self.path / CONFIG
        model = read_config(path, said["model"])
        task = read_task(path, said["task"], read_json(self.path / TASK), model)
        training = checked(path, "training", lambda: TrainingConfig.from_file(said["training"]))
        return RunConfig(task=task, model=model, training=training)

    def task(self) -> Task:
        """The task, with what it learnt from its data."""
        return self.config().task

    def status(self) -> dict[str, Any]:
        """status.json as it stands; {} before there is one."""
        return read_json_if_any(self.path / STATUS)

    def metrics(self, after_step: int = 0) -> list[dict[str, Any]]:
        """The kept records of the steps after `after_step`, in order."""
        lines = read_lines(self.path / METRICS)
        return [line for line in lines if step_of(line) > after_step and _is_record(line)]

    def samples(self) -> list[dict[str, Any]]:
        """The samples taken during training: {"step", "samples": [{"given", "made", "wanted"}]}, in order."""
        return [line for line in read_lines(self.path / SAMPLES) if step_of(line) >= 0]

    def probe(self) -> dict[str, Any]:
        """The example whose attention was watched: {"tokens", "text", "picture"}; {} before the start."""
        return read_json_if_any(self.path / PROBE)

    def snapshots(self) -> list[int]:
        """The steps that have a snapshot, in order; step 0 is the untrained model."""
        return sorted(numbered_files(self.path / SNAPSHOTS))

    def snapshot(self, step: int) -> dict[str, Tensor]:
        """The probe's patterns at a step: address -> float16 [head, query, key]."""
        return tensors_of(self.path / SNAPSHOTS / numbered(step))

    def picture_steps(self) -> list[int]:
        """The steps that have pictures, in order."""
        return sorted(numbered_files(self.path / PICTURES))

    def pictures(self, step: int) -> dict[str, Tensor]:
        """ "originals" and "pictures" at a step, each [picture, row, column] in 0..1."""
        return tensors_of(self.path / PICTURES / numbered(step))

    def checkpoint(self) -> Checkpoint | None:
        """The last checkpoint; None before the first."""
        from models.runs.checkpoints import read_checkpoint

        return read_checkpoint(self.path / CHECKPOINT)

    def best(self) -> Best | None:
        """The best validation, whose weights are kept; None before the first."""
        from models.runs.best import read_best

        return read_best(self.path)

    def model(self, which: Which = "last") -> Transformer:
        """The model with the weights of the last checkpoint, or of the best validation. Raises FileError."""
        from models.zoo.files import read_weights

        path = weights_path(self.path, which)
        return read_weights(path, self.config().model, part="model." if which == "last" else "")

    def rename(self, name: str) -> None:
        """Gives the run another name. Raises ValueError for an empty or very long one."""
        self._describe(name=checked_name(name))

    def annotate(self, *, tags: Iterable[str] | None = None, notes: str | None = None) -> None:
        """Replaces the run's tags or notes, or both. Raises ValueError for too many, or too long ones."""
        if tags is not None:
            self._describe(tags=checked_tags(tags))
        if notes is not None:
            self._describe(notes=checked_notes(notes))

    def _describe(self, **changed: Any) -> None:
        """Writes config.json with these entries changed; the process that trains only reads it."""
        write_json(self.path / CONFIG, {**self.description(), **changed})

    def size_bytes(self) -> int:
        """The bytes that the folder's files have together."""
        total = 0
        for folder, _, names in os.walk(self.path):
            for name in names:
                try:
                    total += os.lstat(os.path.join(folder, name)).st_size
                except OSError:
                    continue  # gone since it was listed
        return total

    def delete(self) -> None:
        """Removes all files that runs write, and then the folder, unless it holds other files."""
        with writing(self.path):
            for path in self._written():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
            if not any(self.path.iterdir()):
                self.path.rmdir()

    def _written(self) -> Iterator[Path]:
        """All that a run writes; the config comes last, so that a half-deleted run is still listed."""
        for path in sorted(self.path.iterdir()):
            known = path.name in (*_FILES[1:], SNAPSHOTS, PICTURES) or path.name.startswith(EVENTS)
            if known or re.fullmatch(r"\..*\.tmp", path.name):
                yield path
        if (self.path / CONFIG).exists():
            yield self.path / CONFIG


def create_run(
    config: RunConfig, *, name: str = "", path: Path | None = None, about: Mapping[str, Any] | None = None
) -> RunFolder:
    """Makes a new run's folder with its config and what its task learnt from its data.

    path: by default a new folder in `runs_root()`. about: what else config.json says of the run: "tags",
    "notes", "history", "sweep". Raises FileError where there is a run already, ValueError for a name, tags or
    notes that are too long, and WriteError where the disk refuses; no folder is left behind then.
    """
    if path is None:
        check_runs_root()
    folder = RunFolder(path or runs_root() / _new_id(config.task.name))
    if (folder.path / CONFIG).exists():
        raise FileError(f"{str(folder.path)!r} holds a run already; resume it, or choose another folder")
    name, about = checked_name(name or folder.id), checked_about(about or {})
    files = {FILES: found} if FILES not in about and (found := files_of(config.task)) else {}
    described = {
        "version": VERSION,
        "name": name,
        "created": datetime.now(UTC).isoformat(timespec="microseconds"),
        **about,
        **files,
        **config.to_dict(),
    }
    with gone_if(folder, WriteError):
        with writing(folder.path):
            folder.path.mkdir(parents=True, exist_ok=True)
        write_json(folder.path / TASK, config.task.learnt())
        write_json(folder.path / CONFIG, described)  # last: it makes the folder a run
    return folder


def list_runs(root: Path | None = None) -> list[RunFolder]:
    """All runs, newest first, including damaged ones."""
    root = root or runs_root()
    if not root.is_dir():
        return []
    runs = [RunFolder(path.parent) for path in root.glob(f"*/{CONFIG}") if not path.parent.is_symlink()]
    return sorted(runs, key=lambda run: (run.created, run.id), reverse=True)


def find_run(name: str, root: Path | None = None) -> RunFolder:
    """The run with an id, a name or a path. Raises FileError where there is none, or more than one."""
    root = root or runs_root()
    for path in (root / name, Path(name)):
        if (path / CONFIG).is_file():
            return RunFolder(path)
    called = [run for run in list_runs(root) if run.name == name]
    if len(called) == 1:
        return called[0]
    if root == runs_root():
        check_runs_root()
    if called:
        ids = ", ".join(run.id for run in called)
        raise FileError(f"{len(called)} runs are called {name!r}; say which: {ids}")
    known = ", ".join(run.id for run in list_runs(root)[:5]) or "none"
    raise FileError(f"there is no run {name!r}; the latest are: {known}")


def _new_id(task: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", task.lower())[:60].strip("-")
    return f"{plain}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _is_record(line: dict[str, Any]) -> bool:
    """Whether the scores and norms of a line, if it has them, are numbers by their names."""
    scores, norms = line.get("validation", {}), line.get("norms", {})
    if not isinstance(scores, dict) or not isinstance(norms, dict):
        return False
    pairs = [pair if isinstance(pair, list) and len(pair) == 2 else [None] for pair in norms.values()]
    return all(isinstance(value, int | float) for value in [*scores.values(), *chain(*pairs)])
