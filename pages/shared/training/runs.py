"""Runs as pages show them, by their id in a link: those of this machine, and shipped ones, which nobody may
change; their records, and their scores in words.
"""

import os
import threading
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from attention_lab.models.byte_units import KB, MB
from attention_lab.models.files import FileError, parsed
from attention_lab.models.runs import jobs, owners
from attention_lab.models.runs.folder import METRICS, SAMPLES, RunFolder, Status, list_runs
from attention_lab.models.runs.owners import Visitor, visible_run
from attention_lab.models.runs.ranking import mean_words
from attention_lab.models.runs.results import Best, is_share, read_best
from attention_lab.models.runs.significance import Summary
from attention_lab.models.training.config import BEFORE
from attention_lab.models.zoo import folders
from attention_lab.models.zoo.folders import CHECKPOINT, CONFIG, Which, check_runs_root, shipped_names
from attention_lab.pages.shared import visitors
from attention_lab.viz_core.labels import scientific

MOST_BYTES = 16 * MB
"""More than any run writes; a foreign file of that size is not read to its end."""

MOST_STEPS = 10**12
"""More than any run has."""
Entry = dict[str, Any]


class History:
    """The records of one JSON-lines file, oldest first.

    Half-written last lines wait for their end; lines that are no records are left out. A file that was
    replaced, as a resumed or thinned run does it, is read again from its start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._forget(None)

    def _forget(self, identity: tuple[int, int] | None) -> None:
        self._identity = identity
        self._read = 0
        self._rest = b""
        self._entries: list[Entry] = []

    def entries(self) -> list[Entry]:
        """All records up to now; [] where there is no file."""
        with self._lock:
            try:
                with self._path.open("rb") as file:
                    status = os.fstat(file.fileno())
                    identity = (status.st_dev, status.st_ino)
                    if identity != self._identity or status.st_size < self._read:
                        self._forget(identity)
                    file.seek(self._read)
                    new = file.read(max(0, MOST_BYTES - self._read))
            except OSError:
                self._forget(None)
                return []
            self._read += len(new)
            *lines, self._rest = (self._rest + new).split(b"\n")
            self._entries += filter(None, map(_entry, lines))
            return list(self._entries)


def _entry(line: bytes) -> Entry | None:
    try:
        value = parsed(line)
    except ValueError:
        return None
    step = value.get("step") if isinstance(value, dict) else None
    return value if isinstance(step, int) and not isinstance(step, bool) and 0 <= step <= MOST_STEPS else None


_histories: LRUCache[Path, History] = LRUCache(64)
_lock = threading.Lock()


def _history_of(path: Path) -> History:
    """The history of a file, shared by all who watch it."""
    with _lock:
        if path not in _histories:
            _histories[path] = History(path)
        return _histories[path]


TAIL_BYTES = 128 * KB
_tails: LRUCache[Path, tuple[tuple[int, int], list[Entry]]] = LRUCache(512)


def latest(path: Path) -> list[Entry]:
    """The last few hundred records of a file, for lists of many runs; [] where there is none."""
    try:
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        with _lock:
            known = _tails.get(path)
        if known and known[0] == stamp:
            return known[1]
        with path.open("rb") as file:
            start = max(0, status.st_size - TAIL_BYTES)
            file.seek(start)
            lines = file.read(TAIL_BYTES).split(b"\n")
    except OSError:
        return []
    entries = list(filter(None, map(_entry, lines[1 if start else 0 :])))
    with _lock:
        _tails[path] = (stamp, entries)
    return entries


SHIPPED = "zoo_"
"""Begins the id of a shipped run; ids of other runs have no underscore."""

MOST = 200
"""Runs that a page lists; older ones are on the disk and in the command line's list."""


@dataclass(frozen=True)
class Run:
    """A run that a page shows. which: whose weights, the last checkpoint's or the best validation's."""

    id: str
    folder: RunFolder
    shipped: bool = False
    which: Which = "last"

    @property
    def title(self) -> str:
        """The name that a page shows; a shipped run has that of its model."""
        return self.folder.path.parent.name if self.shipped else self.folder.name

    @property
    def model_link(self) -> str:
        """The value of `model` in a link to Explore."""
        ending = "@best" if self.which == "best" else ""
        return self.title if self.shipped else f"run:{self.id}{ending}"

    @property
    def has_weights(self) -> bool:
        """Whether it can be opened as a model."""
        return self.shipped or (self.folder.path / CHECKPOINT).is_file()

    def records(self) -> list[Entry]:
        """What it has recorded of its training."""
        return _history_of(self.folder.path / METRICS).entries()

    def last_records(self) -> list[Entry]:
        """The last few hundred of its records, for lists of many runs."""
        return latest(self.folder.path / METRICS)

    def samples(self) -> list[Entry]:
        """What it made of held-out examples as it was trained."""
        return _history_of(self.folder.path / SAMPLES).entries()

    @property
    def best(self) -> Best | None:
        """The best validation whose weights are kept; None where there is none, or its file is damaged."""
        try:
            return read_best(self.folder.path)
        except ValueError:
            return None

    @property
    def of_best(self) -> "Run":
        """The run with the weights of its best validation."""
        return replace(self, which="best")


