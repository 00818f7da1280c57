"""Provides pictures to look at, drawn by arithmetic or read from checked PNG, JPEG or WebP files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, UInt8

from ...byte_units import MB, readable
from ...limits import in_force
from .isolation import first_line

if TYPE_CHECKING:
    from PIL.Image import Image


# Pictures that are drawn by arithmetic, to be looked at where nobody has chosen one.

SIDE = 224
Plane = Float[np.ndarray, "row column"]
Colour = tuple[float, float, float]


def drawn_picture(number: int) -> UInt8[np.ndarray, "row column 3"]:
    """The picture of a number, 224 x 224 pixels. Raises ValueError for a number that has none."""
    if not 1 <= number <= len(NAMES):
        raise ValueError(f"no drawn picture has the number {number}; there are 1 to {len(NAMES)}")
    shares = list(NAMES.values())[number - 1]()
    return np.asarray((255 * shares).clip(0, 255).round(), np.uint8)


def _axes() -> tuple[Plane, Plane]:
    """Of each pixel its y, downwards, and its x, from -1 to 1."""
    line = (np.arange(SIDE) + 0.5) / SIDE * 2 - 1
    return line[:, None] + 0 * line[None], line[None] + 0 * line[:, None]


def _ground(above: Colour, below: Colour) -> np.ndarray:
    share = (_axes()[0] + 1) / 2
    return share[..., None] * np.array(below) + (1 - share[..., None]) * np.array(above)


def _shapes() -> np.ndarray:
    y, x = _axes()
    picture = _ground((0.93, 0.95, 0.98), (0.78, 0.84, 0.9))
    picture[(x + 0.45) ** 2 + (y + 0.4) ** 2 < 0.1] = (0.85, 0.2, 0.18)
    picture[(abs(x - 0.48) < 0.27) & (abs(y + 0.35) < 0.27)] = (0.15, 0.35, 0.75)
    picture[(y > 0.1) & (y < 0.75) & (abs(x) < (y - 0.1) * 0.75)] = (0.2, 0.6, 0.3)
    return picture


def _house() -> np.ndarray:
    y, x = _axes()
    picture = _ground((0.55, 0.75, 0.95), (0.85, 0.92, 1.0))
    picture[y > 0.55] = (0.35, 0.6, 0.28)
    picture[(x - 0.62) ** 2 + (y + 0.62) ** 2 < 0.05] = (1.0, 0.85, 0.25)
    picture[(abs(x + 0.1) < 0.42) & (y > -0.05) & (y < 0.65)] = (0.9, 0.82, 0.68)
    picture[(y < -0.05) & (y > -0.55) & (abs(x + 0.1) < (y + 0.55) * 1.05)] = (0.68, 0.25, 0.2)
    picture[(abs(x + 0.1) < 0.1) & (y > 0.28) & (y < 0.65)] = (0.4, 0.25, 0.15)
    picture[(abs(abs(x + 0.1) - 0.27) < 0.07) & (abs(y - 0.15) < 0.08)] = (0.3, 0.45, 0.6)
    return picture


def _face() -> np.ndarray:
    y, x = _axes()
    picture = _ground((0.35, 0.3, 0.5), (0.2, 0.18, 0.32))
    picture[x**2 + y**2 < 0.62] = (0.98, 0.82, 0.3)
    for side in (-0.28, 0.28):
        picture[(x - side) ** 2 + (y + 0.22) ** 2 < 0.012] = (0.15, 0.12, 0.1)
    picture[(abs(x**2 + y**2 - 0.22) < 0.045) & (y > 0.18)] = (0.55, 0.15, 0.12)
    return picture


NAMES: dict[str, Callable[[], np.ndarray]] = {"shapes": _shapes, "a house": _house, "a face": _face}
"""What each picture shows, in the order of their numbers."""


# A picture in a file: PNG, JPEG or WebP, checked before it is decoded.

FORMATS = ("PNG", "JPEG", "WEBP")
ENDINGS = ("png", "jpg", "jpeg", "webp")
LEAST_SIDE, MOST_SIDE = 8, 10_000
"""Pixels of a side."""
MOST_MEGAPIXELS = 24
"""Millions of pixels of a picture: each takes a few bytes while it is decoded."""
_WHICH = "hand in a PNG, JPEG or WebP file"


def open_picture(content: bytes | Path, name: str) -> Image:
    """The picture of a file in red, green and blue, turned as its camera says.

    Raises ValueError, with a sentence that names the file, for one that is no such picture, too large, or
    moving. Its size is known from its first bytes, before any pixel is.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    called = repr(name[:80])
    size = content.stat().st_size if isinstance(content, Path) else len(content)
    if size > in_force().upload_mb * MB:
        raise ValueError(
            f"{called} has {readable(size)}; at most {in_force().upload_mb} MB are read: make it smaller"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of large pictures, which are refused here
        try:
            file = content if isinstance(content, Path) else io.BytesIO(content)
            picture = Image.open(file, formats=FORMATS)
        except Image.DecompressionBombError:
            raise ValueError(
                f"{called} has more than {2 * (Image.MAX_IMAGE_PIXELS or 0):,} pixels; {_most()}: make it "
                "smaller"
            ) from None
        except UnidentifiedImageError:
            raise ValueError(f"{called} is no known picture; {_WHICH}") from None
        except Exception as error:  # decoders raise errors of every kind for what a damaged file holds
            why = first_line(error)
            raise ValueError(f"{called} could not be read: {why}; {_WHICH} that is whole") from None
        with picture:
            _check(picture, called)
            try:
                picture.load()
                ImageOps.exif_transpose(picture, in_place=True)
                return picture if picture.mode == "RGB" else picture.convert("RGB")
            except Exception as error:
                why = first_line(error)
                raise ValueError(f"{called} is damaged: {why}; {_WHICH} that is whole") from None


def ending_of(content: bytes) -> str:
    """The ending of a picture's file, by its first bytes."""
    starts = {b"\x89PNG": "png", b"\xff\xd8": "jpg"}
    return next((ending for start, ending in starts.items() if content.startswith(start)), "webp")


def _check(picture: Image, called: str) -> None:
    width, height = picture.size
    short, long = sorted(picture.size)
    if short < LEAST_SIDE or long > MOST_SIDE:
        raise ValueError(
            f"{called} has {width:,} x {height:,} pixels; each side must have {LEAST_SIDE} to {MOST_SIDE:,}: "
            "cut it or make it smaller"
        )
    if width * height > MOST_MEGAPIXELS * 1_000_000:
        raise ValueError(
            f"{called} has {width:,} x {height:,} pixels, {width * height / 1e6:,.1f} million; {_most()}: "
            "make it smaller"
        )
    n_frames = getattr(picture, "n_frames", 1) if picture.format != "MPO" else 1  # a still with a preview
    if n_frames > 1:
        raise ValueError(
            f"{called} is an animation of {n_frames:,} pictures; hand in one of them as a PNG file"
        )


def _most() -> str:
    return f"at most {MOST_MEGAPIXELS} million are decoded"
