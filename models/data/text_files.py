"""Text from a file of any origin: what its owner called it, how it is encoded, bounded, and refused with a
sentence if it is none.

Encodings are detected by charset-normalizer, among those that are offered here. What is detected is said,
and what is no more than a guess is said to be one.
"""

import codecs
import csv
import io
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from charset_normalizer import CharsetMatch, from_bytes

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


# In which encoding a text was saved: as its mark says, as UTF-8, as a person says, or else as detected.

AUTO = "auto"
TITLES: dict[str, str] = tomllib.loads(Path(__file__).with_name("encodings.toml").read_text(encoding="utf-8"))
"""What each encoding is called, by its name in Python."""
CHOICES = (AUTO, *TITLES)

_MARKS = (  # a byte order mark says what the text is; that of UTF-32 begins like that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DETECTED = [name for name in TITLES if name not in ("utf-8", "utf-16", "latin-1", "iso-8859-15")]
_LOOKED_AT = 1 << 16  # bytes, of lines that are not ASCII
_USUAL = {"cp1252": 0.05, "cp1257": -0.1}  # what is common needs less evidence than what is rare
_LIKE, _SURE = 0.02, 0.08  # differences of `_likeness`
_NOT_ASCII_LINE = re.compile(rb"[^\n]{0,400}[\x80-\xff][^\n]{0,400}\n?")
_NOT_ASCII_WORD = re.compile(r"\w{0,12}[^\x00-\x7f]\w{0,12}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")  # neither blanks nor line ends
_TWICE = re.compile(r"[\u00c2\u00c3][\u0080-\u00bf]|\u00e2\u20ac[\u0153\u2122\u00a6\u201c\u009d]")


@dataclass(frozen=True)
class Encoding:
    """How a text's bytes were read.

    codec: Python's name, to read the file alike once more. how: "said" by a person, by the file's "mark",
    "plain" UTF-8, "detected", or a "guess" where another encoding is as likely. doubt: a sentence about what
    may be wrong with it; "" where nothing is.
    """

    codec: str
    how: str
    doubt: str = ""

    @property
    def title(self) -> str:
        """What people call it."""
        plain = self.codec.removesuffix("-sig").removesuffix("-le").removesuffix("-be")
        return TITLES.get(plain, plain.upper())

    def __str__(self) -> str:
        origins = {"said": ", as chosen", "mark": ", by its mark", "detected": ", as detected"}
        return f"{self.title}{', which is a guess' if self.how == 'guess' else origins.get(self.how, '')}"


def decode(raw: bytes, name: str, encoding: str = AUTO) -> tuple[str, Encoding]:
    """The text of some bytes. encoding: one of `CHOICES`, or a codec that an earlier call returned.

    Raises ValueError, with value, rule and remedy, for bytes that are no text in it, or in any that is known
    here. name: of the file, for the sentence.
    """
    mark = next((codec for begin, codec in _MARKS if raw.startswith(begin)), "")
    if encoding != AUTO:
        return _as_said(raw, name, encoding, mark)
    codec = mark or "utf-8"
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError as error:
        if codec != "utf-8":
            raise ValueError(
                f"{name!r} begins with the mark of {codec.upper()}, and byte {error.start:,} does not fit "
                "it; save it again as UTF-8"
            ) from None
        text, reading = _detected(raw, name, error.start)
    else:
        reading = Encoding(codec, "mark" if mark else "plain", _odd(text))
    if "\0" in text:
        raise ValueError(f"{name!r} holds zero bytes, as no text does; choose a text file, in UTF-8")
    return text, reading


def _as_said(raw: bytes, name: str, encoding: str, mark: str) -> tuple[str, Encoding]:
    if mark and not mark.startswith(encoding.removesuffix("-sig")):
        raise ValueError(
            f"{name!r} begins with the mark of {mark.removesuffix('-sig').upper()}, but encoding={encoding}; "
            f"choose {AUTO}"
        )
    codec = mark or encoding
    try:
        text = raw.decode(codec)
    except LookupError:
        raise ValueError(f"encoding={encoding!r} is unknown; choose one of {', '.join(CHOICES)}") from None
    except UnicodeDecodeError as error:
        title = Encoding(codec, "said").title
        raise ValueError(
            f"{name!r} is no text in {title}: byte {error.start:,} does not fit; choose another encoding, "
            f"or {AUTO}"
        ) from None
    if "\0" in text:
        raise ValueError(f"{name!r} holds zero bytes in {encoding}, as no text does; choose {AUTO}")
    return text, Encoding(codec, "said", _odd(text))


def _detected(raw: bytes, name: str, wrong: int) -> tuple[str, Encoding]:
    """The text in the likeliest encoding; where several are about as likely, in the first of `TITLES`."""
    lines, size = [], 0  # that are not ASCII: the others fit nearly every encoding
    for line in _NOT_ASCII_LINE.finditer(raw):
        lines.append(line.group())
        size += len(lines[-1])
        if size >= _LOOKED_AT:
            break
    sample = b"".join(lines)
    matches = from_bytes(sample, cp_isolation=_DETECTED, threshold=1.0)
    likeness = {codec: value for match in matches for codec, value in _codecs(match)}
    weighed = {codec: value + _USUAL.get(codec, 0.0) for codec, value in likeness.items()}
    best = max(weighed.values(), default=0.0)
    near = [codec for codec in _DETECTED if weighed.get(codec, -9.0) >= best - _LIKE]
    near += [codec for codec in sorted(weighed, key=weighed.__getitem__, reverse=True) if codec not in near]
    for codec in near:
        try:
            text = raw.decode(codec)
        except UnicodeDecodeError:
            continue
        if _CONTROL.search(text):
            continue
        likely = [other for other in near if likeness[other] >= likeness[codec] - _SURE]
        return text, _said_to_be(codec, [other for other in likely if other != codec], sample)
    raise ValueError(
        f"{name!r} is no text in UTF-8 (byte {wrong:,} does not fit) or in another encoding that is known "
        "here; save it as UTF-8"
    )


def _codecs(match: CharsetMatch) -> Iterator[tuple[str, float]]:
    """A match and those that give the same text, each with its likeness to some language."""
    names = {codecs.lookup(name).name: name for name in _DETECTED}
    for each in (match, *match.submatch):
        if known := names.get(codecs.lookup(each.encoding).name):
            yield known, match.coherence - 2 * match.chaos


def _said_to_be(codec: str, others: list[str], sample: bytes) -> Encoding:
    """What was detected; a guess where another encoding gives another text that is about as likely."""
    own = sample.decode(codec, errors="replace")
    words = _NOT_ASCII_WORD.findall(own)
    for other in others:
        different = sample.decode(other, errors="replace")
        if different == own:
            continue
        read = next((word for word in words if word not in different), words[0] if words else "")
        start = own.find(read)
        instead = different[start : start + len(read)]
        title = Encoding(other, "detected").title
        doubt = f"It reads “{read}”; {title} would read “{instead}”. If that is right, choose it as encoding."
        return Encoding(codec, "guess", doubt)
    return Encoding(codec, "detected", _odd(own))


def _odd(text: str) -> str:
    """A sentence about what a text shows of an encoding that was wrong before it came here."""
    lost = text.count("\N{REPLACEMENT CHARACTER}")
    if lost:
        return (
            f"{lost:,} letters were lost before (�): the program that saved it took it for another encoding."
        )
    match = _TWICE.search(text)
    if match:
        return (
            f"It holds “{match.group()}”, as a text does that was once read in a wrong encoding and saved; "
            "save it again from its source."
        )
    return ""


# Text from a file of any origin: bounded, decoded, and refused with a sentence if it is none.

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
    text, reading = decode(raw, name, encoding)
    if not text.strip():
        raise ValueError(f"{name!r} is empty; choose a file with text in it")
    return ReadText(text.replace("\r\n", "\n").replace("\r", "\n"), name, len(raw), reading)


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
