"""Training tasks. Every file of this folder is imported, so that a task is found by being there."""

from importlib import import_module
from pkgutil import iter_modules

from models.data.tasks.batch import (
    IGNORED,
    Advice,
    Aligned,
    At,
    Batch,
    Each,
    Example,
    Judged,
    Named,
    Rarity,
    Reading,
    Sample,
    Split,
    Writing,
)
from models.data.tasks.task import TASKS, Tally, Task, generator_of, make_task, option, quotients

__all__ = [
    "IGNORED",
    "TASKS",
    "Advice",
    "Aligned",
    "At",
    "Batch",
    "Each",
    "Example",
    "Judged",
    "Named",
    "Rarity",
    "Reading",
    "Sample",
    "Split",
    "Tally",
    "Task",
    "Writing",
    "generator_of",
    "make_task",
    "option",
    "quotients",
]

for found in iter_modules(__path__):
    import_module(f"{__name__}.{found.name}")
