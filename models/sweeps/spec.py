"""What a sweep varies: a setting with its choices or its range, and how a person writes it."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args, no_type_check

from ..fields import check_fields, nearest, one_of, setting, shortened, value_of, whole

Value = bool | int | float | str | None
Kind = Literal["log", "uniform", "int"]
"""How a range is drawn from: evenly in the logarithm, evenly, or evenly among whole numbers."""

MOST_CHOICES = 100
_LONGEST = 1_000  # letters of one choice
_CALL = re.compile(r"(log|uniform|int)\s*\(([^()]*)\)")
_WHOLE_TEXTS = ("mask_argument",)  # a painted mask is written with commas


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
        words = f"{self.kind}({self.low!r:.30},{self.high!r:.30})"
        if self.kind not in get_args(Kind):
            raise ValueError(f"{self.kind!r:.40} is no kind of range; choose {', '.join(get_args(Kind))}")
        if not all(_is_number(end) for end in (self.low, self.high)):
            raise ValueError(f"{words} needs two finite numbers; write it as {self.kind}(1,8)")
        if not self.low < self.high:
            raise ValueError(f"{words} holds no range: its first number must be the smaller one")
        if self.kind == "log" and not self.low > 0:
            raise ValueError(f"{words} cannot be drawn on a logarithmic scale: give a first number above 0")
        if self.kind == "int" and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise ValueError(f"{words} needs whole numbers; write int(1,8), or uniform(0.1,0.5)")

    def __str__(self) -> str:
        return f"{self.kind}({self.low:.12g},{self.high:.12g})"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "low": self.low, "high": self.high}


Variation = Choices | Range


def variation(values: Mapping[str, Any]) -> Variation:
    """What `to_dict` wrote. Raises ValueError for anything else."""
    try:
        if values["kind"] == "choices":
            return Choices(tuple(values["values"]))
        return Range(values["kind"], values["low"], values["high"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{shortened(str(values))} says neither choices nor a range ({error})") from None


def parse(settings: list[str] | tuple[str, ...]) -> tuple[dict[str, Value], dict[str, Variation]]:
    """What is fixed and what varies in lines such as n_heads=1,2,4, learning_rate=log(1e-4,1e-2), steps=100.

    A value that names an existing file is fixed, even where the name holds a comma.
    Raises ValueError for a line that sets nothing, or what another has set.
    """
    fixed: dict[str, Value] = {}
    space: dict[str, Variation] = {}
    for line in settings:
        name, equals, text = line.partition("=")
        name, text = name.strip().replace("-", "_"), text.strip()
        if not equals or not name:
            raise ValueError(f"{shortened(line)!r} sets nothing; write it as n_heads=1,2,4 or n_heads=8")
        if name in fixed or name in space:
            raise ValueError(f"{name} is set twice; write all its values in one line: {name}=1,2,4")
        varied = parse_value(name, text)
        if isinstance(varied, Choices | Range):
            space[name] = varied
        else:
            fixed[name] = varied
    return fixed, space


def parse_value(name: str, text: str) -> Value | Variation:
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
    value = value_of(text)
    return value if value is None or isinstance(value, bool) or _is_number(value) else text


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


# What a sweep is to do: its task, what is fixed and what varies, and how trials are chosen and judged.
# It is read and written without torch; `models.sweeps.plan` checks it against the task.

Sampler = Literal["grid", "random", "tpe"]
Direction = Literal["maximize", "minimize"]
Prune = Literal["none", "asha"]

NAME = "[a-z0-9][a-z0-9-]{0,47}"
USUAL_TRIALS = 20
"""The trials of a random or a TPE sweep where nobody says how many."""
MOST_SEEDS = 100
_MOST_POINTS = 10**12
_NOT_VARIED = {
    "seed": "every trial is trained with the same seeds: say how many with seeds",
    "device": "trials that train on different devices cannot be compared: fix it",
    "held_out": "scores on different examples cannot be compared: fix it",
    "threads": "it changes the time and not what is learnt: fix it",
}


@no_type_check  # the checks below say in words what a field may be
@dataclass(frozen=True, kw_only=True)
class Spec:
    """A sweep as it is asked for.

    name: of its folder and in links, "" to have one made up. task: what is learnt. fixed: settings of the
    task, the model and the training that all trials share, as in `--set`. space: what varies. sampler: "grid"
    tries all combinations of choices, "random" draws (Bergstra and Bengio 2012), "tpe" draws where earlier
    trials did well (tree-structured Parzen estimators, Bergstra et al. 2011); "" is the grid where all are
    choices, else "tpe". seeds: runs of each trial, of the seeds `seed`, `seed` + 1, ... (`seed` is among the
    fixed settings, else 0). trials: settings to try, 0 for the whole grid or 20. score: what is compared, ""
    for the task's main held-out score. direction: whether more or less of it is better, "" for what the score
    itself says. prune: "asha" stops trials that are behind early.

    Raises ValueError, with value, rule and remedy, for what is no sweep.
    """

    task: str
    space: Mapping[str, Variation]
    name: str = ""
    fixed: Mapping[str, Value] = field(default_factory=dict)
    sampler: Sampler | Literal[""] = setting("", one_of(("", *get_args(Sampler))))
    seeds: int = setting(1, whole(1, MOST_SEEDS))
    trials: int = setting(0, whole(0, 1_000_000))
    score: str = ""
    direction: Direction | Literal[""] = setting("", one_of(("", *get_args(Direction))))
    prune: Prune = setting("none", one_of(get_args(Prune)))

    def __post_init__(self) -> None:
        near = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")
        if self.name and not re.fullmatch(NAME, self.name):
            raise ValueError(
                f"{shortened(self.name)!r} is no name of a sweep: use up to 48 small letters, digits and "
                f"hyphens, such as {near[:48].strip('-') or 'heads'!r}"
            )
        if not self.space:
            raise ValueError("nothing varies; give a setting several values, such as n_heads=1,2,4")
        for name in self.space:
            if name in _NOT_VARIED:
                raise ValueError(f"{name} cannot vary: {_NOT_VARIED[name]}")
            if name in self.fixed:
                raise ValueError(f"{name} is fixed and varies; keep one of the two")
        check_fields(self)
        if (self.n_points or 0) > _MOST_POINTS:
            raise ValueError(
                f"{self.n_points:,} combinations are more than any sweep looks through; list fewer values"
            )
        ranges = [name for name, varied in self.space.items() if isinstance(varied, Range)]
        if self.sampler == "grid" and ranges:
            raise ValueError(
                f"a grid tries every value, and {ranges[0]}={self.space[ranges[0]]} has no end of them; "
                f"list some, such as {ranges[0]}={_some(self.space[ranges[0]])}, or choose sampler tpe"
            )

    @property
    def how(self) -> Sampler:
        """The sampler that is used."""
        if self.sampler:
            return self.sampler
        return "grid" if self.n_points is not None else "tpe"

    @property
    def n_points(self) -> int | None:
        """How many combinations there are, with those that make no model; None where a range is endless."""
        if any(isinstance(varied, Range) for varied in self.space.values()):
            return None
        return math.prod(len(varied.values) for varied in self.space.values() if isinstance(varied, Choices))

    @property
    def seed_list(self) -> tuple[int, ...]:
        """The seeds of every trial."""
        first = self.fixed.get("seed", 0)
        start = first if isinstance(first, int) else 0
        return tuple(range(start, start + self.seeds))

    def settings(self) -> list[str]:
        """What is fixed and what varies, as lines for `--set`."""
        fixed = [f"{name}={written(value)}" for name, value in self.fixed.items()]
        return fixed + [f"{name}={varied}" for name, varied in self.space.items()]

    def command(self) -> str:
        """The line that starts this sweep."""
        words = ["python", "-m", "attention_lab.models.training", "sweep", "--task", self.task]
        for line in self.settings():
            words += ["--set", line]
        words += ["--seeds", str(self.seeds)]
        options = {"trials": self.trials, "sampler": self.sampler, "score": self.score, "name": self.name}
        for name, value in options.items():
            words += [f"--{name}", str(value)] if value else []
        words += ["--prune", self.prune] if self.prune != "none" else []
        return shlex.join(words)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        values = {spec.name: getattr(self, spec.name) for spec in fields(self)}
        space = {name: varied.to_dict() for name, varied in self.space.items()}
        return {**values, "fixed": dict(self.fixed), "space": space}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Spec:
        """The spec that `to_dict` wrote. Raises ValueError for unknown or invalid entries."""
        known = [spec.name for spec in fields(cls)]
        for name in values:
            if name not in known:
                raise ValueError(f"{name!r:.60} is no field of Spec; {nearest(name, known)}")
        try:
            space = {str(name): variation(varied) for name, varied in values["space"].items()}
            return cls(**{**values, "space": space, "fixed": dict(values.get("fixed", {}))})
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"a sweep states its task and its space ({error})") from None


def _some(varied: Variation) -> str:
    """A few numbers of a range."""
    assert isinstance(varied, Range)
    low, high = varied.low, varied.high
    if varied.kind == "int":
        return f"{low:.0f},{round((low + high) / 2)},{high:.0f}"
    middle = math.sqrt(low * high) if varied.kind == "log" else (low + high) / 2
    return f"{low:.3g},{middle:.3g},{high:.3g}"
