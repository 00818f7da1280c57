"""Creates, finds, starts, pauses, stops and deletes sweeps; pages know nothing else of where they work.

Each sweep has a folder in `.sweeps` among the runs, and while it works a process of its own, its driver.
"""

import re
import secrets
import shutil
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from ..files import FileError, write_json, writing
from ..limits import in_force
from ..runs import jobs, owners, queue
from ..runs.folder import REQUEST, Ask, Status, hanging, write_status
from ..runs.owners import NotAllowed, Ownership, Visitor
from ..runs.processes import serving_process
from ..runs.queue import JobRefused
from ..runs.ray import cluster
from ..zoo.folders import check_runs_root, runs_root
from .spec import NAME, Spec
from .sweep import SPEC, VERSION, Sweep, list_shipped

MOST_KEPT = 100
"""Sweeps that are kept: a page lists them all."""
MOST_LIVE = 1
"""Sweeps of one visitor that go on at once: each has a process of its own, with about 300 MB."""
DRIVER = [sys.executable, "-m", "attention_lab.models.sweeps.driver"]


def sweeps_root() -> Path:
    """Where the folders of sweeps are, beside those of the runs."""
    return runs_root() / ".sweeps"


def create(spec: Spec, *, by: Visitor) -> Sweep:
    """Makes the folder of a new sweep, which `start` lets work.

    by: its owner. Raises ValueError for what the task cannot do or where a sweep has the name already,
    JobRefused for more than the limits allow, WriteError where the disk refuses.
    """
    from . import optuna_study
    from .plan import plan

    whole = plan(spec, by=by)
    queue.check_rights(whole.config.training, by, keep_going=False)
    jobs.backend().check(whole.config)
    check_runs_root()
    root = sweeps_root()
    if len(list_sweeps()) >= MOST_KEPT:
        raise JobRefused(
            f"{MOST_KEPT} sweeps are kept already, the most there may be; delete one, its runs stay"
        )
    plain = re.sub(r"[^a-z0-9]+", "-", spec.task.lower())[:20].strip("-")
    name = spec.name or f"{plain}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    path = root / name
    if path.exists():
        first = re.sub(r"-\d+$", "", name)[:44]
        free = next(f"{first}-{n}" for n in range(2, 10_000) if not (root / f"{first}-{n}").exists())
        raise ValueError(
            f"there is a sweep {name!r} already; resume it, delete it, or take another name, such as {free!r}"
        )
    with writing(path):
        path.mkdir(parents=True)
    try:
        owners.write_owned(path, Ownership(owner=by.id))
        optuna_study.begin(path, whole.spec, whole.points)
        described = {
            "version": VERSION,
            "id": secrets.token_hex(6),
            "created": datetime.now(UTC).isoformat(timespec="microseconds"),
            "spec": whole.spec.to_dict() | {"name": name},
        }
        write_json(path / SPEC, described)  # last: it makes the folder a sweep
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return Sweep(path)


def find(name: str) -> Sweep:
    """The sweep of a name, which may come from anybody: one made here, else one that ships.

    Raises FileError where there is none.
    """
    path = sweeps_root() / name
    if re.fullmatch(NAME, name) and (path / SPEC).is_file() and not path.is_symlink():
        return Sweep(path)
    for shipped in list_shipped():
        if shipped.name == name:
            return shipped
    known = ", ".join(sweep.name for sweep in list_sweeps()[:5]) or "none"
    raise FileError(f"there is no sweep {name[:60]!r}; the latest are: {known}")


def list_sweeps() -> list[Sweep]:
    """All sweeps, newest first, including damaged ones."""
    every = [
        Sweep(path.parent)
        for path in sweeps_root().glob(f"*/{SPEC}")
        if not path.parent.is_symlink() and re.fullmatch(NAME, path.parent.name)
    ]
    return sorted(every, key=lambda sweep: (sweep.created, sweep.name), reverse=True)


