"""Runs as jobs: submit, look, pause, resume, stop, on this machine or on a Ray cluster.

Pages know nothing else of where training happens. Each run is a process and a folder of its own; the folder
is the truth, so that a page, the command line and a server that was restarted all see the same.
"""

import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
from filelock import FileLock, Timeout

from ..files import IMPORT_ROOT
from ..training.config import RunConfig
from ..zoo.folders import check_runs_root, run_path, runs_root
from . import owners, queue
from .continuation import Change, changed_config, kept_step, make_further
from .folder import (
    CLUSTER,
    LOG,
    Ask,
    RunFolder,
    Status,
    create_run,
    delete_on,
    ended_on_request,
    hanging,
    list_runs,
    read_status,
    refusal_of,
    write_request,
    write_status,
)
from .owners import Visitor
from .processes import Identity, serving_process
from .queue import JobRefused, write_queued
from .ray import cluster
from .ray.cluster import any_in, leave

WORKER = [sys.executable, "-m", "attention_lab.models.runs.worker"]
KILL_SECONDS = 4.5
"""A process that does not end by itself so long after a request is killed."""
NICE = 10
"""Of a training's process, where 0 is the server's and 19 the least urgent."""


class Backend(ABC):
    """Where the runs of one folder train: on this machine, or where something takes them that writes the same
    folders.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @abstractmethod
    def check(self, config: RunConfig) -> int:
        """The run's number of parameters. Raises JobRefused where it cannot train there."""

    @abstractmethod
    def submit(self, run_id: str, *, keep_going: bool = False) -> None:
        """Accepts a run, new or resumed. Raises JobRefused where there is no room, and OSError where no
        process can be started.
        """

    def status(self, run_id: str) -> Status:
        """How the run stands now."""
        return read_status(self.root / run_id)

    def stop(self, run_id: str, *, ask: Ask = "stop") -> None:
        """Asks the run to end, within five seconds; returns at once. A run that has ended stays as it is.

        ask: "pause" for a run that will go on, "stop" for one that is done with.
        """
        folder = self.root / run_id
        status, hung = read_status(folder), hanging(folder)
        if status.watched and status.live:
            raise JobRefused("a program of your own trains it; end it there")
        if status.live:
            write_request(folder, ask)
            self._make_sure(folder, ask)
        elif hung is not None or (status.state == "paused" and ask == "stop"):
            if hung is not None:
                hung.kill()
            write_status(folder, ended_on_request(status, ask, status.sentence))

    def _make_sure(self, folder: Path, ask: Ask) -> None:
        """Ends a run that does not end by itself, unless somebody there does."""
        return


class LocalBackend(Backend):
    """Processes of this machine, one for each run; they queue for the machine's CPU and GPUs."""

    def check(self, config: RunConfig) -> int:
        """As for any; refused are more threads or memory than this machine has."""
        check_runs_root()
        queue.check_threads(config.training)
        return queue.check_memory(config)

    def submit(self, run_id: str, *, keep_going: bool = False) -> None:
        """Queues the run and starts its process."""
        folder = self.root / run_id
        device = str(RunFolder(folder).description()["training"]["device"])
        queue.check_queue(self.root)
        waits = write_queued(folder, "its process starts", keep_going=keep_going)
        queue.enter(self.root, run_id, queue.kind_for(device))
        try:
            _start(folder, None if keep_going else serving_process())
        except OSError as error:
            queue.leave(self.root, run_id)
            write_status(folder, refusal_of(waits, f"no process could start: {error}"))
            raise

    def _make_sure(self, folder: Path, ask: Ask) -> None:
        Thread(target=_kill_late, args=(folder,), name=f"stop {folder.name}", daemon=True).start()


def _start(folder: Path, parent: Identity | None) -> None:
    launch([*WORKER, str(folder.resolve()), *(["--parent", str(parent)] if parent else [])], folder)


