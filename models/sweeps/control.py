"""Sweeps as jobs: create, find, start, pause, stop, delete. Pages know nothing else of where they work.

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
from .sweep import SPEC, VERSION, ShippedSweep, Sweep, list_shipped

_MOST_SKIPPED = 200  # settings that make no model: no page shows more
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
    root, most = sweeps_root(), in_force().sweeps
    if len(list_sweeps()) >= most:
        raise JobRefused(f"{most} sweeps are kept already, and no more may be; delete one, its runs stay")
    plain = re.sub(r"[^a-z0-9]+", "-", spec.task.lower())[:20].strip("-")
    name = spec.name or f"{plain}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
    path = root / name
    try:
        path.mkdir()
    except FileExistsError:
        first = re.sub(r"-\d+$", "", name)[:44]
        free = next(f"{first}-{n}" for n in range(2, 10_000) if not (root / f"{first}-{n}").exists())
        raise ValueError(
            f"there is a sweep {name!r} already; resume it, delete it, or take another name, such as {free!r}"
        ) from None
    except OSError:
        with writing(path):
            raise
    try:
        owners.write_owned(path, Ownership(owner=by.id))
        optuna_study.begin(path, whole.spec, whole.points or [])
        described = {
            "version": VERSION,
            "id": secrets.token_hex(6),
            "created": datetime.now(UTC).isoformat(timespec="microseconds"),
            "spec": whole.spec.to_dict() | {"name": name},
            "skipped": [{"settings": each, "sentence": why} for each, why in whole.skipped[:_MOST_SKIPPED]],
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
    path = sweeps_root() / name if re.fullmatch(NAME, name) else None
    if path is None or not (path / SPEC).is_file():
        for shipped in list_shipped():
            if shipped.name == name:
                return shipped
    if path is None or path.is_symlink() or not (path / SPEC).is_file():
        known = ", ".join(sweep.name for sweep in list_sweeps()[:5]) or "none"
        raise FileError(f"there is no sweep {name[:60]!r}; the latest are: {known}")
    return Sweep(path)


def list_sweeps() -> list[Sweep]:
    """All sweeps, newest first, including damaged ones."""
    every = [
        Sweep(path.parent)
        for path in sweeps_root().glob(f"*/{SPEC}")
        if not path.parent.is_symlink() and re.fullmatch(NAME, path.parent.name)
    ]
    return sorted(every, key=lambda sweep: (sweep.created, sweep.name), reverse=True)


def start(name: str, *, by: Visitor, n_slots: int = 0, keep_going: bool = False) -> None:
    """Lets a sweep work, or go on, in a process of its own; returns at once.

    n_slots: runs that it trains at once, 0 for as many as the limits allow. keep_going: it works on when the
    server stops; otherwise it pauses then. Raises NotAllowed where it is another's, and JobRefused where it
    works already, has nothing left to do, or a limit is met.
    """
    sweep = _own(name, by, "start it")
    folder = sweep.path
    with queue.submitting(runs_root()):  # another server may start it this moment
        check_startable(sweep, by, keep_going=keep_going)
        now, hung = sweep.status(), hanging(folder)
        if hung is not None:
            hung.kill()
        (folder / REQUEST).unlink(missing_ok=True)
        write_status(folder, queued_status(sweep, now, keep_going=keep_going))
    command = [*DRIVER, str(folder.resolve()), "--owner", by.id, "--slots", str(n_slots)]
    command += ["--all-rights"] if by.all_rights else []
    command += ["--keep-going"] if keep_going else ["--parent", str(serving_process())]
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
    sweep.delete()


def check_startable(sweep: Sweep, by: Visitor, *, keep_going: bool = False) -> None:
    """Raises JobRefused where a sweep works already or is done, or `by` has as many at work as may be."""
    now = sweep.status()
    if now.live:
        raise JobRefused(f"sweep {sweep.name!r} works already; pause it first")
    if now.state == "finished":
        raise JobRefused(
            f"sweep {sweep.name!r} has tried its {now.steps:,} settings; start a new one for more"
        )
    if keep_going and not by.all_rights:
        raise JobRefused("only a teacher's sweeps go on when the server stops; start it without that")
    if in_force().read_only:
        raise JobRefused(
            "this server is for looking only (read_only): it trains nothing; run the app on your own machine"
        )
    most = in_force().live_sweeps
    live = [each.name for each in list_sweeps() if owners.is_of(each.path, by) and each.status().live]
    if len(live) >= most:
        raise JobRefused(
            f"{' and '.join(map(repr, live))} of yours works already, and at most {most} may at once; "
            "pause it, or wait until it has finished"
        )


def queued_status(sweep: Sweep, before: Status, *, keep_going: bool) -> Status:
    """The status of a sweep whose driver starts this moment."""
    now = time.time()
    done = Status(state="queued", step=before.step, steps=sweep.spec.trials, seconds=before.seconds)
    return replace(done, sentence="its process starts", keep_going=keep_going, queued_at=now, heartbeat=now)


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
    if isinstance(sweep, ShippedSweep):
        raise NotAllowed(
            f"sweep {name!r} ships with the app, so nobody can {act}; train it again under another name"
        )
    if not sweep.may_change(by):
        raise NotAllowed(f"this sweep is another visitor's: only its owner and a teacher may {act}")
    return sweep
