"""The knobs, found by being there: each file of this folder has a KNOB."""

from functools import cache

from ...registry import import_all
from ..knob import Knob


@cache
def knobs() -> dict[str, Knob]:
    """Every knob by its name, in the order of a menu."""
    every = [module.KNOB for module in import_all(__name__, __path__)]
    return {knob.name: knob for knob in sorted(every, key=lambda each: each.order)}
