"""Settings, declared once: each has a default, a rule for its values, and the words that a person reads.

A `Field` holds these; `setting` makes it a field of a dataclass, such as a page's inputs or a config. A link
is read by the rule (`read_link`), a widget is drawn from it (`pages.shared.state.draw_widget`), the value of
a file or a command is checked by it (`check_fields`, `from_values`). Whatever does not fit is refused with
the value, the rule and the remedy.
"""

import dataclasses
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from difflib import get_close_matches
from typing import Any, TypeVar


def nearest(name: object, known: Iterable[str]) -> str:
    """The remedy for a name that is not known."""
    known = list(known)
    near = get_close_matches(str(name), known, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"


def shortened(text: str, most: int = 40) -> str:
    """A value as a sentence quotes it, whatever its length."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


# Fields and rules

SHOWN = 40
"""The characters of a refused value that are quoted."""
LONGEST = 20_000
"""The longest value of a link or a cell, in characters; only the rule of a long text allows more."""

Declared = TypeVar("Declared")
Table = tuple[tuple[float, ...], ...]


class CellError(ValueError):
    """Says which cell of a table is not what it must be."""


@dataclass(frozen=True)
class Rule:
    """What a value must be.

    words: the rule as it follows "is not"; left out, it names the options. read: reads a link's text; raises
    ValueError where it is not a value. fits: whether a value keeps the rule. low, high, options: of numbers
    and choices; names: how the options are shown. most: the longest text, in characters.
    """

    words: str
    read: Callable[[str], Any]
    fits: Callable[[Any], bool]
    low: float | None = None
    high: float | None = None
    most: int = 0
    options: Sequence[Any] = ()
    names: Mapping[Any, str] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        return self.words or f"one of {', '.join(map(str, self.options))}"

    def parsed(self, raw: str) -> Any:
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
            words = repr(value if isinstance(value, int | float | str | None) else written(value))
        except (TypeError, ValueError):  # nothing that a link could hold
            words = repr(value)
        if len(words) > SHOWN + 2:
            words = f"{words[: SHOWN + 1]}…' ({len(words) - 2:,} characters)"
        return f"{words} is not {self}"

    def check(self, name: str, value: Any, remedy: str) -> None:
        """Raises ValueError, with value, rule and remedy, where a value does not fit."""
        if self.fits(value):
            return
        if self.options:
            if all(isinstance(option, bool) for option in self.options):
                raise ValueError(f"{name}={quoted(value)} is neither True nor False; choose one")
            known = ", ".join(str(option) for option in self.options if option != "")
            raise ValueError(f"{name}={quoted(value)} is unknown; choose one of {known}")
        if self.low is None or self.high is None:
            raise ValueError(f"{name}={quoted(value)} is not {self}; {remedy}")
        is_whole = isinstance(self.low, int)
        endless = isinstance(value, float) and not math.isfinite(value)
        if not _is_number(value) or endless or (is_whole and not isinstance(value, int)):
            raise ValueError(f"{name}={quoted(value)} is no {'whole ' * is_whole}number; {remedy}")
        number = f"{value:,}" if abs(value) < 10**15 else quoted(value)
        raise ValueError(f"{name}={number} is not within {self.low:,.10g} to {self.high:,.10g}; {remedy}")


def quoted(value: Any) -> str:
    """A value as a sentence quotes it, whatever a file may hold."""
    try:
        return shortened(repr(value), 60)
    except ValueError:  # a number of more digits than Python writes
        return "a number of thousands of digits"
    except RecursionError:
        return f"a {type(value).__name__} that is nested too deep"


@dataclass(frozen=True)
class Field:
    """One setting: what it is at first, what it may be, and what a person reads of it.

    default: MISSING where a config must say it; None fits where it is the default. control: how a page
    draws it, a key of `pages.shared.state.WIDGETS`; left out, as its rule suggests. show: an option in
    words, where the rule's names are not it. more: what else the widget is given. offered: the rule of
    pages, where they offer less than is allowed. reason: why a limit is what it is.
    """

    default: Any
    rule: Rule
    label: str = ""
    help: str | None = None
    control: str = ""
    show: Callable[[Any], str] | None = None
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    offered: Rule | None = None
    reason: str = ""

    def check(self, name: str, value: Any) -> None:
        """Raises ValueError where the field may not be `value`; the remedy is the default."""
        if value is None and self.default is None:
            return
        sample = 4 if self.default is None or self.default is MISSING else self.default  # 4: of a size
        remedy = f"try {sample:,}" if _is_number(sample) else f"try {sample!r}"
        self.rule.check(name, value, f"{remedy}, or leave it out" if self.default is None else remedy)


@dataclass(frozen=True)
class Option(Field):
    """An option of a task. file: the endings of a file that it names (a path; "" for none). of: the option
    that names the file which this one is about. column: whether it names a column of that.
    """

    name: str = ""
    file: tuple[str, ...] = ()
    of: str = ""
    column: bool = False


def setting(
    default: Any, rule: Rule, label: str = "", help: str | None = None, control: str = "", **more: Any
) -> Any:
    """A field of a dataclass; `more` is of `Field`. A default of MISSING makes a field that must be given."""
    return dataclasses.field(
        default=default, metadata={"field": Field(default, rule, label, help, control, **more)}
    )


def fields_of(kind: type[Any]) -> dict[str, Field]:
    """The settings that a dataclass declares, by name."""
    return {
        spec.name: spec.metadata["field"] for spec in dataclasses.fields(kind) if "field" in spec.metadata
    }


def options_of(kind: type[Any]) -> dict[str, Option]:
    """The options of a task, by name."""
    return {name: field for name, field in fields_of(kind).items() if isinstance(field, Option)}


def check_fields(instance: Any) -> None:
    """Checks every setting of a dataclass. Raises ValueError, with value, rule and remedy."""
    for name, field in fields_of(type(instance)).items():
        field.check(name, getattr(instance, name))


def from_values(kind: type[Declared], values: Mapping[str, Any]) -> Declared:
    """A dataclass of what a file states. Raises ValueError for unknown, missing or invalid values."""
    known = {spec.name: spec for spec in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if not isinstance(values, Mapping):
        raise ValueError(
            f"a config is a JSON object, not {type(values).__name__}; give what to_dict returned"
        )
    for name in values:
        if name not in known:
            raise ValueError(f"{name!r:.60} is no field of {kind.__name__}; {nearest(name, known)}")
    needed = [n for n, spec in known.items() if spec.default is MISSING and spec.default_factory is MISSING]
    missing = [name for name in needed if name not in values]
    if missing:
        raise ValueError(f"{', '.join(missing)} missing: every {kind.__name__} states {', '.join(needed)}")
    return kind(**values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def whole(low: int, high: int) -> Rule:
    """A whole number."""

    def read(raw: str) -> int:
        return checked(int(raw), fits)

    def fits(value: Any) -> bool:
        return isinstance(value, int) and _is_number(value) and low <= value <= high

    return Rule(f"a whole number from {low:,} to {high:,}", read, fits, low, high)


def number(low: float, high: float) -> Rule:
    """A number, whole or not."""

    def read(raw: str) -> float:
        return checked(float(raw), fits)

    def fits(value: Any) -> bool:
        return _is_number(value) and low <= value <= high

    return Rule(f"a number from {low:,.10g} to {high:,.10g}", read, fits, float(low), float(high))


def one_of(options: Iterable[Any]) -> Rule:
    """One of these options, whose names on the page a mapping says. A list may grow."""
    names = options if isinstance(options, Mapping) else {}
    allowed = options if isinstance(options, list) else tuple(options)

    def read(raw: str) -> Any:
        for option in allowed:
            if str(option) == raw:
                return option
        raise ValueError(raw)

    def fits(value: Any) -> bool:
        return any(value == option and type(value) in (type(option), int, float) for option in allowed)

    return Rule("", read, fits, options=allowed, names=names)


SWITCH = replace(one_of((True, False)), fits=lambda value: isinstance(value, bool))


def rule_of(
    default: Any, low: float | None = None, high: float | None = None, choices: Iterable[Any] = ()
) -> Rule:
    """The rule of a value that is of the kind of its default, within bounds, or one of some choices."""
    if choices:
        return one_of(choices)
    if isinstance(default, bool):
        return SWITCH
    if isinstance(default, str):
        return text("a text", lambda raw: raw)
    low, high = -1e9 if low is None else low, 1e9 if high is None else high
    return whole(int(low), int(high)) if isinstance(default, int) else number(low, high)


def characters(most: int) -> Rule:
    """A text of at most so many characters."""
    rule = text(
        f"at most {most:,} characters", lambda raw: checked(raw, lambda raw_text: len(raw_text) <= most)
    )
    return replace(rule, most=most)


def text(words: str, read: Callable[[str], Any]) -> Rule:
    """A text that `read` accepts; `read` raises ValueError for all others."""

    def read_whole(raw: str) -> Any:
        raw.encode()  # a half of a character, which JSON can say, cannot be written
        return read(raw)

    def fits(value: Any) -> bool:
        try:
            return isinstance(value, str) and read_whole(value) == value
        except ValueError:
            return False

    return Rule(words, read_whole, fits)


def checked(value: Any, fits: Callable[[Any], bool]) -> Any:
    """The value. Raises ValueError where it does not fit."""
    if not fits(value):
        raise ValueError(value)
    return value


def table(rows: tuple[int, int], columns: tuple[int, int], *, limit: float = 1e6) -> Rule:
    """Rows of numbers, "1,2;3,4"; `rows` and `columns` are (fewest, most), `limit` the largest size.

    Reading raises CellError where one of the numbers is at fault.
    """
    cell = number(-limit, limit)

    def read_cell(raw: str) -> float:
        try:
            return float(cell.read(raw))
        except ValueError:
            raise CellError(f"{raw[:20]!r} is not {cell}") from None

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
    inputs: type[Any] | Mapping[str, Field], params: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """The values that a link's parameters give, by name, and one sentence for each that was refused."""
    values: dict[str, Any] = {}
    problems = []
    for name, field in (inputs if isinstance(inputs, Mapping) else fields_of(inputs)).items():
        if name not in params:
            continue
        try:
            values[name] = field.rule.parsed(params[name])
        except ValueError:
            start = params[name][:SHOWN]
            problems.append(f"The link's {name}={start!r} is not {field.rule}; its default is shown.")
    return values, problems


_WORDS = {"true": True, "false": False, "none": None, "null": None}


def value_of(raw: str, like: Any = None) -> Any:
    """A command's text as a value of the kind of `like`, else as the number or word that it looks like."""
    if isinstance(like, str):
        return raw
    if raw.lower() in _WORDS:
        return _WORDS[raw.lower()]
    try:
        value = json.loads(raw.replace("_", ""))
    except (ValueError, RecursionError):  # as for [[[[[...
        return raw
    return int(value) if isinstance(like, int) and isinstance(value, float) and value.is_integer() else value
