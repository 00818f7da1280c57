"""The knobs, a file each; every file of this folder is imported and calls `register`."""

from models.contrast.knob import KNOBS, Knob
from models.registry import import_all

import_all(__name__, __path__)


def knobs() -> dict[str, Knob]:
    """Every knob by its name, in the order of a menu."""
    return {knob.name: knob for knob in sorted(KNOBS.values(), key=lambda each: each.order)}
