"""The options of a task: fields that a page can offer and a command line can set."""

from collections.abc import Sequence
from dataclasses import Field, field
from typing import Any

from models.names import shortened


def option(
    default: Any,
    about: str,
    *,
    low: int | float | None = None,
    high: int | float | None = None,
    choices: Sequence[Any] = (),
    file: Sequence[str] = (),
    of: str = "",
    column_of: str = "",
) -> Any:
    """A field: its default, what it is, and what it may be.

    low, high: the least and the greatest number. choices: all that it may be. file: the endings of a file
    that it names (a path; "" for none). of: the option that names a file, where this one is about that file.
    column_of: the same, where this one names a column of it.
    """
    rule = {"about": about, "low": low, "high": high, "choices": tuple(choices), "file": tuple(file)}
    return field(default=default, metadata=rule | {"of": of or column_of, "column": bool(column_of)})


def check(name: str, value: Any, spec: Field[Any]) -> None:
    """Raises ValueError, with value, rule and remedy, where an option may not be `value`."""
    kind, rule = type(spec.default), spec.metadata
    numeric = kind is float and isinstance(value, int) and not isinstance(value, bool)
    if (not isinstance(value, kind) and not numeric) or (kind is int and isinstance(value, bool)):
        names = {int: "a whole number", float: "a number", bool: "True or False", str: "a text"}
        raise ValueError(f"{name}={value!r:.60} is not {names[kind]}; try {spec.default!r}")
    if rule["choices"] and value not in rule["choices"]:
        known = ", ".join(map(str, rule["choices"]))
        raise ValueError(f"{name}={value!r:.60} is unknown; choose one of {known}")
    low, high = rule["low"], rule["high"]
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        raise ValueError(
            f"{name}={shortened(repr(value))} is not within {low:g} to {high:g}; try {spec.default!r}"
        )
