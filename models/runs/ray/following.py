"""Follows a run of a cluster from the command line, which shows it as one of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from models.runs.backends import RayBackend
from models.runs.folder import RunFolder
from models.runs.limits import JobRefused
from models.runs.status import Status
from models.runs.worker import heeding_signals
from models.training.loop import Record
from models.zoo.folders import runs_root

LOOK_SECONDS = 0.5


def train_there(folder: RunFolder, on_record: Callable[[Record], None] | None = None) -> Status:
    """Gives a run to the cluster and waits until it has ended. A signal to end (Ctrl-C, SIGTERM) pauses it,
    as in one process, and so does the dispatcher where this process is gone.

    on_record: is given the record of each step that was kept. Raises JobRefused where the run lies elsewhere
    than among all runs, trains already, or no cluster is there.
    """
    backend = RayBackend(runs_root())
    if folder.path.absolute().parent != runs_root().absolute():
        raise JobRefused(
            f"{str(folder.path)!r} is not among all runs, where the cluster looks; leave --out away, or take "
            "ATTENTION_LAB_RAY away to train on this machine"
        )
    now = backend.status(folder.id)
    if now.live:
        raise JobRefused(f"run {folder.name!r} is {now.state} already; stop it first")
    seen, asked = now.step, _Asked()
    with heeding_signals(asked):
        backend.submit(folder.id)
        while True:
            now = backend.status(folder.id)
            for line in folder.metrics(after_step=seen):
                seen = line["step"]
                if on_record is not None:
                    on_record(_record(line))
            if not now.live:
                return now
            if asked.signalled:
                asked.signalled = False
                backend.stop(folder.id, ask="pause")
            time.sleep(LOOK_SECONDS)


class _Asked:
    signalled = False


def _record(line: dict[str, Any]) -> Record:
    """The record of a step as the run's file has it."""
    names = ("step", "loss", "losses", "learning_rate", "gradient_norm", "tokens_per_second", "memory")
    return Record(*(line[name] for name in names), validation=line.get("validation"))
