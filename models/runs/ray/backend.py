"""Jobs on a Ray cluster: the same folders, requests and statuses as on this machine.

The server never connects to the cluster itself, since Ray ends a process whose cluster is gone. It leaves a
ticket for the dispatcher, a process of its own beside the runs (`models.runs.ray.dispatcher`), and starts
that one's keeper (`models.runs.ray.keeper`) where none is at work.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from models.limits import in_force
from models.runs.folder import list_runs
from models.runs.limits import Busy, JobRefused
from models.runs.local import launch
from models.runs.processes import serving_process
from models.runs.queued import queue
from models.runs.ray import cluster
from models.runs.ray.tickets import any_in, leave
from models.runs.status import CLUSTER, Ask, Status, ended_by, read_status, write_request, write_status
from models.training.config import RunConfig

KEEPER = [sys.executable, "-m", "models.runs.ray.keeper"]
LOCK = "keeper.lock"
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
        found, folder = cluster.address(), self.root / run_id
        queue(folder, f"asks the cluster at {found}", keep_going=keep_going, node=CLUSTER)
        office = cluster.office(self.root, found)
        leave(office, run_id, "" if keep_going else str(serving_process()))
        _make_sure_of_a_keeper(self.root, office, found)

    def status(self, run_id: str) -> Status:
        """How the run stands now. One that fell silent has somebody look after it again, if nobody does."""
        now = read_status(self.root / run_id)
        if now.live and now.node and time.time() - now.heartbeat > UNWATCHED_SECONDS:
            with suppress(JobRefused, OSError):
                found = cluster.named()
                office = cluster.office(self.root, found)
                if any_in(office):
                    _make_sure_of_a_keeper(self.root, office, found)
        return now

    def stop(self, run_id: str, *, ask: Ask = "stop") -> None:
        """Asks the run to end; returns at once. The dispatcher ends one that does not within five seconds."""
        folder = self.root / run_id
        status = read_status(folder)
        if status.live:
            write_request(folder, ask)
        elif status.state == "paused" and ask == "stop":
            write_status(folder, replace(status, state=ended_by(ask), resumed=False))


def _make_sure_of_a_keeper(root: Path, office: Path, found: str) -> None:
    """Starts one unless one holds the lock; it looks for tickets again after it has let go of the lock."""
    try:
        with FileLock(office / LOCK, timeout=0):
            pass
    except Timeout:
        return
    launch([*KEEPER, str(root.resolve()), found], office)
