"""Sweeps: many runs that differ in chosen settings, drawn, watched, pruned and compared by one driver.

Made and read without torch, but for `create` and `plan`, which check the settings against the task.
"""

from .control import ask, create, delete, find, list_shipped, list_sweeps, start, sweeps_root
from .spec import Choices, Range, Spec, parse
from .sweep import Sweep, Trial
