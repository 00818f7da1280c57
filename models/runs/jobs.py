"""Runs as jobs: submit, look, pause, resume, stop. Pages know nothing else of where training happens.

Each run is a process and a folder of its own; the folder is the truth, so that a page, the command line and a
server that was restarted all see the same.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from filelock import Timeout

from models.runs import limits, owners, queue
from models.runs.backends import LocalBackend, RayBackend
from models.runs.continuation import Change, changed_config, kept_step, make_further
from models.runs.folder import RunFolder, create_run, delete_on
from models.runs.limits import JobRefused
from models.runs.owners import Visitor
from models.runs.status import Ask, Status
from models.training.config import RunConfig
from models.zoo.folders import CHECKPOINT, check_runs_root, run_path, runs_root


@runtime_checkable
class Backend(Protocol):
    """Where runs train: this machine, or something that takes them elsewhere and writes the same folders."""

    def check(self, config: RunConfig) -> int:
        """The run's number of parameters. Raises JobRefused where it cannot train there."""

    def submit(self, run_id: str, *, keep_going: bool = False) -> None:
        """Accepts a run, new or resumed. Raises JobRefused where there is no room."""

    def status(self, run_id: str) -> Status:
        """How the run stands now."""

    def stop(self, run_id: str, *, ask: Ask = "stop") -> None:
        """Asks the run to end within five seconds, or to pause; returns at once."""


def backend() -> Backend:
    """The backend that all runs go to: this machine, or the Ray cluster that ATTENTION_LAB_RAY names."""
    if os.environ.get("ATTENTION_LAB_RAY"):
        return RayBackend(runs_root())
    return LocalBackend(runs_root())


def submit(
    config: RunConfig,
    *,
    name: str = "",
    about: Mapping[str, Any] | None = None,
    by: Visitor,
    keep_going: bool = False,
) -> str:
    """Starts a run, or queues it; returns its id.

    about: what else its config.json says ("tags", "notes", "sweep"). by: the run's owner. keep_going:
    the run trains on when the server stops; otherwise it pauses then.
    Raises JobRefused, with the remedy, where a limit is reached.
    """
    with _admitted(config, by, keep_going=keep_going):
        run = create_run(config, name=name, about=about)
        with delete_on(run, JobRefused):
            _start(run, by, keep_going=keep_going)
    return run.id


def check(config: RunConfig, *, by: Visitor, keep_going: bool = False) -> None:
    """Raises JobRefused, with the remedy, where `submit` would refuse this run now, and FileError where the
    runs' folder is a file. Nothing is written.
    """
    root, n_parameters = runs_root(), _check_run(config, by, keep_going=keep_going)
    _check_root(root, by, n_parameters)


def resume(run_id: str, *, by: Visitor, keep_going: bool = False) -> None:
    """Lets a run go on from its last checkpoint, in the same folder.

    Raises NotAllowed where it is another's, and JobRefused where it is live, has nothing left to do, or a
    limit is met.
    """
    run, root = _own(run_id, by, "resume it"), runs_root()
    with _alone(root):
        now = status(run_id)
        _check_ended(run, now, "pause it first" if now.state == "running" else "wait until it has ended")
        if now.state == "finished" and now.step < now.steps:
            raise JobRefused(f"run {run.name!r} {now.outcome}; train it further instead")
        if now.state == "finished":
            raise JobRefused(f"run {run.name!r} has done its {now.steps:,} steps; train it further instead")
        limits.check_rights(run.config().training, by, keep_going=keep_going)
        limits.check_live(root, by)
        _start(run, by, keep_going=keep_going)


def extend(
    run_id: str, change: Change | int, *, name: str = "", by: Visitor, keep_going: bool = False
) -> str:
    """Starts a new run that goes on from the last checkpoint of this one; returns its id.

    change: what is other from there on; a number alone is that of the steps in all. The old run stays as it
    is. A learning rate that falls with the steps follows the longer course, unless its schedule starts anew.
    Raises NotAllowed where the run is another's, JobRefused where it is live or has come as far, or a limit
    is met, and ValueError for a change that the weights do not survive.
    """
    change = Change(steps=change) if isinstance(change, int) else change
    steps = change.steps
    run = _own(run_id, by, "train it further")
    now = status(run_id)
    _check_ended(run, now, "wait until it has ended, or stop it")
    if not (run.path / CHECKPOINT).is_file():
        raise JobRefused(f"run {run.name!r} has no checkpoint to go on from; resume it, or start a new run")
    if steps <= now.step:
        raise JobRefused(f"steps={steps:,} are done already: {run.name!r} has {now.step:,}; give more")
    step = kept_step(run)
    config = changed_config(run, run.config(), change, step)
    with _admitted(config, by, keep_going=keep_going):
        further = make_further(run, config, change, step, name)
        with delete_on(further, JobRefused):
            _start(further, by, keep_going=keep_going)
    return further.id


