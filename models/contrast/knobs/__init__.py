"""The knobs, found by being there: each file of this folder has a KNOB, and its words in words.toml."""

from functools import cache

from ...registry import import_all
from ..knob import WORDS, Knob


@cache
def knobs() -> dict[str, Knob]:
    """Every knob by its name, in the order of a menu."""
    every = {module.KNOB.name: module.KNOB for module in import_all(__name__, __path__)}
    return {name: every[name] for name in WORDS}
