"""Reads text from a file of any origin, and refuses with a sentence what is none."""

import codecs
import csv
import io
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from ..byte_units import MB, readable
from ..limits import in_force

# What a person called a file that is kept under the hash of its content; a file beside it says it.

ENDING = ".names"
_KEPT = re.compile(r"[0-9a-f]{64}\.[a-z0-9-]{1,12}")
_MOST, _MOST_BYTES, MOST_CHARACTERS = 8, 20_000, 120


def own_name(path: Path) -> str:
    """The name that its owner last gave a file; the file's own where nobody gave one."""
    return names_of(path)[0]


def names_of(path: Path) -> list[str]:
    """All names that were given to a file, the last first; at least one."""
    if not _KEPT.fullmatch(path.name):
        return [path.name]
    try:
        with names_file_of(path).open("rb") as file:
            names = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        names = []
    texts = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return [name[:MOST_CHARACTERS] for name in texts[:_MOST]] or [path.name]


def with_name(path: Path, name: str) -> bytes:
    """What to keep beside a file to which a person gives one more name; newer names come first."""
    plain = "".join(letter for letter in Path(name.replace("\\", "/")).name if letter.isprintable()).strip()
    before = [known for known in names_of(path) if known not in (plain, path.name)]
    return json.dumps([plain[:MOST_CHARACTERS] or path.name, *before][:_MOST]).encode()


def names_file_of(path: Path) -> Path:
    """The file that holds a file's names."""
    return path.with_name(path.name + ENDING)


# In which encoding a text was saved: as its mark says, as a person says, or else UTF-8. Nothing is guessed: a
# text in Windows-1252 is one in Windows-1250, too, with other letters.

AUTO = "auto"
TITLES: dict[str, str] = tomllib.loads(Path(__file__).with_name("encodings.toml").read_text(encoding="utf-8"))
"""What each encoding is called, by its name in Python."""
CHOICES = (AUTO, *TITLES)


def codec_of(begin: bytes, encoding: str = AUTO) -> str:
    """Python's name of the encoding of a text that begins so. encoding: one of `CHOICES`."""
    if encoding in (AUTO, "utf-8") or begin.startswith(codecs.BOM_UTF8):
        is_utf_16 = encoding == AUTO and begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return "utf-16" if is_utf_16 else "utf-8-sig"
    return encoding


def title_of(codec: str) -> str:
    """People know an encoding by this name."""
    name = codec.removesuffix("-sig")
    return TITLES.get(name, name)


def decode(raw: bytes, name: str, encoding: str = AUTO) -> tuple[str, str]:
    """The text of some bytes, and the codec that read it.

    encoding: one of `CHOICES`, or a codec that an earlier call returned. Raises ValueError, with value, rule
    and remedy, for bytes that are no text in it. name: of the file, for the sentence.
    """
    codec = codec_of(raw, encoding)
    try:
        text = raw.decode(codec)
    except LookupError:
        raise ValueError(f"encoding={encoding!r} is unknown; choose one of {', '.join(CHOICES)}") from None
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name!r} is no text in {title_of(codec)} (byte {error.start:,}); choose its encoding, such as "
            "cp1252, or save it as UTF-8"
        ) from None
    if "\0" in text:
        raise ValueError(
            f"{name!r} holds zero bytes; choose its encoding ({title_of(codec)} has none), or a text file"
        )
    return text, codec


# Text from a file of any origin: bounded, decoded, and refused with a sentence if it is none.

MAX_BYTES = in_force().text_file_mb * MB
MAX_ROWS = 1_000_000
"""They are all in memory."""
MAX_ROW = 1_000_000  # characters
EMPTY = "empty"


class ReadText(NamedTuple):
    """A file's text with lines ended by "\\n", what its owner calls it, its bytes, and its codec."""

    text: str
    name: str
    n_bytes: int
    codec: str


def read_text(path: Path, encoding: str = AUTO) -> str:
    """The file's text with lines ended by "\\n"; raises as `read_file` does."""
    return read_file(path, encoding).text


def read_file(path: Path, encoding: str = AUTO) -> ReadText:
    """A text file, as `decode` reads it.

    Raises ValueError, with value, rule and remedy, for a file that is missing, empty, too large or no
    text.
    """
    name = own_name(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{name!r} cannot be read ({error.strerror}); choose another file") from None
    if len(raw) > MAX_BYTES:
        raise ValueError(f"{name!r} is larger than {readable(MAX_BYTES)}; give a part of it")
    text, codec = decode(raw, name, encoding)
    if not text.strip():
        raise ValueError(f"{name!r} is empty; choose another file")
    return ReadText(text.replace("\r\n", "\n").replace("\r", "\n"), name, len(raw), codec)


def quoting_of(between: str) -> Literal[0, 3]:
    """Cells may stand in quotation marks (RFC 4180); between tabs such a mark is a sign like any other."""
    return csv.QUOTE_NONE if between == "\t" else csv.QUOTE_MINIMAL


def rows_of(
    text: str, name: str, between: str, *, left_out: Counter[str] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table that have something in them, each with the number of its line.

    left_out: counts the rows that are `EMPTY`. Raises
    ValueError, with value, rule and remedy, for what is no table, a row of more than a million characters,
    and more than a million rows.
    """
    begun = 0  # characters of the row that is being read

    def lines() -> Iterator[str]:
        nonlocal begun
        for line in io.StringIO(text, newline=""):
            begun += len(line)
            if begun > MAX_ROW:
                raise ValueError(
                    f"line {reader.line_num + 1} of {name!r} belongs to a row of over {MAX_ROW:,} "
                    "characters; is a quotation mark missing? Cut it"
                )
            yield line

    reader = csv.reader(lines(), delimiter=between, quoting=quoting_of(between))
    n_rows = 0
    try:
        for row in reader:
            begun = 0
            if any(cell.strip() for cell in row):
                n_rows += 1
                if n_rows > MAX_ROWS:
                    raise ValueError(f"{name!r} has more than {MAX_ROWS:,} rows; give a part of it")
                yield reader.line_num, row
            elif left_out is not None:
                left_out[EMPTY] += 1
    except csv.Error as error:
        raise ValueError(
            f"line {reader.line_num} of {name!r} is no line of a table ({error}); save it as CSV"
        ) from None
