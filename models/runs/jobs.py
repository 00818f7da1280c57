"""Runs as jobs: submit, look, pause, resume, stop. All that pages know of where training happens.

Each run is a process and a folder of its own; the folder is the truth, so that a page, the command line and a
server that was restarted all see the same.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from filelock import Timeout

from models.runs import limits, slots
from models.runs.folder import METRICS, PICTURES, SAMPLES, SNAPSHOTS, RunFolder, create_run
from models.runs.limits import JobRefused
from models.runs.local import LocalBackend
from models.runs.status import Ask, Status
from models.training.config import RunConfig
from models.zoo.run_folders import CHECKPOINT, PROBE, run_path, runs_root

__all__ = [
    "Backend",
    "JobRefused",
    "Status",
    "backend",
    "delete",
    "extend",
    "pause",
    "resume",
    "run_folder",
    "status",
    "stop",
    "submit",
]

_KEPT = (CHECKPOINT, METRICS, SAMPLES, PROBE)


@runtime_checkable
class Backend(Protocol):
    """Where runs train: this machine, or something that takes them elsewhere and writes the same folders."""

    def submit(self, run_id: str, *, session: str = "", keep_going: bool = False) -> None:
        """Takes a run on, for its first step or its next. Raises JobRefused where there is no room."""

    def status(self, run_id: str) -> Status:
        """How the run stands now."""

    def stop(self, run_id: str, *, ask: Ask = "stop") -> None:
        """Asks the run to end within five seconds, or to pause; returns at once."""


def backend() -> Backend:
    """The one that all runs go to."""
    return LocalBackend(runs_root())


def submit(config: RunConfig, *, name: str = "", session: str = "", keep_going: bool = False) -> str:
    """Starts a run, or queues it; returns its id.

    session: of a page's visitor, who may have two live runs at once. keep_going: train on when the server
    stops; otherwise the run pauses then. Raises JobRefused, with the remedy, where a limit is met.
    """
    n_parameters = limits.check_memory(config)
    root = runs_root()
    with _alone(root):
        limits.check_session(root, session)
        limits.check_queue(root)
        limits.check_disk(root, n_parameters)
        run = create_run(config, name=name)
        backend().submit(run.id, session=session, keep_going=keep_going)
    return run.id


def resume(run_id: str, *, session: str = "", keep_going: bool = False) -> None:
    """Lets a run go on from its last checkpoint, in the same folder.

    Raises JobRefused where it is live, has nothing left to do, or a limit is met.
    """
    run, root = run_folder(run_id), runs_root()
    with _alone(root):
        now = status(run_id)
        _check_ended(run, now, "pause it first" if now.state == "running" else "wait until it has ended")
        if now.state == "finished":
            raise JobRefused(f"run {run.name!r} has done its {now.steps:,} steps; train it further instead")
        limits.check_session(root, session)
        backend().submit(run_id, session=session, keep_going=keep_going)


def extend(run_id: str, steps: int, *, session: str = "", keep_going: bool = False) -> str:
    """A new run that goes on from the last checkpoint of this one, to `steps` in all; returns its id.

    The old run stays as it is. A learning rate that falls with the steps follows the longer course from there
    on. Raises JobRefused where the run is live or has come as far, or a limit is met.
    """
    run, root = run_folder(run_id), runs_root()
    now = status(run_id)
    _check_ended(run, now, "wait until it has ended, or stop it")
    if not (run.path / CHECKPOINT).is_file():
        raise JobRefused(f"run {run.name!r} has no checkpoint to go on from; resume it, or start a new run")
    if steps <= now.step:
        raise JobRefused(f"steps={steps:,} are done already: {run.name!r} has {now.step:,}; give more")
    config = run.config()
    config = replace(config, training=replace(config.training, steps=steps))
    n_parameters = limits.check_memory(config)
    with _alone(root):
        limits.check_session(root, session)
        limits.check_queue(root)
        limits.check_disk(root, n_parameters)
        further = create_run(config, name=_further(run.name, steps))
        _copy(run, further)
        backend().submit(further.id, session=session, keep_going=keep_going)
    return further.id


def status(run_id: str) -> Status:
    """How a run stands; a process that has died without a word reads as failed."""
    return backend().status(run_folder(run_id).id)


def pause(run_id: str) -> None:
    """The run writes a checkpoint and ends, within five seconds; `resume` lets it go on. Returns at once."""
    backend().stop(run_folder(run_id).id, ask="pause")


def stop(run_id: str) -> None:
    """The run writes a checkpoint and ends, within five seconds. Returns at once."""
    backend().stop(run_folder(run_id).id, ask="stop")


def delete(run_id: str) -> None:
    """Removes a run that has ended. Raises JobRefused for a live one."""
    run = run_folder(run_id)
    with _alone(runs_root()):
        _check_ended(run, status(run_id), "stop it first")
        run.delete()


def run_folder(run_id: str) -> RunFolder:
    """The folder of a run, which lies in the runs' folder and nowhere else.

    Raises FileError for an id that is none, that names no run, or whose folder is a link.
    """
    return RunFolder(run_path(run_id))


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Inside, nobody else counts or starts runs. Raises JobRefused where that cannot be had."""
    try:
        lock = slots.submitting(root)
        lock.acquire()
    except Timeout:
        raise JobRefused("other runs are being started just now; try again in a moment") from None
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


def _further(name: str, steps: int) -> str:
    """The new run's name says how far it goes, and stays short however often a run is trained further."""
    first = re.sub(r" to [\d,]+ steps$", "", name)
    return f"{first[:60]} to {steps:,} steps"


def _copy(run: RunFolder, further: RunFolder) -> None:
    for name in _KEPT:
        if (run.path / name).is_file():
            shutil.copyfile(run.path / name, further.path / name)
    for name in (SNAPSHOTS, PICTURES):
        if (run.path / name).is_dir():
            shutil.copytree(run.path / name, further.path / name)
