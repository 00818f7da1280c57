"""Provides pictures to look at: a few drawn ones, and those of checked PNG, JPEG or WebP files."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import UInt8

from ...byte_units import MB, readable
from ...limits import in_force
from .isolation import first_line

if TYPE_CHECKING:
    from PIL.Image import Image


# Pictures to be looked at where nobody has chosen one.

DRAWN = Path(__file__).with_name("drawn")
NAMES = {"shapes": "shapes.png", "a house": "house.png", "a face": "face.png"}
"""Names each drawn picture, in the order of their numbers, and its file in `DRAWN`."""


def drawn_picture(number: int) -> UInt8[np.ndarray, "row column 3"]:
    """Reads the picture with this number, 224 x 224 pixels. Raises ValueError for a number that has none."""
    from PIL import Image

    if not 1 <= number <= len(NAMES):
        raise ValueError(f"no drawn picture has the number {number}; there are 1 to {len(NAMES)}")
    with Image.open(DRAWN / list(NAMES.values())[number - 1]) as picture:
        return np.array(picture)


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
