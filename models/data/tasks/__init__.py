"""Training tasks. Every file of this folder is imported, so that a task is found by being there."""

from models.data.tasks.batch import (
    IGNORED,
    Advice,
    Aligned,
    Answers,
    Antecedent,
    Batch,
    Example,
    Judgement,
    Quotients,
    Rarity,
    Reading,
    Sample,
    Split,
    Writing,
)
from models.data.tasks.task import TASKS, Tally, Task, generator_of, make_task, option, quotients
from models.registry import import_all

__all__ = [
    "IGNORED",
    "TASKS",
    "Advice",
    "Aligned",
    "Answers",
    "Antecedent",
    "Batch",
    "Example",
    "Judgement",
    "Quotients",
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

import_all(__name__, __path__)
