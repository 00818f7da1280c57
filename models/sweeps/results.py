"""How the runs of a sweep stand and what they reached, as its driver reads them."""

import math
import os
from typing import TypeGuard

from models.files import FileError
from models.runs import jobs
from models.runs.folder import RunFolder
from models.runs.limits import JobRefused, NoRoom
from models.runs.status import Status
from models.sweeps.sweep import Sweep, in_words

RAY = "ATTENTION_LAB_RAY"


def outcome(sweep: Sweep) -> str:
    """The best trial of a sweep that has ended, in words."""
    best = sweep.best()
    if best is None:
        return "no trial has a value"
    return f"best is trial {best.number} ({in_words(best.settings)}): {sweep.spec.score} {best.value:.4g}"


def check_cluster() -> None:
    """Raises NoRoom where runs are to train on a cluster, and none answers: the sweep waits for it, then."""
    if os.environ.get(RAY):
        from models.runs.ray import cluster

        try:
            cluster.address()
        except JobRefused as error:
            raise NoRoom(str(error)) from None


def status_of(run_id: str) -> Status:
    """How a run stands; one whose folder is gone was stopped."""
    try:
        return jobs.status(run_id)
    except FileError as error:
        return Status(state="failed", sentence=f"{error}")


def last_score(run: RunFolder, score: str) -> float | None:
    """A score in the last validation; None where it is not there or no finite number."""
    for entry in reversed(run.metrics()):
        found = entry.get("validation")
        if isinstance(found, dict):
            value = found.get(score)
            return float(value) if is_finite(value) else None
    return None


def is_finite(value: object) -> TypeGuard[int | float]:
    """Whether it is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