def launch(command: list[str], folder: Path) -> None:
    """Starts a process that works on a folder and outlives this one; what it prints goes to the folder's log.

    Raises OSError where no process can be started.
    """
    # The server's OMP_NUM_THREADS is 1, for its small forward passes (attention_lab/__main__.py). A run has
    # the threads that its config states, or all cores, as its estimated time assumes. They slow no other
    # work: the worker has the wait policy of models/__init__.py, too, which lets idle threads sleep, and the
    # server's answers go before a training's steps.
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    with (folder / LOG).open("ab") as log:
        outputs: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": subprocess.STDOUT}
        outputs |= {"cwd": IMPORT_ROOT, "env": environment}
        process = subprocess.Popen(command, start_new_session=True, **outputs)
    with suppress(psutil.Error):  # it may have ended
        psutil.Process(process.pid).nice(psutil.BELOW_NORMAL_PRIORITY_CLASS if psutil.WINDOWS else NICE)
    # Somebody must collect a process that has ended, or it stays in the system's table.
    Thread(target=process.wait, name=f"collect {folder.name}", daemon=True).start()


def _kill_late(folder: Path) -> None:
    """Kills a process that has not ended by itself: the run's last checkpoint stands."""
    end = time.monotonic() + KILL_SECONDS
    process = None
    while time.monotonic() < end:
        status = read_status(folder)
        process = status.process or process
        if not status.live:
            return
        time.sleep(0.1)
    if process is not None:
        process.kill()


# Jobs on a Ray cluster
# The server never connects to the cluster itself, since Ray ends a process whose cluster is gone. It
# leaves a ticket for the dispatcher, a process of its own beside the runs (`models.runs.ray.dispatcher`),
# and starts that one's keeper (`models.runs.ray.keeper`) where none is at work.

KEEPER = [sys.executable, "-m", "attention_lab.models.runs.ray.keeper"]
KEEPER_LOCK = "keeper.lock"
UNWATCHED_SECONDS = 5.0
"""A run of the cluster without a sign of life for so long may have lost its dispatcher."""


class RayBackend(Backend):
    """Hands runs to a cluster's dispatcher, and starts it where none works; it ends those that do not end."""

    def check(self, config: RunConfig) -> int:
        """As for any; refused without a cluster, or where too many wait. The memory is checked there."""
        from ..engine.size import count_parameters

        cluster.address()
        queue.check_length(sum(read_status(run.path).state == "queued" for run in list_runs(self.root)))
        return count_parameters(config.model).total

    def submit(self, run_id: str, *, keep_going: bool = False) -> None:
        """Leaves a ticket for the dispatcher."""
        address, folder = cluster.address(), self.root / run_id
        write_queued(folder, f"asks the cluster at {address}", keep_going=keep_going, node=CLUSTER)
        ticket_folder = cluster.ticket_folder(self.root, address)
        leave(ticket_folder, run_id, "" if keep_going else str(serving_process()))
        _make_sure_of_a_keeper(self.root, ticket_folder, address)

    def status(self, run_id: str) -> Status:
        """How the run stands now. One that fell silent has somebody look after it again, if nobody does."""
        now = super().status(run_id)
        if now.live and now.node and time.time() - now.heartbeat > UNWATCHED_SECONDS:
            with suppress(JobRefused, OSError):
                address = cluster.stated_address()
                ticket_folder = cluster.ticket_folder(self.root, address)
                if any_in(ticket_folder):
                    _make_sure_of_a_keeper(self.root, ticket_folder, address)
        return now


def _make_sure_of_a_keeper(root: Path, ticket_folder: Path, address: str) -> None:
    """Starts one unless one holds the lock; it looks for tickets again after it has let go of the lock."""
    try:
        with FileLock(ticket_folder / KEEPER_LOCK, timeout=0):
            pass
    except Timeout:
        return
    launch([*KEEPER, str(root.resolve()), address], ticket_folder)


# Jobs, wherever they train


