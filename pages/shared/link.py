"""Reading a page's state from a link: URL query parameters, checked once as they arrive from outside.

A page's inputs are a frozen dataclass whose fields are made by `param`: a default, and a reader that turns a
parameter's text into a value. A reader's docstring says what it accepts. A damaged value falls back to its
default and is reported in a sentence; it never reaches a widget, the engine or the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from typing import Any

Reader = Callable[[str], Any]


class CellError(ValueError):
    """Says which cell of a table is not what it must be."""


def param(default: Any, read: Reader) -> Any:
    """A field of a page's inputs."""
    return field(default=default, metadata={"read": read})


def whole(low: int, high: int) -> Reader:
    def read(raw: str) -> int:
        value = int(raw)
        if not low <= value <= high:
            raise ValueError
        return value

    read.__doc__ = f"a whole number from {low:,} to {high:,}"
    return read


def number(low: float, high: float) -> Reader:
    def read(raw: str) -> float:
        value = float(raw)
        if not low <= value <= high:
            raise ValueError
        return value

    read.__doc__ = f"a number from {low:,.10g} to {high:,.10g}"
    return read


def one_of(options: tuple[Any, ...]) -> Reader:
    def read(raw: str) -> Any:
        return next(option for option in options if str(option) == raw)

    read.__doc__ = f"one of {', '.join(map(str, options))}"
    return read


def characters(most: int) -> Reader:
    def read(raw: str) -> str:
        if len(raw) > most:
            raise ValueError
        return raw

    read.__doc__ = f"at most {most:,} characters"
    return read


Table = tuple[tuple[float, ...], ...]


def table(rows: tuple[int, int], columns: tuple[int, int], *, limit: float = 1e6) -> Reader:
    """Rows of numbers, "1,2;3,4"; `rows` and `columns` are (fewest, most), `limit` the largest size.

    The reader raises CellError where one of the numbers is at fault.
    """
    read_number = number(-limit, limit)

    def read_cell(raw: str) -> float:
        try:
            return float(read_number(raw))
        except ValueError:
            raise CellError(f"{raw[:20]!r} is not {read_number.__doc__}") from None

    def read(raw: str) -> Table:
        cells = tuple(tuple(read_cell(cell) for cell in row.split(",")) for row in raw.split(";"))
        widths = {len(row) for row in cells}
        fits = (
            len(widths) == 1 and columns[0] <= max(widths) <= columns[1] and rows[0] <= len(cells) <= rows[1]
        )
        if not fits:
            raise ValueError
        return cells

    size = f"{_span(rows)} rows of {_span(columns)} numbers"
    read.__doc__ = f"a table like 1,2;3,4: {size} within ±{limit:,.10g}"
    return read


def _span(bounds: tuple[int, int]) -> str:
    return str(bounds[0]) if bounds[0] == bounds[1] else f"{bounds[0]} to {bounds[1]}"


def written(value: Any) -> str:
    """A value as a link holds it: tables as 1,2;3,4, other sequences with dots."""
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return ";".join(",".join(f"{cell:.6g}" for cell in row) for row in value)
    if isinstance(value, tuple):
        return ".".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def read_link(kind: type[Any], params: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The values that a link's parameters give, by field name, and one sentence for each that was refused."""
    values: dict[str, Any] = {}
    problems = []
    for spec in fields(kind):
        if spec.name not in params:
            continue
        read = spec.metadata["read"]
        try:
            values[spec.name] = read(params[spec.name])
        except (ValueError, StopIteration):
            shown = params[spec.name][:40]
            problems.append(f"The link's {spec.name}={shown!r} is not {read.__doc__}; its default is shown.")
    return values, problems
