"""Finds, makes, starts, stops and deletes sweeps; pages know nothing else of where they work.

Each sweep has a folder in `.sweeps` among the runs, and while it works a process of its own, its driver. Its
runs are ordinary ones, in the folder of all runs. All but `create` goes without torch.
"""

import re
import secrets
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from ..files import FileError, write_json, writing
from ..limits import in_force
from ..runs import jobs, owners, queue
from ..runs.folder import Ask
from ..runs.owners import NotAllowed, Ownership, Visitor
from ..runs.processes import serving_process
from ..runs.queue import JobRefused
from ..runs.ray import cluster
from ..zoo.families import FAMILIES
from ..zoo.folders import runs_root
from .families import FamilySweep
from .spec import NAME, Spec
from .sweep import SHIPPED, SPEC, VERSION, Sweep

MOST_KEPT = 100
"""Sweeps that are kept: a page lists them all."""
MOST_LIVE = 1
"""Sweeps of one visitor that go on at once: each has a process of its own, with about 300 MB."""
DRIVER = [sys.executable, "-m", "attention_lab.models.sweeps.driver"]


def sweeps_root() -> Path:
    """Returns the folder of all sweeps, which lies among the runs."""
    return runs_root() / ".sweeps"


def list_sweeps() -> list[Sweep]:
    """Lists all sweeps that were made here, newest first, including damaged ones."""
    folders = (path.parent for path in sweeps_root().glob(f"*/{SPEC}") if not path.parent.is_symlink())
    every = [Sweep(folder) for folder in folders if re.fullmatch(NAME, folder.name)]
    return sorted(every, key=lambda sweep: (sweep.created, sweep.name), reverse=True)


def list_shipped() -> list[Sweep]:
    """Lists all sweeps that ship, by name, and then the families of shipped models."""
    made = (Sweep(path.parent) for path in sorted(SHIPPED.glob(f"*/{SPEC}")))
    return [*made, *map(FamilySweep, FAMILIES.values())]


def find(name: str) -> Sweep:
    """Finds the sweep of a name, which may come from anybody: one made here, else one that ships.

    Raises FileError where there is none.
    """
    for sweep in (*list_sweeps(), *list_shipped()):
        if sweep.name == name:
            return sweep
    known = ", ".join(sweep.name for sweep in list_sweeps()[:5]) or "none"
    raise FileError(f"there is no sweep {name[:60]!r}; the latest are: {known}")


def create(spec: Spec, *, by: Visitor) -> Sweep:
    """Makes the folder of a new sweep, which `start` lets work.

    by: its owner. Raises ValueError for what the task cannot do or where a sweep has the name already,
    JobRefused for more than the limits allow, WriteError where the disk refuses.
    """
    from . import optuna_study
    from .plan import plan

    whole = plan(spec, by=by)
    if len(list_sweeps()) >= MOST_KEPT:
        raise JobRefused(
            f"{MOST_KEPT} sweeps are kept already, the most there may be; delete one, its runs stay"
        )
    now = datetime.now(UTC)
    plain = re.sub(r"[^a-z0-9]+", "-", spec.task.lower())[:20].strip("-")
    name = spec.name or f"{plain}-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    path = sweeps_root() / name
    if path.exists():
        first = re.sub(r"-\d+$", "", name)[:44]
        free = next(f"{first}-{n}" for n in range(2, 10_000) if not path.with_name(f"{first}-{n}").exists())
        raise ValueError(
            f"there is a sweep {name!r} already; resume it, delete it, or take another name, such as {free!r}"
        )
    with writing(path):
        path.mkdir(parents=True)
    try:
        owners.write_owned(path, Ownership(owner=by.id))
        optuna_study.begin(path, whole.spec, whole.points)
        described = replace(whole.spec, name=name).to_dict()
        created = now.isoformat(timespec="microseconds")
        # Last: it makes the folder a sweep.
        write_json(path / SPEC, {"version": VERSION, "created": created, "spec": described})
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return Sweep(path)


def start(name: str, *, by: Visitor, n_slots: int = 0) -> None:
    """Lets a sweep work, or go on, in a process of its own; returns at once.

    n_slots: runs that it trains at once, 0 for as many as the limits allow. It pauses when the server stops.
    Raises NotAllowed where it is another's, and JobRefused where it works already, has nothing left to do, or
    a limit is met.
    """
    sweep = _own(name, by, "start it")
    with queue.submitting(runs_root()):  # another server may start it this moment
        now = sweep.status()
        if now.live:
            raise JobRefused(f"sweep {name!r} works already; pause it first")
        if now.state == "finished":
            raise JobRefused(f"sweep {name!r} has tried its {now.steps:,} settings; start a new one for more")
        if in_force().read_only:
            raise JobRefused("this server is read-only: it trains nothing; run the app on your own machine")
        live = [each.name for each in list_sweeps() if owners.is_of(each.path, by) and each.status().live]
        if len(live) >= MOST_LIVE:
            raise JobRefused(
                f"{' and '.join(map(repr, live))} of yours works already, the most there may be; "
                "pause it, or wait until it has finished"
            )
        queue.write_queued(sweep.path, "its process starts", keep_going=False, steps=sweep.spec.trials)
    command = [*DRIVER, str(sweep.path.resolve()), "--slots", str(n_slots)]
    command += ["--parent", str(serving_process()), *(["--all-rights"] if by.all_rights else [])]
    try:
        jobs.launch(command, sweep.path)
    except OSError as error:
        raise JobRefused(f"no process could start: {error}") from None


def ask(name: str, what: Ask, *, by: Visitor) -> None:
    """Asks it to pause or to stop its runs and to end, within five seconds; `start` lets it go on.

    Raises NotAllowed where it is another's, as `delete` does.
    """
    sweep = _own(name, by, f"{what} it")
    jobs.LocalBackend(sweep.path.parent).stop(sweep.name, ask=what)


def delete(name: str, *, by: Visitor) -> None:
    """Removes a sweep that does not work; its runs stay. Raises JobRefused for one that works."""
    sweep = _own(name, by, "delete it")
    if sweep.status().live:
        raise JobRefused(f"sweep {name!r} works still; stop it first")
    with writing(sweep.path):
        shutil.rmtree(sweep.path)


def usual_slots() -> int:
    """Says how many runs a sweep trains at once where nobody chooses: as many as train at once here.

    On a Ray cluster, which knows itself what it has room for, they are as many as may wait.
    """
    return in_force().queue_length if cluster.setting() else queue.n_slots(queue.kind_for("auto"))


def _own(name: str, by: Visitor, act: str) -> Sweep:
    """Finds the sweep, if this visitor may change it. Raises NotAllowed for another's."""
    sweep = find(name)
    if sweep.shipped:
        raise NotAllowed(
            f"sweep {name!r} comes with the app, so nobody can {act}; train it again under another name"
        )
    if not sweep.may_change(by):
        raise NotAllowed(f"this sweep is another visitor's: only its owner and a teacher may {act}")
    return sweep
