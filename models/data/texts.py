"""A text file of anybody's, read or refused in words."""

from __future__ import annotations

import codecs
from pathlib import Path

MAX_BYTES = 200 << 20
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16's, which it begins with
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_LOOK = 4096  # bytes that tell UTF-16 without a mark


def read_text(path: str | Path) -> str:
    """The characters of a text file, lines ended by "\\n": UTF-8, or UTF-16 and UTF-32 with their marks.

    Raises ValueError for a file that is missing, empty, longer than 200 MB, or no text.
    """
    path = Path(path).expanduser()
    raw = _bytes(path)
    mark = next((mark for mark in _MARKS if raw.startswith(mark)), b"")
    coding = _MARKS[mark] if mark else _without_mark(raw)
    try:
        text = raw[len(mark) :].decode(coding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{str(path)!r} is no text: byte {error.start + len(mark):,} is not {coding.upper()}; "
            "save it as UTF-8, or choose another file"
        ) from None
    if "\0" in text[:_LOOK]:
        raise ValueError(f"{str(path)!r} is no text: it has zero bytes; choose a text file")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise ValueError(f"{str(path)!r} is empty; choose a file with text in it")
    return text


def _bytes(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise ValueError(
                f"{str(path)!r} has {size / (1 << 20):,.0f} MB; give at most {MAX_BYTES >> 20}, or a part of it"
            )
        with path.open("rb") as file:  # whatever grows meanwhile, or has no length, is cut
            raw = file.read(MAX_BYTES + 1) if path.is_file() else b""
    except OSError as error:
        raise ValueError(
            f"{str(path)!r} cannot be read ({error.strerror or error}); give the path of a text file"
        ) from None
    if not raw:
        raise ValueError(f"{str(path)!r} is empty; choose a file with text in it")
    return raw[:MAX_BYTES]


def _without_mark(raw: bytes) -> str:
    """UTF-16 of a western text has a zero in every other byte; all else is taken for UTF-8."""
    look = raw[:_LOOK]
    for at, coding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = look[at::2].count(0)
        if len(look) >= 4 and zeros > 0.4 * len(look) / 2 and look[1 - at :: 2].count(0) == 0:
            return coding
    return "utf-8"
