"""Where runs train: processes of this machine, or a Ray cluster through its dispatcher."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread

from filelock import FileLock, Timeout

from models.limits import in_force
from models.runs import limits
from models.runs import queue as queue_module
from models.runs.folder import LOG, RunFolder, list_runs
from models.runs.limits import Busy, JobRefused
from models.runs.processes import Identity, serving_process
from models.runs.queue import write_queued
from models.runs.ray import cluster
from models.runs.ray.cluster import any_in, leave
from models.runs.status import (
    CLUSTER,
    Ask,
    Status,
    ended_by,
    hanging,
    read_status,
    refused,
    write_request,
    write_status,
)
from models.training.config import RunConfig
from models.zoo.folders import check_runs_root

# Jobs as processes of this machine: one process per run; they queue for the machine's CPU and GPUs.

ROOT = Path(__file__).parents[2]
WORKER = [sys.executable, "-m", "models.runs.worker"]
KILL_SECONDS = 4.5
"""A process that does not end by itself so long after a request is killed."""


class LocalBackend:
    """Starts, watches and ends the processes of the runs in one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def check(self, config: RunConfig) -> int:
        """The run's number of parameters.

        Raises JobRefused where it asks for more threads or memory than this machine has.
        """
        check_runs_root()
        limits.check_threads(config.training)
        return limits.check_memory(config)

    def submit(self, run_id: str, *, keep_going: bool = False) -> None:
        """Queues the run, new or resumed, and starts its process.

        Raises JobRefused where too many wait, and OSError where no process can be started.
        """
        folder = self.root / run_id
        device = str(RunFolder(folder).description()["training"]["device"])
        limits.check_queue(self.root)
        waits = write_queued(folder, "its process starts", keep_going=keep_going)
        queue_module.enter(self.root, run_id, queue_module.kind_for(device))
        try:
            _start(folder, None if keep_going else serving_process())
        except OSError as error:
            queue_module.leave(self.root, run_id)
            write_status(folder, refused(waits, f"no process could start: {error}"))
            raise

    def status(self, run_id: str) -> Status:
        """How the run stands now."""
        return read_status(self.root / run_id)

    def stop(self, run_id: str, *, ask: Ask = "stop") -> None:
        """Asks the run to end, within five seconds; returns at once. A run that has ended stays as it is.

        ask: "pause" for a run that will go on, "stop" for one that is done with.
        """
        folder = self.root / run_id
        status, hung = read_status(folder), hanging(folder)
        if status.live:
            write_request(folder, ask)
            Thread(target=_make_sure, args=(folder, ask), name=f"stop {run_id}", daemon=True).start()
        elif hung is not None:
            hung.kill()
            write_status(folder, replace(status, state=ended_by(ask), resumed=False))
        elif status.state == "paused" and ask == "stop":
            write_status(folder, replace(status, state="stopped", resumed=False))


def _start(folder: Path, parent: Identity | None) -> None:
    command = [*WORKER, str(folder.resolve())]
    if parent is not None:
        command += ["--parent", str(parent)]
    launch(command, folder)


def launch(command: list[str], folder: Path) -> None:
    """Starts a process that works on a folder and outlives this one; what it prints goes to the folder's log.

    Raises OSError where no process can be started.
    """
    # The server's OMP_NUM_THREADS is 1, for its small forward passes (tools/serve.py). A run has the threads
    # that its config states, or every core, as its estimated time assumes. They do not slow other work: the
    # worker has the wait policy of models/__init__.py, too, which lets idle threads sleep.
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    with (folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    # Somebody must collect a process that has ended, or it stays in the system's table.
    Thread(target=process.wait, name=f"collect {folder.name}", daemon=True).start()


def _make_sure(folder: Path, ask: Ask) -> None:
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


# Jobs on a Ray cluster: the same folders, requests and statuses as on this machine.
# The server never connects to the cluster itself, since Ray ends a process whose cluster is gone. It
# leaves a ticket for the dispatcher, a process of its own beside the runs (`models.runs.ray.dispatcher`),
# and starts that one's keeper (`models.runs.ray.keeper`) where none is at work.

KEEPER = [sys.executable, "-m", "models.runs.ray.keeper"]
KEEPER_LOCK = "keeper.lock"
UNWATCHED_SECONDS = 5.0
"""A run of the cluster without a sign of life for so long may have lost its dispatcher."""


class RayBackend:
    """Hands the runs of one folder to a cluster's dispatcher, and starts it where none works."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def check(self, config: RunConfig) -> int:
        """The run's number of parameters. Raises JobRefused where no cluster is there or too many runs wait.

        Whether a machine of the cluster has the memory is checked there.
        """
        from models.engine.size import count_parameters

        cluster.address()
        waiting = [run for run in list_runs(self.root) if read_status(run.path).state == "queued"]
        if len(waiting) >= in_force().queue_length:
            raise Busy(
                f"{len(waiting)} runs wait already, and at most {in_force().queue_length} may; stop one, or "
                "wait for the first"
            )
        return count_parameters(config.model).total

    def submit(self, run_id: str, *, keep_going: bool = False) -> None:
        """Leaves a ticket for the dispatcher.

        Raises JobRefused where no cluster answers, and OSError where no process can be started.
        """
        address, folder = cluster.address(), self.root / run_id
        write_queued(folder, f"asks the cluster at {address}", keep_going=keep_going, node=CLUSTER)
        office = cluster.office(self.root, address)
        leave(office, run_id, "" if keep_going else str(serving_process()))
        _make_sure_of_a_keeper(self.root, office, address)

    def status(self, run_id: str) -> Status:
        """How the run stands now. One that fell silent has somebody look after it again, if nobody does."""
        now = read_status(self.root / run_id)
        if now.live and now.node and time.time() - now.heartbeat > UNWATCHED_SECONDS:
            with suppress(JobRefused, OSError):
                address = cluster.named()
                office = cluster.office(self.root, address)
                if any_in(office):
                    _make_sure_of_a_keeper(self.root, office, address)
        return now

    def stop(self, run_id: str, *, ask: Ask = "stop") -> None:
        """Asks the run to end; returns at once. The dispatcher ends one that does not within five seconds."""
        folder = self.root / run_id
        status = read_status(folder)
        if status.live:
            write_request(folder, ask)
        elif status.state == "paused" and ask == "stop":
            write_status(folder, replace(status, state=ended_by(ask), resumed=False))


def _make_sure_of_a_keeper(root: Path, office: Path, address: str) -> None:
    """Starts one unless one holds the lock; it looks for tickets again after it has let go of the lock."""
    try:
        with FileLock(office / KEEPER_LOCK, timeout=0):
            pass
    except Timeout:
        return
    launch([*KEEPER, str(root.resolve()), address], office)
