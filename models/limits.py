"""The limits in force: `limits.toml` beside this file, and what a person's own file says instead.

They are read once, when the program starts; every module takes its limits from `in_force()`. A limit is an
entry of limits.toml: default, bounds, reason. What nobody who runs a server would set is a constant beside
its use. `python -m attention_lab.models.limits` (`make limits`) prints all.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import make_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .byte_units import readable
from .fields import nearest, quoted, rule_of, shortened

FILE = "ATTENTION_LAB_LIMITS"
"""The environment variable that names a person's own file."""
PACKAGED = Path(__file__).with_suffix(".toml")
MOST_BYTES = 50_000


@cache
def in_force() -> Any:
    """The limits of this program, each an attribute; names that end in _mb count megabytes.

    An invalid file of limits ends the program, with a sentence.
    """
    own = os.environ.get(FILE)
    try:
        return read(Path(own) if own else None)
    except ValueError as error:
        raise SystemExit(str(error)) from None


def read(own: Path | None = None) -> Any:
    """The packaged limits, replaced where a person's own file sets others.

    Raises ValueError, with value, rule and remedy, for what that file must not say.
    """
    settings = _toml(own) if own else {}
    rules = declared()
    try:
        values = {
            name: _checked(name, settings.get(name, rule["default"]), rule) for name, rule in rules.items()
        }
        for name in settings:
            if name not in rules:
                raise ValueError(
                    f"there is no limit {shortened(repr(name))}: correct or remove its line; "
                    f"{nearest(name, rules)}"
                )
        if values["models"] and "translator" not in values["models"]:
            raise ValueError(
                f"models={quoted(list(values['models']))} lacks 'translator', with which every page opens; "
                "add it"
            )
    except ValueError as error:
        raise ValueError(f"{own}: {error}") from None
    return make_dataclass("Limits", values, frozen=True)(**values)


def declared() -> dict[str, dict[str, Any]]:
    """Each limit of limits.toml: its default, its bounds or choices, and its reason."""
    return _toml(PACKAGED)


def _toml(path: Path) -> dict[str, Any]:
    try:
        path = path.expanduser()
        if path.exists() and not path.is_file():  # a pipe or a device might never end
            raise ValueError(f"{FILE}={path} is no file; name a file of limits, or none")
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, RuntimeError) as error:  # RuntimeError: of a home that is not there
        why = error.strerror if isinstance(error, OSError) else error
        raise ValueError(
            f"{FILE}={path} cannot be read ({why}); name a file that is there, or none"
        ) from None
    if len(raw) > MOST_BYTES:
        raise ValueError(f"{path} is larger than {readable(MOST_BYTES)}: it is no file of limits")
    try:
        return tomllib.loads(raw.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError(f"{path} is no TOML: it is nested too deep; see models/limits.toml") from None
    except ValueError as error:  # of the text, its encoding, or a number of more digits than Python reads
        raise ValueError(f"{path} is no TOML: {shortened(str(error), 200)}; see models/limits.toml") from None


def _checked(name: str, value: Any, rule: Mapping[str, Any]) -> Any:
    """The value. Raises ValueError where it breaks its rule."""
    default = rule["default"]
    if isinstance(default, list):
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return tuple(value)
        raise ValueError(f'{name}={quoted(value)} is no list of names; try {name} = ["translator"]')
    if isinstance(default, bool) and not isinstance(value, bool):
        raise ValueError(
            f"{name}={quoted(value)} is neither true nor false; try {name} = {_written(default)}"
        )
    low, high = rule.get("bounds", (None, None))
    allowed = rule_of(default, low, high, rule.get("choices", ()))
    allowed.check(name, value, f"try {name} = {_written(default)}")
    return value


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def table() -> str:
    """A line for each limit with its value, default and reason; a star marks what is not as it comes."""
    rows = [("  limit", "in force", "default", "reason")]
    for name, rule in declared().items():
        value, default = _in_words(getattr(in_force(), name)), _in_words(rule["default"])
        rows.append((f"{' ' if value == default else '*'} {name}", value, default, rule["reason"]))
    first, second, third = (max(map(len, column)) for column in list(zip(*rows, strict=True))[:3])
    return "\n".join(f"{a:<{first}}  {b:>{second}}  {c:>{third}}  {why}" for a, b, c, why in rows)


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return (value if isinstance(value, str) else ", ".join(value)) or "–"


if __name__ == "__main__":
    print(table())
