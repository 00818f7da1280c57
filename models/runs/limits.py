"""What is refused before it starts: too many runs, too little disk or memory; and what to do about it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from models.byte_units import GB, MB, readable
from models.limits import in_force
from models.runs import slots
from models.runs.folder import RunFolder, list_runs
from models.runs.processes import memory_left
from models.runs.status import Status, read_status

if TYPE_CHECKING:
    from models.training.config import RunConfig

_SIDE_BYTES = 24 * MB  # snapshots, metrics, samples and TensorBoard's events, which are bounded
_BYTES_PER_PARAMETER = 12  # a checkpoint: the weight and the optimiser's two means, as float32


class JobRefused(ValueError):  # noqa: N818 (it is the page's answer, not a fault)
    """A run that may not start now; the text says why, and what to do."""


def check_queue(root: Path) -> None:
    """Raises JobRefused where as many runs wait as may."""
    queued = len(slots.waiting(root))
    most = in_force().queue_length
    if queued >= most:
        raise JobRefused(
            f"{queued} runs wait already, and at most {most} may; stop one, or wait for the first"
        )


def check_session(root: Path, session: str) -> None:
    """Raises JobRefused where a session has as many live runs as it may; "" is nobody's and has no limit."""
    if not session:
        return
    mine = [run for run in list_runs(root) if _is_live_of(read_status(run.path), session)]
    most = in_force().live_runs
    if len(mine) >= most:
        names = " and ".join(repr(run.name) for run in mine)
        raise JobRefused(
            f"{names} of yours train or wait already, and at most {most} may at once; "
            "stop one, or wait until it has finished"
        )


def _is_live_of(status: Status, session: str) -> bool:
    return status.live and status.session == session


def check_disk(root: Path, n_parameters: int) -> None:
    """Raises JobRefused where the runs would outgrow `runs_gb` together, or the disk."""
    needed = _SIDE_BYTES + _BYTES_PER_PARAMETER * n_parameters
    budget = in_force().runs_gb * GB
    sizes = {run.id: run.size_bytes() for run in list_runs(root)}
    used = RunFolder(root).size_bytes()
    largest = max(sizes, key=lambda run_id: sizes[run_id], default=None)
    remedy = "choose a smaller model"
    if largest is not None:
        remedy = f"delete some (the largest is {largest!r} with {readable(sizes[largest])}), or {remedy}"
    if used + needed > budget:
        raise JobRefused(
            f"this run needs up to {readable(needed)}, and all runs together have {readable(used)} of "
            f"{readable(budget)}; {remedy}, or set runs_gb higher in the file of limits"
        )
    free = shutil.disk_usage(root).free
    if needed > free:
        raise JobRefused(
            f"this run needs up to {readable(needed)}, but the disk has {readable(free)} left; {remedy}"
        )


def check_memory(config: RunConfig) -> int:
    """The parameters that a run will have. Raises JobRefused where it needs more memory than there is.

    What a GPU has left is not known before PyTorch runs there: the run's own process looks once more.
    """
    from models.engine.size import count_parameters

    if slots.kind_for(config.training.device) == "cpu":
        refuse_above(config, memory_left())
    return count_parameters(config.model).total


def refuse_above(config: RunConfig, free: int) -> None:
    """Raises JobRefused where a run needs more than `free` bytes, with the nearest sizes that need less."""
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
