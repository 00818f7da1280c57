"""Collects the training tasks: every file of this folder is imported and so found."""

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
