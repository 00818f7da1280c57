"""Whether a run fits into memory, asked before it starts; and what to say when it did not."""

from __future__ import annotations

from models.byte_units import readable
from models.runs.limits import JobRefused
from models.runs.processes import memory_left
from models.runs.slots import kind_for
from models.training.config import RunConfig


def check_memory(config: RunConfig) -> int:
    """The parameters that a run will have. Raises JobRefused where it needs more memory than there is.

    What a GPU has left is not known before PyTorch runs there: the run's own process looks once more.
    """
    from models.engine.size import count_parameters

    if kind_for(config.training.device) == "cpu":
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
