"""The limits in force: `limits.toml` beside this file, and what a person's own file says instead.

They are read once, when the program starts; every module takes its limits from `in_force()`. A limit is a
field here and its default, bounds and reason there; `python -m attention_lab.models.limits` (`make limits`)
prints all.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from .byte_units import readable
from .fields import nearest, quoted, rule_of, shortened

FILE = "ATTENTION_LAB_LIMITS"
"""The environment variable that names a person's own file."""
PACKAGED = Path(__file__).with_suffix(".toml")
MOST_BYTES = 50_000


@dataclass(frozen=True, kw_only=True)
class Limits:
    """All limits; limits.toml says what each one means and why. Names that end in _mb count megabytes."""

    read_only: bool
    kiosk: str
    models: tuple[str, ...]
    text_characters: int
    field_characters: int
    untrained_words: int
    explore_billions: int
    alone_billions: int
    explore_tokens: int
    document_tokens: int
    document_characters: int
    document_mb: int
    mask_characters: int
    written_tokens: int
    new_tokens: int
    learnt_characters: int
    learnt_tokens: int
    sentences: int
    rows: int
    pictures: int
    cheap_billions: int
    dear_seconds: int
    dear_mb: int
    dear_waiting: int
    cache_pictures_mb: int
    cache_models_mb: int
    hub_mb: int
    confirm_mb: int
    cache_results_mb: int
    prepared_tasks: int
    server_mb: int
    text_file_mb: int
    picture_file_mb: int
    photo_megapixels: int
    json_mb: int
    weights_mb: int
    export_mb: int
    trace_mb: int
    upload_mb: int
    uploads_of_a_visitor: int
    uploads_of_a_visitor_mb: int
    uploads_in_all: int
    uploads_in_all_mb: int
    upload_days: int
    cpu_jobs: int
    queue_length: int
    live_runs: int
    runs_gb: int
    visitor_runs_mb: int
    visitor_steps: int
    visitor_minutes: int
    visitor_minutes_a_day: int
    threads: int
    snapshots_mb: int
    log_mb: int
    runs_listed: int
    sweep_trials: int
    sweep_runs: int
    visitor_sweep_runs: int
    live_sweeps: int
    sweeps: int
    teacher_attempts: int
    teacher_attempts_in_all: int
    teacher_hours: int
    halls: int
    hall_listeners: int
    hall_mb: int
    hall_hours: int
    classes: int
    class_students: int


@cache
def in_force() -> Limits:
    """The limits of this program. An invalid file of limits ends the program, with a sentence."""
    own = os.environ.get(FILE)
    try:
        return read(Path(own) if own else None)
    except ValueError as error:
        raise SystemExit(str(error)) from None


def read(own: Path | None = None) -> Limits:
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
                raise ValueError(f"there is no limit {shortened(repr(name))}; {nearest(name, rules)}")
        if values["models"] and "translator" not in values["models"]:
            raise ValueError(
                f"models={quoted(list(values['models']))} lacks 'translator', with which every page opens; "
                "add it"
            )
    except ValueError as error:
        raise ValueError(f"{own}: {error}") from None
    return Limits(**values)


def declared() -> dict[str, dict[str, Any]]:
    """Each limit of limits.toml: its default, its bounds or choices, and its reason."""
    entries = _toml(PACKAGED)
    assert list(entries) == [spec.name for spec in fields(Limits)]
    return entries


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
