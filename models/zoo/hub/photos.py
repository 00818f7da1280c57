"""A picture in a file: PNG, JPEG or WebP, checked before it is decoded."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from models.byte_units import MB, readable
from models.limits import in_force

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP")
ENDINGS = ("png", "jpg", "jpeg", "webp")
LEAST_SIDE, MOST_SIDE = 8, 10_000
"""Pixels of a side."""
_WHICH = "hand in a PNG, JPEG or WebP file"


def opened(content: bytes | Path, name: str) -> Image:
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
            picture = Image.open(
                content if isinstance(content, Path) else io.BytesIO(content), formats=FORMATS
            )
        except Image.DecompressionBombError:
            raise ValueError(
                f"{called} has more than {2 * (Image.MAX_IMAGE_PIXELS or 0):,} pixels; {_most()}: make it "
                "smaller"
            ) from None
        except UnidentifiedImageError:
            raise ValueError(f"{called} is no picture that is known here; {_WHICH}") from None
        except Exception as error:  # decoders raise errors of every kind for what a damaged file holds
            raise ValueError(f"{called} could not be read: {_why(error)}; {_WHICH} that is whole") from None
        with picture:
            _check(picture, called)
            try:
                picture.load()
                ImageOps.exif_transpose(picture, in_place=True)
                return picture if picture.mode == "RGB" else picture.convert("RGB")
            except Exception as error:
                raise ValueError(f"{called} is damaged: {_why(error)}; {_WHICH} that is whole") from None


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
    if width * height > in_force().photo_megapixels * 1_000_000:
        raise ValueError(
            f"{called} has {width:,} x {height:,} pixels, {width * height / 1e6:,.1f} million; {_most()}: "
            "make it smaller"
        )
    n_frames = getattr(picture, "n_frames", 1) if picture.format != "MPO" else 1  # a still with a preview
    if n_frames > 1:
        raise ValueError(f"{called} moves: it has {n_frames:,} pictures; hand in one of them as a PNG file")


def _most() -> str:
    return f"at most {in_force().photo_megapixels} million are decoded"


def _why(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:120].rstrip(". ")
