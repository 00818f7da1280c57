"""Training tasks. Every file of this folder is imported, so that a task is found by being there."""

from ...registry import import_all
from .batch import (
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
from .task import TASKS, Tally, Task, generator_of, make_task, option, quotients

import_all(__name__, __path__)
