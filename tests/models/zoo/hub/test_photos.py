"""A picture in a file is opened, or refused in a sentence before it is decoded."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

from attention_lab.models.zoo.hub import photos
from tests.limits import SetLimits

GREY = Image.fromarray(np.full((20, 30, 3), 128, np.uint8))


def file_of(picture: Image.Image, kind: str, **how: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **how)
    return file.getvalue()


def empty_png(width: int, height: int) -> bytes:
    """A PNG file of so many black pixels, which takes few bytes."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_each_format_is_opened_in_colour(kind: str) -> None:
    picture = photos.open_picture(file_of(GREY.convert("L"), kind), "grey")
    assert (picture.mode, picture.size) == ("RGB", (30, 20))
    assert abs(np.asarray(picture).astype(int) - 128).max() <= 1


def test_a_picture_stands_as_its_camera_held_it() -> None:
    turned = Image.Exif()
    turned[274] = 6
    assert photos.open_picture(file_of(GREY, "JPEG", exif=turned), "turned").size == (20, 30)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            empty_png(1, 100_000),
            "'it' has 1 x 100,000 pixels; each side must have 8 to 10,000: cut it or make it smaller",
        ),
        (
            empty_png(6_000, 5_000),
            "'it' has 6,000 x 5,000 pixels, 30.0 million; at most 24 million are decoded: make it smaller",
        ),
        (
            empty_png(60_000, 60_000),
            "'it' has more than 178,956,970 pixels; at most 24 million are decoded: make it smaller",
        ),
        (b"no picture at all", "'it' is no known picture; hand in a PNG, JPEG or WebP file"),
        (b"", "'it' is no known picture; hand in a PNG, JPEG or WebP file"),
        (file_of(GREY, "GIF"), "'it' is no known picture; hand in a PNG, JPEG or WebP file"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said_in_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(ValueError) as raised:
        photos.open_picture(content, "it")
    assert str(raised.value) == sentence


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_a_picture_that_moves_is_refused(kind: str) -> None:
    frames = [GREY, Image.fromarray(np.full((20, 30, 3), 9, np.uint8))]
    moving = file_of(frames[0], kind, save_all=True, append_images=frames[1:])
    with pytest.raises(
        ValueError, match="'it' is an animation of 2 pictures; hand in one of them as a PNG file"
    ):
        photos.open_picture(moving, "it")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_damaged_picture_is_refused(kind: str) -> None:
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8))
    with pytest.raises(ValueError, match=r"hand in a PNG, JPEG or WebP file that is whole|known here"):
        photos.open_picture(file_of(noise, kind)[:-900], "it")


def test_a_file_of_too_many_bytes_is_refused(set_limits: SetLimits) -> None:
    set_limits(upload_mb=1)
    with pytest.raises(ValueError, match=r"'it' has .*; at most 1 MB are read: make it smaller"):
        photos.open_picture(bytes(1_000_001), "it")
