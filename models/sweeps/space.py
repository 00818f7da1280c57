"""What a sweep varies: a setting with its choices or its range, and how a person writes it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, no_type_check

from models.names import shortened

Value = bool | int | float | str | None
Kind = Literal["log", "uniform", "int"]
"""How a range is drawn from: evenly in the logarithm, evenly, or evenly among whole numbers."""

MOST_CHOICES = 100
_LONGEST = 1_000  # letters of one choice
_CALL = re.compile(r"(log|uniform|int)\s*\(([^()]*)\)")
_WHOLE_TEXTS = ("mask_argument",)  # a painted mask is written with commas
_WORDS = {"true": True, "false": False, "none": None, "null": None}


@no_type_check  # the checks below say in words what a field may be
@dataclass(frozen=True)
class Choices:
    """The values of a setting that are tried, in order. Raises ValueError for none, or one twice."""

    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.values) <= MOST_CHOICES:
            raise ValueError(
                f"{len(self.values)} choices of one setting: give 1 to {MOST_CHOICES}, or a range such as "
                "log(1e-4,1e-2)"
            )
        strange = [value for value in self.values if not _is_plain(value)]
        if strange:
            raise ValueError(
                f"{shortened(repr(strange[0]))} cannot be a choice; give numbers, words, True or False"
            )
        twice = [value for at, value in enumerate(self.values) if value in self.values[:at]]
        if twice:
            raise ValueError(f"{shortened(str(twice[0]))!r} is among the choices twice; name it once")

    def __str__(self) -> str:
        return ",".join(map(written, self.values))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "choices", "values": list(self.values)}


@no_type_check  # the checks below say in words what a field may be
@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`, both included. Raises ValueError for a range without numbers."""

    kind: Kind
    low: int | float
    high: int | float

    def __post_init__(self) -> None:
        said = f"{self.kind}({self.low!r:.30},{self.high!r:.30})"
        if self.kind not in get_args(Kind):
            raise ValueError(f"{self.kind!r:.40} is no kind of range; choose {', '.join(get_args(Kind))}")
        if not all(_is_number(end) for end in (self.low, self.high)):
            raise ValueError(f"{said} needs two finite numbers; write it as {self.kind}(1,8)")
        if not self.low < self.high:
            raise ValueError(f"{said} holds no range: its first number must be the smaller one")
        if self.kind == "log" and not self.low > 0:
            raise ValueError(f"{said} cannot be drawn on a logarithmic scale: give a first number above 0")
        if self.kind == "int" and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise ValueError(f"{said} needs whole numbers; write int(1,8), or uniform(0.1,0.5)")

    def __str__(self) -> str:
        return f"{self.kind}({self.low:.12g},{self.high:.12g})"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "low": self.low, "high": self.high}


Variation = Choices | Range


def variation(said: Mapping[str, Any]) -> Variation:
    """What `to_dict` wrote. Raises ValueError for anything else."""
    try:
        if said["kind"] == "choices":
            return Choices(tuple(said["values"]))
        return Range(said["kind"], said["low"], said["high"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{shortened(str(said))} says neither choices nor a range ({error})") from None


def parse(settings: list[str] | tuple[str, ...]) -> tuple[dict[str, Value], dict[str, Variation]]:
    """What is fixed and what varies in lines such as n_heads=1,2,4, learning_rate=log(1e-4,1e-2), steps=100.

    A value that names an existing file is fixed, even where the name holds a comma.
    Raises ValueError for a line that sets nothing, or what another has set.
    """
    fixed: dict[str, Value] = {}
    space: dict[str, Variation] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name, text = name.strip().replace("-", "_"), text.strip()
        if not equals or not name:
            raise ValueError(f"{shortened(setting)!r} sets nothing; write it as n_heads=1,2,4 or n_heads=8")
        if name in fixed or name in space:
            raise ValueError(f"{name} is set twice; write all its values in one line: {name}=1,2,4")
        found = parsed(name, text)
        if isinstance(found, Choices | Range):
            space[name] = found
        else:
            fixed[name] = found
    return fixed, space


def parsed(name: str, text: str) -> Value | Variation:
    """A range, choices, or the one value that a text is. Raises ValueError for a range without numbers."""
    call = _CALL.fullmatch(text)
    if call:
        ends = [part.strip() for part in call[2].split(",")]
        numbers = [value for value in map(_value, ends) if _is_number(value)]
        if len(ends) != 2 or len(numbers) != 2:
            raise ValueError(f"{name}={shortened(text)} needs two numbers; write {name}={call[1]}(1,8)")
        return Range(call[1], *numbers)  # type: ignore[arg-type]
    if "," not in text or name in _WHOLE_TEXTS or _is_file(text):
        return _value(text)
    return Choices(tuple(_value(part.strip()) for part in text.split(",")))


def written(value: Value) -> str:
    """A value as `--set` reads it."""
    return "none" if value is None else str(value)


def _value(text: str) -> Value:
    """The number or word that a text looks like, else the text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        value = json.loads(text.replace("_", ""))
    except (ValueError, RecursionError):
        return text
    return value if _is_number(value) else text


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST
    return value is None or isinstance(value, bool) or _is_number(value)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number above all floats
        return False


def _is_file(text: str) -> bool:
    try:
        return Path(text).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False
