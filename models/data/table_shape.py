"""How a table of texts is written: the marks between its columns, its quotes, whether a row names columns."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from pathlib import Path

from models.data.encodings import AUTO, decoded

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
HEADERS = (AUTO, "yes", "no")
SHOWN_COLUMNS = 30
_ORDER = ("tab", "comma", "semicolon", "bar")  # of equally likely ones, the first
_SAMPLE, SAMPLE_ROWS = 1 << 16, 200  # characters and rows that tell how a table is written
_MOST_NAME = 60  # characters of what may be the name of a column
_BEGINNING = 1 << 18  # bytes


def separator_of(text: str) -> str:
    """The name of the mark that parts columns: the one that gives the most rows the first row's number."""

    def likeness(name: str) -> float:
        mark = SEPARATORS[name]
        rows = _sampled(text, mark)
        if not rows or len(rows[0]) < 2:
            return 0.0
        part = text[:_SAMPLE]
        spaced = part.count(f"{mark} ") / max(1, part.count(mark))  # in a sentence, a blank follows a comma
        return sum(len(row) == len(rows[0]) for row in rows) / len(rows) - spaced / 2

    best = max(_ORDER, key=lambda name: (round(likeness(name), 3), -_ORDER.index(name)))
    if likeness(best) > 0:
        return best
    return next((name for name in _ORDER if SEPARATORS[name] in text[:_SAMPLE]), "comma")


def is_quoted(text: str, between: str) -> bool:
    """Whether cells may stand in quotation marks, as the rules of CSV say (RFC 4180).

    Between tabs they may where each cell that begins with a mark ends with one.
    """
    if between != "\t":
        return True
    cells = [cell for row in _sampled(text, between, quoted=False) for cell in row if cell.startswith('"')]
    return bool(cells) and all(len(cell) > 1 and cell.endswith('"') for cell in cells)


def names_columns(
    rows: Sequence[Sequence[str]], known: Sequence[Collection[str]], said: Sequence[str]
) -> bool:
    """Whether the first of some rows names columns.

    It does where it has a name that a person says, names that are known of every role (of two columns, of
    one), or a name that is like nothing under it.
    """
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    if any(name.strip().lower() in head for name in said if name):
        return True
    found = [any(cell in names for cell in head) for names in known]
    if (found and all(found)) or (len(head) == 2 and any(found)):
        return True
    return _looks_named([[cell.strip() for cell in row] for row in rows[:SAMPLE_ROWS]])


def column_names(first: Sequence[str], named: bool) -> tuple[str, ...]:
    """The names of columns; those without one are called by their number."""
    cells = [" ".join(cell.split())[:200] if named else "" for cell in first]
    return tuple(cell or f"column {at + 1}" for at, cell in enumerate(cells))


def columns_of(
    path: Path, encoding: str = AUTO, separator: str = AUTO, header: str = AUTO
) -> tuple[str, ...]:
    """The names of a table's columns, by the beginning of the file; () where they cannot be told."""
    try:
        with path.open("rb") as file:
            raw = file.read(_BEGINNING)
        if len(raw) == _BEGINNING:
            raw = raw[: raw.rfind(b"\n") // 2 * 2]  # whole letters, also of UTF-16
        text = decoded(raw, path.name, encoding)[0].replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, ValueError):
        return ()
    between = SEPARATORS.get(separator_of(text) if separator == AUTO else separator, ",")
    rows = _sampled(text, between, quoted=is_quoted(text, between))
    if not rows:
        return ()
    named = names_columns(rows, (), ()) if header == AUTO else header == "yes"
    return column_names(rows[0], named)[:SHOWN_COLUMNS]


def _sampled(text: str, between: str, *, quoted: bool = True) -> list[list[str]]:
    """The first rows of a table that have something in them; a last one that may be cut is left out."""
    part = text.lstrip("\n")[:_SAMPLE]
    lines = part.splitlines(keepends=True)
    if len(part) == _SAMPLE:
        lines = lines[:-1] or lines
    reader = csv.reader(lines, delimiter=between, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    found: list[list[str]] = []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                found.append([cell.strip() for cell in row])
            if len(found) >= SAMPLE_ROWS:
                break
    except csv.Error:
        pass  # whoever reads the file says what is wrong with it
    return found


def _looks_named(rows: Sequence[Sequence[str]]) -> bool:
    """Short names, each once, over a column whose values come again and again, but never as in the first row;
    or over a column of numbers.
    """
    if len(rows) < 3 or len(rows[0]) < 2:
        return False
    head = rows[0]
    if len(set(head)) != len(head) or not all(0 < len(cell) <= _MOST_NAME for cell in head):
        return False
    if any(map(_is_number, head)):
        return False
    for at, name in enumerate(head):
        values = [row[at] for row in rows[1:] if at < len(row) and row[at]]
        if not values or name in values:
            continue
        if all(map(_is_number, values)) or (len(values) >= 8 and len(set(values)) <= len(values) // 4):
            return True
    return False


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True