def backend() -> Backend:
    """The backend that all runs go to: this machine, or the Ray cluster that ATTENTION_LAB_RAY names."""
    return (RayBackend if os.environ.get(cluster.VARIABLE) else LocalBackend)(runs_root())


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
    with _admission(config, by, keep_going=keep_going):
        run = create_run(config, name=name, about=about)
        with delete_on(run, JobRefused):
            _start_jobs(run, by, keep_going=keep_going)
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
        if now.state == "finished":
            came = now.outcome if now.step < now.steps else f"has done its {now.steps:,} steps"
            raise JobRefused(f"run {run.name!r} {came}; train it further instead")
        queue.check_rights(run.config().training, by, keep_going=keep_going)
        queue.check_live(root, by)
        _start_jobs(run, by, keep_going=keep_going)


def extend(run_id: str, change: Change | int, *, by: Visitor) -> str:
    """Starts a new run that goes on from the last checkpoint of this one; returns its id.

    change: what is other from there on; a number alone is that of the steps in all. The old run stays as it
    is. A learning rate that falls with the steps follows the longer course, unless its schedule starts anew.
    Raises NotAllowed where the run is another's, JobRefused where it is live or has come as far, or a limit
    is met, and ValueError where it has no checkpoint, or for a change that the weights do not survive.
    """
    change = Change(steps=change) if isinstance(change, int) else change
    run = _own(run_id, by, "train it further")
    before, now = run.config(), status(run_id)
    _check_ended(run, now, "wait until it has ended, or stop it")
    step = kept_step(run)
    if change.steps <= now.step:
        raise JobRefused(f"steps={change.steps:,} are done already: {run.name!r} has {now.step:,}; give more")
    config = changed_config(run, before, change, step)
    minutes = config.training.minutes
    if minutes and now.seconds >= 60 * minutes:
        raise JobRefused(
            f"minutes={minutes:g} are used up: {run.name!r} has trained for {now.seconds / 60:.1f} minutes; "
            "give more, or 0 to go by steps"
        )
    with _admission(config, by, keep_going=False):
        further = make_further(run, config, change, step)
        with delete_on(further, JobRefused):
            _start_jobs(further, by, keep_going=False)
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
def _admission(config: RunConfig, by: Visitor, *, keep_going: bool) -> Iterator[None]:
    """Inside, one more run may be made and started. Raises JobRefused where a limit is met."""
    root, n_parameters = runs_root(), _check_run(config, by, keep_going=keep_going)
    with _alone(root):
        _check_root(root, by, n_parameters)
        yield


def _check_run(config: RunConfig, by: Visitor, *, keep_going: bool) -> int:
    """The run's number of parameters. Raises JobRefused where this visitor or machine cannot train it, and
    FileError where the runs' folder is a file.
    """
    queue.check_rights(config.training, by, keep_going=keep_going)
    check_runs_root()
    return backend().check(config)


def _check_root(root: Path, by: Visitor, n_parameters: int) -> None:
    """Raises JobRefused where the runs that there are leave no room for one more."""
    queue.check_live(root, by)
    queue.check_minutes(root, by)
    queue.check_queue(root)
    queue.check_disk(root, by, n_parameters)


def _start_jobs(run: RunFolder, by: Visitor, *, keep_going: bool) -> None:
    """Hands a run to the backend; its owner stays, and a run without one becomes this visitor's."""
    before = owners.ownership_of(run.path)
    minutes = queue.check_minutes(runs_root(), by)
    owners.write_owned(run.path, replace(before, owner=before.owner or by.id, minutes=minutes))
    backend().submit(run.id, keep_going=keep_going)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Inside, nobody else counts or starts runs. Raises JobRefused where that cannot be had."""
    try:
        lock = queue.submitting(root)
        lock.acquire()
    except Timeout:
        raise queue.Busy("other runs are being started just now; try again in a moment") from None
    except OSError as error:
        raise JobRefused(
            f"runs cannot be kept in {str(root)!r} ({error.strerror}); make it writable, "
            "or set ATTENTION_LAB_RUNS to another folder"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _check_ended(run: RunFolder, now: Status, remedy: str) -> None:
    if now.live:
        state = now.state
        raise JobRefused(
            f"run {run.name!r} is "
            f"{'running' if state == 'running' else 'queued' if state == 'queued' else 'stopping'}; {remedy}"
        )