def start(name: str, *, by: Visitor, n_slots: int = 0) -> None:
    """Lets a sweep work, or go on, in a process of its own; returns at once.

    n_slots: runs that it trains at once, 0 for as many as the limits allow. It pauses when the server stops.
    Raises NotAllowed where it is another's, and JobRefused where it works already, has nothing left to do, or
    a limit is met.
    """
    sweep = _own(name, by, "start it")
    folder = sweep.path
    with queue.submitting(runs_root()):  # another server may start it this moment
        _check_startable(sweep, by)
        before, hung, now = sweep.status(), hanging(folder), time.time()
        if hung is not None:
            hung.kill()
        (folder / REQUEST).unlink(missing_ok=True)
        waits = Status(state="queued", step=before.step, steps=sweep.spec.trials, seconds=before.seconds)
        waits = replace(waits, sentence="its process starts")
        write_status(folder, replace(waits, queued_at=now, heartbeat=now))
    command = [*DRIVER, str(folder.resolve()), "--owner", by.id, "--slots", str(n_slots)]
    command += ["--all-rights"] if by.all_rights else []
    command += ["--parent", str(serving_process())]
    try:
        jobs.launch(command, folder)
    except OSError as error:
        raise JobRefused(f"no process could start: {error}") from None


resume = start


def pause(name: str, *, by: Visitor) -> None:
    """It pauses its runs and ends, within five seconds; `start` lets it go on. Returns at once.

    Raises NotAllowed where it is another's; so do the functions below.
    """
    _ask(name, "pause", by)


def stop(name: str, *, by: Visitor) -> None:
    """It stops its runs, which keep their checkpoints, and ends, within five seconds. Returns at once."""
    _ask(name, "stop", by)


def delete(name: str, *, by: Visitor) -> None:
    """Removes a sweep that does not work; its runs stay. Raises JobRefused for one that works."""
    sweep = _own(name, by, "delete it")
    if sweep.status().live:
        raise JobRefused(f"sweep {name!r} works still; stop it first")
    with writing(sweep.path):
        shutil.rmtree(sweep.path)


def _check_startable(sweep: Sweep, by: Visitor) -> None:
    """Raises JobRefused where a sweep works already or is done, or `by` has as many at work as may be."""
    now = sweep.status()
    if now.live:
        raise JobRefused(f"sweep {sweep.name!r} works already; pause it first")
    if now.state == "finished":
        raise JobRefused(
            f"sweep {sweep.name!r} has tried its {now.steps:,} settings; start a new one for more"
        )
    if in_force().read_only:
        raise JobRefused("this server is read-only: it trains nothing; run the app on your own machine")
    live = [each.name for each in list_sweeps() if owners.is_of(each.path, by) and each.status().live]
    if len(live) >= MOST_LIVE:
        raise JobRefused(
            f"{' and '.join(map(repr, live))} of yours works already, the most there may be; "
            "pause it, or wait until it has finished"
        )


def usual_slots() -> int:
    """How many runs a sweep trains at once where nobody says: as many as train at once here.

    On a Ray cluster, which knows itself what it has room for, they are as many as may wait.
    """
    if cluster.setting():
        return in_force().queue_length
    return queue.n_slots(queue.kind_for("auto"))


def _ask(name: str, ask: Ask, by: Visitor) -> None:
    sweep = _own(name, by, f"{ask} it")
    jobs.LocalBackend(sweep.path.parent).stop(sweep.name, ask=ask)


def _own(name: str, by: Visitor, act: str) -> Sweep:
    """The sweep that this visitor may change. Raises NotAllowed for another's."""
    sweep = find(name)
    if sweep.shipped:
        raise NotAllowed(
            f"sweep {name!r} comes with the app, so nobody can {act}; train it again under another name"
        )
    if not sweep.may_change(by):
        raise NotAllowed(f"this sweep is another visitor's: only its owner and a teacher may {act}")
    return sweep
