"""The sweeps that a visitor may see."""

from models.files import FileError
from models.sweeps import Sweep, list_shipped, list_sweeps
from models.sweeps import find as find_any
from pages.shared import visitors

MOST = 200
"""Sweeps that the page lists; older ones are on the disk and in the command line's list."""


def every() -> list[Sweep]:
    """The sweeps that this visitor may see, newest first, and then those that ship."""
    visitor = visitors.visitor()
    own = [sweep for sweep in list_sweeps() if sweep.may_see(visitor)][:MOST]
    names = {sweep.name for sweep in own}
    return [*own, *(sweep for sweep in list_shipped() if sweep.name not in names)]


def first() -> Sweep | None:
    """The sweep that a first visit opens."""
    return next(iter(every()), None)


def find(name: str) -> Sweep | None:
    """The sweep of a name, which anybody may send; None where this visitor may see none."""
    try:
        sweep = find_any(name)
    except (FileError, ValueError):
        return next((each for each in list_shipped() if each.name == name), None)
    return sweep if sweep.may_see(visitors.visitor()) else None
