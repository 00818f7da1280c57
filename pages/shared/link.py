"""The rules of a page's inputs: what a value may be, and how a link writes it.

A page's inputs are a frozen dataclass whose fields are made by `param`: a default, a `Rule`, and the widget
that sets it. A link's text is read by the rule; what comes by a widget, a table's cell or a message written
by hand must fit the same rule. What does not fit is reported in a sentence; it never reaches a lesson, the
engine or the browser.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from pages.shared.widget import Widget

SHOWN = 40
"""The characters of a refused value that are quoted."""
LONGEST = 20_000
"""The longest value of a link or a cell, in characters; only the rule of a long text allows more."""


class CellError(ValueError):
    """Says which cell of a table is not what it must be."""


@dataclass(frozen=True)
class Rule:
    """What a value must be.

    said: the rule in words that follow "is not". read: reads a link's text; raises ValueError where it is not
    a value. fits: whether a value keeps the rule. low, high, options: for widgets; names: how the options are
    shown. most: the longest text, in characters.
    """

    said: str
    read: Callable[[str], Any]
    fits: Callable[[Any], bool]
    low: float | None = None
    high: float | None = None
    most: int = 0
    options: tuple[Any, ...] = ()
    names: Mapping[Any, str] = field(default_factory=dict)

    def taken(self, raw: str) -> Any:
        """The value of a text. Raises ValueError where it is not one; a text that is too long is not read."""
        if len(raw) > max(self.most, LONGEST):
            raise ValueError(raw[:SHOWN])
        return self.read(raw)

    def refusal(self, value: Any) -> str:
        """Says that `value` does not fit, with the rule; the sentence goes on with the remedy."""
        if isinstance(value, str) and self.most and len(value) > self.most:
            over = len(value) - self.most
            return f"{len(value):,} characters; at most {self.most:,} are read; remove {over:,}"
        try:
            shown = repr(value if isinstance(value, int | float | str | None) else written(value))
        except (TypeError, ValueError):  # nothing that a link could hold
            shown = repr(value)
        if len(shown) > SHOWN + 2:
            shown = f"{shown[: SHOWN + 1]}…' ({len(shown) - 2:,} characters)"
        return f"{shown} is not {self.said}"


@dataclass(frozen=True)
class Param:
    """One input of a page: what it is at first, what it may be, and the widget that sets it."""

    default: Any
    rule: Rule
    widget: Widget | None = None


def param(default: Any, rule: Rule, widget: Widget | None = None) -> Any:
    """A field of a page's inputs."""
    return field(default=default, metadata={"param": Param(default, rule, widget)})


def params_of(kind: type[Any]) -> dict[str, Param]:
    """The inputs that a dataclass declares, by name."""
    return {spec.name: spec.metadata["param"] for spec in fields(kind)}


def _is_number(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def whole(low: int, high: int) -> Rule:
    def read(raw: str) -> int:
        return checked(int(raw), fits)

    def fits(value: Any) -> bool:
        return isinstance(value, int) and _is_number(value, low, high)

    return Rule(f"a whole number from {low:,} to {high:,}", read, fits, low, high)


def number(low: float, high: float) -> Rule:
    def read(raw: str) -> float:
        return checked(float(raw), fits)

    def fits(value: Any) -> bool:
        return _is_number(value, low, high)

    return Rule(f"a number from {low:,.10g} to {high:,.10g}", read, fits, float(low), float(high))


def one_of(options: Iterable[Any]) -> Rule:
    """One of these options; if they are a mapping, its values are their names on the page."""
    names = options if isinstance(options, Mapping) else {}
    allowed = tuple(options)

    def read(raw: str) -> Any:
        for option in allowed:
            if str(option) == raw:
                return option
        raise ValueError(raw)

    def fits(value: Any) -> bool:
        return any(value == option and type(value) in (type(option), int, float) for option in allowed)

    return Rule(f"one of {', '.join(map(str, allowed))}", read, fits, options=allowed, names=names)


def characters(most: int) -> Rule:
    rule = text(f"at most {most:,} characters", lambda raw: checked(raw, lambda given: len(given) <= most))
    return replace(rule, most=most)


def text(said: str, read: Callable[[str], Any]) -> Rule:
    """A text that `read` accepts; `read` raises ValueError for all others."""

    def read_whole(raw: str) -> Any:
        raw.encode()  # a half of a character, which JSON can say, cannot be written
        return read(raw)

    def fits(value: Any) -> bool:
        try:
            return isinstance(value, str) and read_whole(value) == value
        except ValueError:
            return False

    return Rule(said, read_whole, fits)


def checked(value: Any, fits: Callable[[Any], bool]) -> Any:
    """The value. Raises ValueError where it does not fit."""
    if not fits(value):
        raise ValueError(value)
    return value


Table = tuple[tuple[float, ...], ...]


def table(rows: tuple[int, int], columns: tuple[int, int], *, limit: float = 1e6) -> Rule:
    """Rows of numbers, "1,2;3,4"; `rows` and `columns` are (fewest, most), `limit` the largest size.

    Reading raises CellError where one of the numbers is at fault.
    """
    cell = number(-limit, limit)

    def read_cell(raw: str) -> float:
        try:
            return float(cell.read(raw))
        except ValueError:
            raise CellError(f"{raw[:20]!r} is not {cell.said}") from None

    def read(raw: str) -> Table:
        return checked(tuple(tuple(map(read_cell, row.split(","))) for row in raw.split(";")), fits)

    def fits(value: Any) -> bool:
        if not isinstance(value, tuple) or not rows[0] <= len(value) <= rows[1]:
            return False
        widths = {len(row) if isinstance(row, tuple) else 0 for row in value}
        fitting = len(widths) == 1 and columns[0] <= max(widths) <= columns[1]
        return fitting and all(cell.fits(each) for row in value for each in row)

    size = f"{_span(rows)} rows of {_span(columns)} numbers"
    return Rule(f"a table like 1,2;3,4: {size} within ±{limit:,.10g}", read, fits)


def _span(bounds: tuple[int, int]) -> str:
    return str(bounds[0]) if bounds[0] == bounds[1] else f"{bounds[0]} to {bounds[1]}"


def written(value: Any) -> str:
    """A value as a link holds it: tables as 1,2;3,4, other sequences with dots."""
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return ";".join(",".join(f"{cell:.6g}" for cell in row) for row in value)
    if isinstance(value, tuple):
        return ".".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def read_link(
    inputs: type[Any] | Mapping[str, Param], params: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """The values that a link's parameters give, by name, and one sentence for each that was refused."""
    values: dict[str, Any] = {}
    problems = []
    declared = inputs if isinstance(inputs, Mapping) else params_of(inputs)
    for name, spec in declared.items():
        if name not in params:
            continue
        try:
            values[name] = spec.rule.taken(params[name])
        except ValueError:
            shown = params[name][:SHOWN]
            problems.append(f"The link's {name}={shown!r} is not {spec.rule.said}; its default is shown.")
    return values, problems
