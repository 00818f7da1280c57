"""The knobs, a file each; every file of this folder is imported and calls `register`."""

from importlib import import_module
from pkgutil import iter_modules

from models.contrast.knob import KNOBS, Knob

for found in iter_modules(__path__):
    import_module(f"{__name__}.{found.name}")


def knobs() -> dict[str, Knob]:
    """Every knob by its name, in the order of a menu."""
    return {knob.name: knob for knob in sorted(KNOBS.values(), key=lambda each: each.order)}
