"""Text from a file of any origin: bounded, decoded by its mark, and refused with a sentence if it is none."""

import codecs
import csv
import io
from collections.abc import Iterator
from pathlib import Path

from models.byte_units import MB, readable
from models.limits import in_force

MAX_BYTES = in_force().text_file_mb * MB
MAX_ROWS = in_force().rows
MAX_ROW = 1_000_000  # characters
_MARKS = (  # a byte order mark says what the text is; that of UTF-32 begins like that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_text(path: Path) -> str:
    """The file's text with lines ended by "\\n": UTF-8, or what its byte order mark says.

    Raises ValueError, with value, rule and remedy, for a file that is missing, empty, too large or no
    text.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(
            f"{path.name!r} cannot be read ({error.strerror}); choose a file that is there"
        ) from None
    if len(raw) > MAX_BYTES:
        raise ValueError(f"{path.name!r} is larger than {readable(MAX_BYTES)}; give a part of it")
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name!r} is no text in UTF-8 or with a byte order mark (byte {error.start:,} does not "
            "fit); save it as UTF-8"
        ) from None
    if "\0" in text:
        raise ValueError(f"{path.name!r} holds zero bytes, as no text does; choose a text file, in UTF-8")
    if not text.strip():
        raise ValueError(f"{path.name!r} is empty; choose a file with text in it")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def rows_of(text: str, name: str, between: str, *, quoted: bool = True) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table that have something in them, each with the number of its line.

    quoted: whether a quotation mark may open a cell. Raises ValueError, with value, rule and remedy, for what
    is no table, a row of more than a million characters, and more than a million rows.
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
    except csv.Error as error:
        raise ValueError(
            f"line {reader.line_num} of {name!r} is no line of a table ({error}); save it as CSV"
        ) from None
