"""Text from a file of any origin: bounded, decoded, and refused with a sentence if it is none."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from models.byte_units import MB, readable
from models.data.encodings import AUTO, Encoding, decoded
from models.data.own_names import own_name
from models.limits import in_force

MAX_BYTES = in_force().text_file_mb * MB
MAX_ROWS = in_force().rows
MAX_ROW = 1_000_000  # characters
EMPTY = "empty"


class ReadText(NamedTuple):
    """A file's text with lines ended by "\\n", what its owner calls it, its bytes, and how they were read."""

    text: str
    name: str
    n_bytes: int
    encoding: Encoding


def read_text(path: Path, encoding: str = AUTO) -> str:
    """The file's text with lines ended by "\\n"; raises as `read_file` does."""
    return read_file(path, encoding).text


def read_file(path: Path, encoding: str = AUTO) -> ReadText:
    """A text file in the encoding that is said, or that its bytes show.

    Raises ValueError, with value, rule and remedy, for a file that is missing, empty, too large or no
    text.
    """
    name = own_name(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{name!r} cannot be read ({error.strerror}); choose a file that is there") from None
    if len(raw) > MAX_BYTES:
        raise ValueError(f"{name!r} is larger than {readable(MAX_BYTES)}; give a part of it")
    text, found = decoded(raw, name, encoding)
    if not text.strip():
        raise ValueError(f"{name!r} is empty; choose a file with text in it")
    return ReadText(text.replace("\r\n", "\n").replace("\r", "\n"), name, len(raw), found)


def rows_of(
    text: str, name: str, between: str, *, quoted: bool = True, left_out: Counter[str] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table that have something in them, each with the number of its line.

    quoted: whether a quotation mark may open a cell. left_out: counts the rows that are `EMPTY`. Raises
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
                    f"line {reader.line_num + 1} of {name!r} belongs to a row of more than {MAX_ROW:,} "
                    "characters; is a quotation mark missing? Cut it"
                )
            yield line

    reader = csv.reader(lines(), delimiter=between, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    found = 0
    try:
        for row in reader:
            begun = 0
            if any(cell.strip() for cell in row):
                found += 1
                if found > MAX_ROWS:
                    raise ValueError(f"{name!r} has more than {MAX_ROWS:,} rows; give a part of it")
                yield reader.line_num, row
            elif left_out is not None:
                left_out[EMPTY] += 1
    except csv.Error as error:
        raise ValueError(
            f"line {reader.line_num} of {name!r} is no line of a table ({error}); save it as CSV"
        ) from None
