"""Reads tables of texts: finds how they are written and which columns count, and tells the rows left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ..fields import shortened
from .text_files import AUTO, EMPTY, ReadText, codec_of, read_file, rows_of

# How a table of texts is written: the marks between its columns, its quotes, whether a row names columns.

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
HEADERS = (AUTO, "yes", "no")
SHOWN_COLUMNS = 30
SAMPLE_ROWS = 200
"""Rows that tell how a table is written."""
_SAMPLE = 1 << 16  # characters
_MOST_RAGGED = 0.1  # a share of the rows: beyond it the marks are others than they seem


def separator_of(text: str) -> str:
    """The name of the mark that parts columns: the first that gives the first rows two columns or more, each
    row as many as the others. A comma is tried last, since sentences have commas, too.
    """
    for name in ("tab", "bar", "semicolon", "comma"):
        n_columns = [len(row) for row in _sample_rows(text, SEPARATORS[name])] or [0]
        alike = n_columns.count(n_columns[0]) / len(n_columns)
        if n_columns[0] > 1 and alike >= 1 - _MOST_RAGGED:
            return name
    return "comma"


def names_columns(first: Sequence[str], known: Sequence[Collection[str]], chosen: Sequence[str]) -> bool:
    """Says whether the first row names columns: it has a name that a person chose, or a known name for every
    role; of two columns, for one.
    """
    head = [cell.strip().lower() for cell in first]
    known_roles = [any(cell in names for cell in head) for names in known]
    is_chosen = any(name.strip().lower() in head for name in chosen if name)
    return is_chosen or all(known_roles) or (len(head) == 2 and any(known_roles))


def column_names(first: Sequence[str], has_names: bool) -> tuple[str, ...]:
    """The names of columns; those without one are called by their number."""
    cells = [" ".join(cell.split())[:200] if has_names else "" for cell in first]
    return tuple(cell or f"column {at + 1}" for at, cell in enumerate(cells))


def columns_of(
    path: Path, encoding: str = AUTO, separator: str = AUTO, header: str = AUTO
) -> tuple[str, ...]:
    """The names of a table's columns, by the beginning of the file; () where they cannot be told.

    A first row that may name columns is offered as names: whoever chooses one of them says that it does.
    """
    try:
        with path.open("rb") as file:
            codec = codec_of(file.read(4), encoding)
        with path.open(encoding=codec) as file:
            text = file.read(_SAMPLE)
    except (OSError, ValueError, LookupError):
        return ()
    between = SEPARATORS.get(separator_of(text) if separator == AUTO else separator, ",")
    rows = _sample_rows(text, between)
    return column_names(rows[0], header != "no")[:SHOWN_COLUMNS] if rows else ()


def _sample_rows(text: str, between: str) -> list[list[str]]:
    """The first rows of a table that have something in them; a last one that may be cut is left out."""
    part = text.lstrip("\n")[:_SAMPLE]
    lines = part.splitlines(keepends=True)
    if len(part) == _SAMPLE:
        lines = lines[:-1] or lines
    rows: list[list[str]] = []
    with suppress(ValueError):  # whoever reads the file says what is wrong with it
        for _, row in islice(rows_of("".join(lines), "", between), SAMPLE_ROWS):
            rows.append([cell.strip() for cell in row])
    return rows


# Tables of texts as people have them: which columns are read, which rows are left out, and why.

RAGGED = "of another number of columns"
MISSING = "with a missing cell"

Numbered = tuple[int, list[str]]


@dataclass(frozen=True)
class TableFormat:
    """How a table is to be read: what a person says, or `AUTO`; then what was found, in the same words.

    columns: the names of those that are read, "" where nobody says; "column 2" is the second.
    """

    encoding: str = AUTO
    separator: str = AUTO
    header: str = AUTO
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnRole:
    """What a column is read for. option: that names the column; known: names of columns that say it."""

    option: str
    known: Sequence[str]


@dataclass(frozen=True)
class Source:
    """A file as it was read: what a person should know before they believe what is learnt from it.

    columns: their names, () of a text that is no table. chosen: for each role, the column's name. rows: those
    with something in them, without the line of names. left_out: how many, by the reason. first: the line of
    the first that was left out, by the reason.
    """

    name: str
    n_bytes: int
    codec: str
    how: TableFormat = TableFormat()
    columns: tuple[str, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def n_used(self) -> int:
        """Rows that are learnt from or held out."""
        return self.rows - sum(count for reason, count in self.left_out.items() if reason != EMPTY)


@dataclass(frozen=True)
class SplitTable:
    """Different rows of a file, a text and what belongs to it, split for good; and what was read of the file.

    classes: the names of labels, where what belongs to a text is the number of its label.
    """

    training: tuple[tuple[str, Any], ...]
    held_out: tuple[tuple[str, Any], ...]
    classes: tuple[str, ...] = ()
    source: Source | None = field(default=None, compare=False)


@dataclass
class Table:
    """The rows of a file, each with the number of its line, and which cells of them are read.

    at: the index of the column of each role. left_out, first: as `Source` has them, so far.
    """

    read: ReadText
    how: TableFormat
    columns: tuple[str, ...]
    at: tuple[int, ...]
    rows: list[Numbered]
    left_out: Counter[str]
    first: dict[str, int] = field(default_factory=dict)

    def leave_out(self, reason: str, line: int) -> None:
        """Counts a row that is not used."""
        self.left_out[reason] += 1
        self.first.setdefault(reason, line)

    def cells(self) -> Iterator[tuple[int, list[str]]]:
        """The cells of the roles, row by row, with the line; rows that lack one are counted and left out."""
        for line, row in self.rows:
            cells = [row[at].strip() if at < len(row) else "" for at in self.at]
            if all(cells):
                yield line, cells
            else:
                self.leave_out(MISSING, line)

    def source(self, roles: Sequence[ColumnRole], *notes: str) -> Source:
        """What is to be said of the file, once its rows were read."""
        chosen = {role.option: self.columns[at] for role, at in zip(roles, self.at, strict=True)}
        n_rows = len(self.rows) + self.left_out[RAGGED]
        left_out = {reason: count for reason, count in self.left_out.items() if count}
        return Source(
            self.read.name, self.read.n_bytes, self.read.codec, self.how, self.columns, chosen, n_rows,
            left_out, self.first, notes,
        )  # fmt: skip


def read_rows(path: Path, how: TableFormat, roles: Sequence[ColumnRole], *, needs: str) -> Table:
    """The rows of a table file, and where the columns of these roles stand.

    needs: what a person has to say where that is not clear. Raises ValueError, with value, rule and remedy,
    for a column that is not there, rows of many lengths, and as `read_file` and `rows_of` do.
    """
    read = read_file(path, how.encoding)
    if how.separator == AUTO:
        how = replace(how, separator=separator_of(read.text))
    between = SEPARATORS.get(how.separator, ",")
    left_out: Counter[str] = Counter()
    rows = list(rows_of(read.text, read.name, between, left_out=left_out))
    first = rows[0][1] if rows else []
    has_names = how.header == "yes"
    if how.header == AUTO:
        has_names = names_columns(first, [role.known for role in roles], how.columns)
    columns = column_names(first, has_names)
    table = Table(read, how, columns, (), rows[1:] if has_names else rows, left_out)
    odd = [(line, row) for line, row in table.rows if len(row) != len(columns)]
    if odd and len(odd) > _MOST_RAGGED * len(table.rows):
        line, row = odd[0]
        raise ValueError(
            f"line {line} of {read.name!r} has {len(row)} columns, the first {len(columns)}; "
            "put quotes around texts that hold the mark between columns"
        )
    for line, _ in odd:
        table.leave_out(RAGGED, line)
    table.rows = [(line, row) for line, row in table.rows if len(row) == len(columns)]
    table.at = _places(table, has_names, roles, needs)
    names = tuple(columns[at] if columns.count(columns[at]) == 1 else f"column {at + 1}" for at in table.at)
    table.how = replace(how, encoding=read.codec, header="yes" if has_names else "no", columns=names)
    if not table.rows:
        raise ValueError(f"{read.name!r} has no row but its names of columns; choose another file")
    return table


def _places(table: Table, has_names: bool, roles: Sequence[ColumnRole], needs: str) -> tuple[int, ...]:
    """Where the column of each role stands: as said, by a known name, or the one that is left of two."""
    columns, chosen = table.columns, table.how.columns or ("",) * len(roles)
    places: list[int | None] = [
        _place(columns, name, role.option, table.read.name) if name else None
        for name, role in zip(chosen, roles, strict=True)
    ]
    lower = [column.lower() for column in columns] if has_names else []
    for at, role in enumerate(roles):
        if places[at] is None:
            known = (i for i, name in enumerate(lower) if name in role.known and i not in places)
            places[at] = next(known, None)
    if len(columns) == 2 == len(roles):
        missing = [at for at, place in enumerate(places) if place is None]
        if len(missing) == 1:
            places[missing[0]] = 1 - (places[1 - missing[0]] or 0)
        elif missing:
            places = [0, 1]
            if roles[1].option == "label_column":  # labels are what comes again most often
                different = [len({row[at] for _, row in table.rows}) for at in (0, 1)]
                places = [0, 1] if different[1] <= different[0] else [1, 0]
    indices = [place for place in places if place is not None]
    if len(indices) < len(roles):
        first = columns if has_names or not table.rows else [cell.strip() for cell in table.rows[0][1]]
        listing = shortened(", ".join(first[:SHOWN_COLUMNS]), 80)
        raise ValueError(f"{table.read.name!r} has the columns {listing!r}; {needs}")
    if len(set(indices)) < len(indices):
        names, twice = " and ".join(role.option for role in roles), columns[indices[0]]
        raise ValueError(
            f"{names} are both {twice!r:.60}; choose two different columns of {table.read.name!r}"
        )
    return tuple(indices)


def _place(columns: tuple[str, ...], name: str, option: str, file: str) -> int:
    """The index of a column that a person names. Raises ValueError with the names that there are."""
    typed = " ".join(name.split())
    if typed in columns:
        return columns.index(typed)
    lower = [column.lower() for column in columns]
    if typed.lower() in lower:
        return lower.index(typed.lower())
    number = typed.lower().removeprefix("column ")
    if number.isdecimal() and len(number) < 5 and 1 <= int(number) <= len(columns):
        return int(number) - 1
    listing = shortened(", ".join(columns[:SHOWN_COLUMNS]), 300)
    raise ValueError(f"{option}={shortened(name)!r} is no column of {file!r}; it has {listing}")