def zoo() -> Path:
    """The folder of shipped models."""
    return folders.SHIPPED


def find(run_id: str) -> Run | None:
    """The run of an id, which comes from outside: it finds only folders directly in the runs' root, and only
    those that this visitor may see.
    """
    return _found(run_id, visitors.visitor())


def _found(run_id: str, visitor: Visitor) -> Run | None:
    name = run_id.removeprefix(SHIPPED)
    if name == run_id or name not in shipped_names():
        path = visible_run(run_id, visitor)
        return Run(run_id, RunFolder(path)) if path else None
    path = zoo() / name / "run"
    return Run(run_id, RunFolder(path), shipped=True) if (path / CONFIG).is_file() else None


def may_change(run: Run) -> bool:
    """Whether this visitor may stop the run, rename it, delete it, and so on."""
    return not run.shipped and owners.may_change(run.folder.path, visitors.visitor())


def every() -> list[Run]:
    """All runs that this visitor may see, newest first, then the shipped ones."""
    visitor = visitors.visitor()
    mine = list(islice((run for folder in list_runs() if (run := _found(folder.id, visitor))), MOST))
    shipped = [run for path in sorted(zoo().glob("*/run")) if (run := find(f"{SHIPPED}{path.parent.name}"))]
    return mine + shipped


def refusals() -> list[str]:
    """Says where runs cannot be kept, and so neither they nor sweeps are listed; [] elsewhere."""
    try:
        check_runs_root()
    except FileError as error:
        return [str(error)]
    return []


def opening(run: Run) -> str:
    """Lines of Python that open the run on its machine, wherever its folder is."""
    if run.shipped:
        name = run.folder.path.parent.name
        imports = (
            "from attention_lab.models.runs.folder import RunFolder\n"
            "from attention_lab.models.zoo.folders import SHIPPED\n"
        )
        return f"{imports}run = RunFolder(SHIPPED / {name!r} / 'run')"
    return f"from attention_lab.models.runs.folder import find_run\nrun = find_run({run.id!r})"


def records_and_model(run: Run) -> str:
    """Lines of Python that give its records and, where it has weights, its model."""
    lines = f"{opening(run)}\nrecords = run.metrics()"
    if run.shipped:
        return f"{lines}\nfrom attention_lab.models import load_model\nmodel = load_model({run.title!r})"
    which = "" if run.which == "last" else repr(run.which)
    return f"{lines}\nmodel = run.model({which})" if run.has_weights else lines


def status_of(run: Run) -> Status:
    """How a run stands. A shipped one has no process and has finished; one that is gone has failed."""
    if run.shipped:
        steps = described(run)["training"].get("steps")
        count = steps if isinstance(steps, int) else 0
        return Status(state="finished", step=count, steps=count)
    try:
        return jobs.status(run.id)
    except (ValueError, OSError) as error:
        return Status(state="failed", sentence=str(error))


def described(run: Run) -> dict[str, Any]:
    """config.json with its three parts, each a dict whatever the file says; {} parts where it is damaged."""
    try:
        values = run.folder.description()
    except ValueError:
        values = {}
    task, model, training = (_dict(values.get(name)) for name in ("task", "model", "training"))
    return {
        **values,
        "task": {**task, "options": _dict(task.get("options"))},
        "model": model,
        "training": {**BEFORE, **training} if training else {},
    }


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def worded(name: str, value: float, *, n: int | None = None) -> str:
    """A score in words: a share in per cent, another number with its digits; neither is rounded to nothing,
    nor to all. n: the examples that a share of 0 or 1 is of, where it is one of examples.
    """
    if not is_share(name):
        return number(value)
    if n is not None and value in (0, 1):
        return f"{round(value * n):,} of {n:,}"
    per_cent = 100 * value
    if 0 < per_cent < 0.05:
        return f"{per_cent:.2g} %"
    return f"{per_cent:.4g} %" if 99.95 <= per_cent < 100 else f"{per_cent:.1f} %"


def number(value: float) -> str:
    """A number that is no share, with three digits after the point, or so many that it is not nothing."""
    if value and abs(value) < 0.001:
        return scientific(value, 2)
    return (f"{value:,.1f}" if abs(value) >= 1_000 else f"{value:.3f}").replace("-", "−")


def worded_mean(name: str, summary: Summary) -> str:
    """A mean over seeds with its name, ± the standard deviation where there is one: accuracy 91.2 ± 1.0 %."""
    times, unit = (100, " %") if is_share(name) else (1, "")
    return f"{name} {mean_words(summary, times)}{unit}"
