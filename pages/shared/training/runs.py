"""Runs by their id in a link: those of this machine, and the shipped ones, which nobody may change."""

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from models.files import FileError
from models.limits import in_force
from models.runs import jobs, owners
from models.runs.best import Best
from models.runs.folder import RunFolder, list_runs
from models.runs.owners import Visitor, may_see
from models.runs.status import Status
from models.training.config import BEFORE
from models.zoo import cards
from models.zoo.cards import shipped_names
from models.zoo.run_folders import CONFIG, Which, check_runs_root, run_path
from pages.shared import visitors

SHIPPED = "zoo_"
"""Begins the id of a shipped run; ids of other runs have no underscore."""

MOST = in_force().runs_listed
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
    def best(self) -> Best | None:
        """The best validation whose weights are kept; None where there is none, or its file is damaged."""
        try:
            return self.folder.best()
        except ValueError:
            return None

    @property
    def of_best(self) -> "Run":
        """The run with the weights of its best validation."""
        return replace(self, which="best")


def zoo() -> Path:
    """The folder of shipped models."""
    return cards.SHIPPED


def find(run_id: str) -> Run | None:
    """The run of an id, which comes from outside: it finds only folders directly in the runs' root, and only
    those that this visitor may see.
    """
    return _found(run_id, visitors.visitor())


def _found(run_id: str, visitor: Visitor) -> Run | None:
    name = run_id.removeprefix(SHIPPED)
    shipped = name != run_id
    try:
        path = zoo() / name / "run" if shipped and name in shipped_names() else run_path(run_id)
    except FileError:
        return None
    if not (path / CONFIG).is_file() or not (shipped or may_see(path, visitor)):
        return None
    return Run(run_id, RunFolder(path), shipped)


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
        imports = "from models.runs.folder import RunFolder\nfrom models.zoo.cards import SHIPPED\n"
        return f"{imports}run = RunFolder(SHIPPED / {name!r} / 'run')"
    return f"from models.runs.folder import find_run\nrun = find_run({run.id!r})"


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
