"""What a node of the cluster does with a run: the same as a process of this machine, in the same folder."""

import socket
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from ..folder import LOCK, LOG, RunFolder, ended_by, read_request, read_status
from ..owners import ownership_of
from ..worker import Watch

LAST_ONE_SECONDS = 10.0
"""To wait for a process that had the run before and has not seen yet that it is another's."""
RETRIES = 3
"""So often a run whose worker or machine was lost goes on elsewhere from its last checkpoint."""


class Assignment(NamedTuple):
    """What a node is told of a run. root: the folder of the runs. token: the name of a file that the
    dispatcher wrote there: a node that does not see it has another folder. attempt: of the dispatcher; cpus:
    threads where the run's config asks for none.
    """

    root: str
    token: str
    run_id: str
    attempt: int
    cpus: int

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return Path(self.root) / self.run_id


def train(assignment: Assignment) -> str:
    """Trains a run in this process of a node; returns a sentence where it could not, else ""."""
    unseen = not_seen(assignment)
    if unseen:
        return unseen
    folder = assignment.folder
    if not folder.is_dir():
        return ""  # deleted meanwhile
    try:
        with (
            FileLock(folder / LOCK, timeout=LAST_ONE_SECONDS),
            (folder / LOG).open("a", encoding="utf-8") as log,
            redirect_stderr(log),
        ):
            _work(folder, assignment)
    except Timeout:
        return "another process still trains this run; stop it, then resume"
    return ""


def _work(folder: Path, assignment: Assignment) -> None:
    from ..worker import work

    before = read_status(folder)
    if not before.live or before.attempt > assignment.attempt:
        return
    status = replace(before, node=_node(), attempt=assignment.attempt)
    watch = Watch(folder, status, minutes=ownership_of(folder).minutes)
    with watch:
        request = read_request(folder)
        if request:
            watch.finish(ended_by(request))
            return
        import torch

        # The process may have trained another run before, with other threads.
        torch.set_num_threads(RunFolder(folder).config().training.threads or assignment.cpus)
        work(watch)


def not_seen(assignment: Assignment) -> str:
    """A sentence where this node does not see the folder of the runs; "" where it does."""
    if (Path(assignment.root) / ".ray" / assignment.token).is_file():
        return ""
    return (
        f"the folder of the runs, {assignment.root!r}, is not the same on {_node()}; put it where all "
        "machines see it at the same path (ATTENTION_LAB_RUNS)"
    )


def _node() -> str:
    import ray

    return str(ray.util.get_node_ip_address() if ray.is_initialized() else socket.gethostname())
