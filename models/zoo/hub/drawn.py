"""Pictures that are drawn by arithmetic, to be looked at where nobody has chosen one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, UInt8

SIDE = 224
Plane = Float[np.ndarray, "row column"]
Colour = tuple[float, float, float]


def drawn(number: int) -> UInt8[np.ndarray, "row column 3"]:
    """The picture of a number, 224 x 224 pixels. Raises ValueError for a number that has none."""
    if not 1 <= number <= len(NAMES):
        raise ValueError(f"no drawn picture has the number {number}; there are 1 to {len(NAMES)}")
    made = list(NAMES.values())[number - 1]()
    return np.asarray((255 * made).clip(0, 255).round(), np.uint8)


def _axes() -> tuple[Plane, Plane]:
    """Of each pixel its y, downwards, and its x, from -1 to 1."""
    line = (np.arange(SIDE) + 0.5) / SIDE * 2 - 1
    return line[:, None] + 0 * line[None], line[None] + 0 * line[:, None]


def _ground(above: Colour, below: Colour) -> np.ndarray:
    share = (_axes()[0] + 1) / 2
    return share[..., None] * np.array(below) + (1 - share[..., None]) * np.array(above)


def _put(picture: np.ndarray, inside: np.ndarray, colour: Colour) -> None:
    picture[inside] = colour


def _shapes() -> np.ndarray:
    y, x = _axes()
    picture = _ground((0.93, 0.95, 0.98), (0.78, 0.84, 0.9))
    _put(picture, (x + 0.45) ** 2 + (y + 0.4) ** 2 < 0.1, (0.85, 0.2, 0.18))
    _put(picture, (abs(x - 0.48) < 0.27) & (abs(y + 0.35) < 0.27), (0.15, 0.35, 0.75))
    _put(picture, (y > 0.1) & (y < 0.75) & (abs(x) < (y - 0.1) * 0.75), (0.2, 0.6, 0.3))
    return picture


def _house() -> np.ndarray:
    y, x = _axes()
    picture = _ground((0.55, 0.75, 0.95), (0.85, 0.92, 1.0))
    _put(picture, y > 0.55, (0.35, 0.6, 0.28))
    _put(picture, (x - 0.62) ** 2 + (y + 0.62) ** 2 < 0.05, (1.0, 0.85, 0.25))
    _put(picture, (abs(x + 0.1) < 0.42) & (y > -0.05) & (y < 0.65), (0.9, 0.82, 0.68))
    _put(picture, (y < -0.05) & (y > -0.55) & (abs(x + 0.1) < (y + 0.55) * 1.05), (0.68, 0.25, 0.2))
    _put(picture, (abs(x + 0.1) < 0.1) & (y > 0.28) & (y < 0.65), (0.4, 0.25, 0.15))
    _put(picture, (abs(abs(x + 0.1) - 0.27) < 0.07) & (abs(y - 0.15) < 0.08), (0.3, 0.45, 0.6))
    return picture


def _face() -> np.ndarray:
    y, x = _axes()
    picture = _ground((0.35, 0.3, 0.5), (0.2, 0.18, 0.32))
    _put(picture, x**2 + y**2 < 0.62, (0.98, 0.82, 0.3))
    for side in (-0.28, 0.28):
        _put(picture, (x - side) ** 2 + (y + 0.22) ** 2 < 0.012, (0.15, 0.12, 0.1))
    ring = x**2 + y**2
    _put(picture, (abs(ring - 0.22) < 0.045) & (y > 0.18), (0.55, 0.15, 0.12))
    return picture


NAMES: dict[str, Callable[[], np.ndarray]] = {"shapes": _shapes, "a house": _house, "a face": _face}
"""What each picture shows, in the order of their numbers."""
