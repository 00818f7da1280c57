"""Sweeps: many runs that differ in chosen settings, drawn, watched, pruned and compared by one driver.

Made and read without torch, but for `create` and `plan`, which check the settings against the task.
"""

from .control import create, delete, find, list_sweeps, pause, resume, start, stop, sweeps_root, usual_slots
from .spec import Choices, Range, Spec, parse
from .sweep import DONE, Sweep, Trial, by_rank, list_shipped
