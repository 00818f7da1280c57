"""What is refused before it starts: too many runs, too little disk or memory; and what to do about it."""

import math
import shutil
from pathlib import Path

from models.byte_units import GB, MB, readable
from models.limits import in_force
from models.runs import queue
from models.runs.folder import RunFolder, list_runs
from models.runs.owners import Visitor, is_of, may_change
from models.runs.processes import memory_left
from models.runs.status import read_status
from models.training.config import RunConfig, TrainingConfig

_RECORD_MB = 7  # metrics, samples and TensorBoard's events together
_BYTES_PER_PARAMETER = 20
"""A checkpoint has the weight and the optimiser's two means, as float32; the best weights and those that wait
to take their place have one float32 each."""


class JobRefused(ValueError):  # noqa: N818 (it is the page's answer, not a fault)
    """A run that may not start now; the text says why, and what to do."""


class Busy(JobRefused):
    """Refused only for now: others train or wait, and the same may start when they have ended."""


class NoRoom(JobRefused):
    """Refused until somebody makes room: of disk, or of a visitor's minutes."""


def check_queue(root: Path) -> None:
    """Raises JobRefused where the queue is full."""
    queued = len(queue.waiting(root))
    most = in_force().queue_length
    if queued >= most:
        raise Busy(f"{queued} runs wait already, and at most {most} may; stop one, or wait for the first")


def check_live(root: Path, visitor: Visitor) -> None:
    """Raises JobRefused where as many of a visitor's runs train or wait as the limits allow."""
    most = in_force().live_runs
    live = [run for run in list_runs(root) if is_of(run.path, visitor) and read_status(run.path).live]
    if len(live) >= most:
        names = " and ".join(repr(run.name) for run in live)
        raise Busy(
            f"{names} of yours train or wait already, and at most {most} may at once; "
            "stop one, or wait until it has finished"
        )


def check_rights(training: TrainingConfig, visitor: Visitor, *, keep_going: bool) -> None:
    """Raises JobRefused for a run that this visitor, or any visitor, may not start here."""
    limits = in_force()
    if limits.read_only:
        raise JobRefused(
            "this server is for looking only (read_only): it trains nothing; run the app on your own machine"
        )
    if training.threads > limits.threads:
        raise JobRefused(
            f"threads={training.threads:,}, and at most {limits.threads:,} are given here; "
            f"try {limits.threads}, or 0 for as many as there are cores"
        )
    if visitor.all_rights:
        return
    if not visitor.id:
        raise JobRefused(
            "your browser keeps no cookie of this server, so a run of yours would be nobody's; "
            "allow cookies for this address, then load the page again"
        )
    if keep_going:
        raise JobRefused("only a teacher's runs go on when the server stops; start it without that")
    if training.steps > limits.visitor_steps:
        raise JobRefused(
            f"steps={training.steps:,}, and a visitor's run has at most {limits.visitor_steps:,}; "
            "take fewer steps, or ask your teacher to train it"
        )


def check_threads(training: TrainingConfig) -> None:
    """Raises JobRefused for more threads than this machine has cores."""
    from models.training import memory

    try:
        memory.check_threads(training)
    except ValueError as error:
        raise JobRefused(str(error)) from None


def check_minutes(root: Path, visitor: Visitor) -> int:
    """Minutes that a visitor's run may keep its slot, 0 for no limit. Raises JobRefused if none is left."""
    if visitor.all_rights:
        return 0
    limits, used = in_force(), queue.minutes_spent(root, visitor.id)
    left = int(limits.visitor_minutes_a_day - used)
    if left < 1:
        raise NoRoom(
            f"your runs trained for {used:.0f} minutes within a day, and at most "
            f"{limits.visitor_minutes_a_day} are yours; come again in "
            f"{math.ceil(queue.hours_until_less(root, visitor.id))} hours, or ask your teacher to train it"
        )
    return min(limits.visitor_minutes, left)


def check_disk(root: Path, visitor: Visitor, n_parameters: int) -> None:
    """Raises JobRefused where runs would outgrow `runs_gb`, a visitor's `visitor_runs_mb`, or the disk.

    The remedy names only runs that the visitor may delete.
    """
    limits = in_force()
    beside = (limits.snapshots_mb + limits.log_mb + _RECORD_MB) * MB
    needed = beside + _BYTES_PER_PARAMETER * n_parameters
    theirs = {run: run.size_bytes() for run in list_runs(root) if may_change(run.path, visitor)}
    remedy = "choose a smaller model"
    if theirs:
        largest, size = max(theirs.items(), key=lambda item: item[1])
        remedy = f"delete some (the largest is {largest.name!r} with {readable(size)}), or {remedy}"
    if not visitor.all_rights:
        _check_room(needed, "your runs", sum(theirs.values()), limits.visitor_runs_mb * MB, remedy)
    elsewhere = f"{remedy}, or set runs_gb higher in the file of limits" if visitor.all_rights else remedy
    _check_room(needed, "all runs", RunFolder(root).size_bytes(), limits.runs_gb * GB, elsewhere)
    free = shutil.disk_usage(_existing(root)).free
    if needed > free:
        raise NoRoom(
            f"this run needs up to {readable(needed)}, but the disk has {readable(free)} left; {remedy}"
        )


def _existing(folder: Path) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    return next(path for path in (folder.absolute(), *folder.absolute().parents) if path.is_dir())


def _check_room(needed: int, whose: str, used: int, most: int, remedy: str) -> None:
    if used + needed > most:
        raise NoRoom(
            f"this run needs up to {readable(needed)}, and {whose} together have {readable(used)} of "
            f"{readable(most)}; {remedy}"
        )


def check_memory(config: RunConfig) -> int:
    """The number of parameters of a run. Raises JobRefused where it needs more memory than there is.

    The free memory of a GPU is not known before PyTorch runs there: the run's own process checks it.
    """
    from models.engine.size import count_parameters

    if queue.kind_for(config.training.device) == "cpu":
        refuse_above(config, memory_left())
    return count_parameters(config.model).total


def refuse_above(config: RunConfig, free: int) -> None:
    """Raises JobRefused, with the nearest sizes that need less, where a run needs more than `free` bytes."""
    from models.training.memory import memory_bytes, remedy

    needed = memory_bytes(config)
    if needed > free:
        raise JobRefused(
            f"this run needs about {readable(needed)} of memory, but {readable(free)} are free; "
            f"{remedy(config, free)}"
        )


def out_of_memory(config: RunConfig) -> str:
    """The remedy for a run that needed more than was estimated: sizes that should need half as much."""
    from models.training.memory import PROCESS_BYTES, memory_bytes, remedy

    needed = memory_bytes(config)
    return remedy(config, needed - max(0, needed - PROCESS_BYTES) // 2)