def status(run_id: str) -> Status:
    """How a run stands; one whose process has died without a word has failed."""
    return backend().status(run_folder(run_id).id)


def pause(run_id: str, *, by: Visitor) -> None:
    """The run writes a checkpoint and ends, within five seconds; `resume` lets it go on. Returns at once.

    Raises NotAllowed where it is another's; so do the functions below.
    """
    backend().stop(_own(run_id, by, "pause it").id, ask="pause")


def stop(run_id: str, *, by: Visitor) -> None:
    """The run writes a checkpoint and ends, within five seconds. Returns at once."""
    backend().stop(_own(run_id, by, "stop it").id, ask="stop")


def delete(run_id: str, *, by: Visitor) -> None:
    """Removes a run that has ended. Raises JobRefused for a live one."""
    run = _own(run_id, by, "delete it")
    with _alone(runs_root()):
        _check_ended(run, status(run_id), "stop it first")
        queue.note_killed(run.path)
        run.delete()


def rename(run_id: str, name: str, *, by: Visitor) -> None:
    """Gives a run another name. Raises ValueError for an empty or very long one."""
    _own(run_id, by, "rename it").rename(name)


def annotate(
    run_id: str, *, tags: Iterable[str] | None = None, notes: str | None = None, by: Visitor
) -> None:
    """Replaces a run's tags, its notes, or both. Raises ValueError for too many, or too long ones."""
    _own(run_id, by, "change its notes").annotate(tags=tags, notes=notes)


def share(run_id: str, *, shared: bool, by: Visitor) -> None:
    """Decides whether every visitor of a class may look at a run and open its model, or its owner alone."""
    owners.share(_own(run_id, by, "share it").path, shared=shared)


def run_folder(run_id: str) -> RunFolder:
    """The folder of a run, which lies in the runs' folder and nowhere else.

    Raises FileError for an invalid id, an id without a run, or a folder that is a link.
    """
    return RunFolder(run_path(run_id))


def _own(run_id: str, by: Visitor, act: str) -> RunFolder:
    """The folder of a run that this visitor may change. Raises NotAllowed for another's."""
    run = run_folder(run_id)
    owners.check(run.path, by, act)
    return run


@contextmanager
def _admitted(config: RunConfig, by: Visitor, *, keep_going: bool) -> Iterator[None]:
    """Inside, one more run may be made and started. Raises JobRefused where a limit is met."""
    root, n_parameters = runs_root(), _check_run(config, by, keep_going=keep_going)
    with _alone(root):
        _check_root(root, by, n_parameters)
        yield


def _check_run(config: RunConfig, by: Visitor, *, keep_going: bool) -> int:
    """The run's number of parameters. Raises JobRefused where this visitor or machine cannot train it, and
    FileError where the runs' folder is a file.
    """
    limits.check_rights(config.training, by, keep_going=keep_going)
    check_runs_root()
    return backend().check(config)


def _check_root(root: Path, by: Visitor, n_parameters: int) -> None:
    """Raises JobRefused where the runs that there are leave no room for one more."""
    limits.check_live(root, by)
    limits.check_minutes(root, by)
    limits.check_queue(root)
    limits.check_disk(root, by, n_parameters)


def _start(run: RunFolder, by: Visitor, *, keep_going: bool) -> None:
    """Hands a run to the backend; its owner stays, and a run without one becomes this visitor's."""
    before = owners.owned(run.path)
    minutes = limits.check_minutes(runs_root(), by)
    owners.write_owned(run.path, replace(before, owner=before.owner or by.id, minutes=minutes))
    backend().submit(run.id, keep_going=keep_going)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Inside, nobody else counts or starts runs. Raises JobRefused where that cannot be had."""
    try:
        lock = queue.submitting(root)
        lock.acquire()
    except Timeout:
        raise limits.Busy("other runs are being started just now; try again in a moment") from None
    except OSError as error:
        raise JobRefused(
            f"runs cannot be kept in {str(root)!r} ({error.strerror}); make it writable, "
            "or set ATTENTION_LAB_RUNS to a folder that is"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _check_ended(run: RunFolder, now: Status, remedy: str) -> None:
    if now.live:
        raise JobRefused(f"run {run.name!r} is {now.state}; {remedy}")
