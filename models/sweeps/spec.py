"""Specifies a sweep: its task, what is fixed, what varies, and how a person writes it."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, no_type_check

from pydantic import TypeAdapter, ValidationError

from ..fields import characters, check_fields, one_of, setting, shortened, value_of, whole
from ..runs.results import lower_is_better

Value = bool | int | float | str | None
Kind = Literal["log", "uniform", "int"]
"""How a range is drawn from: evenly in the logarithm, evenly, or evenly among whole numbers."""
Sampler = Literal["grid", "random", "tpe"]
Direction = Literal["maximize", "minimize"]
Prune = Literal["none", "asha"]

NAME = "[a-z0-9][a-z0-9-]{0,47}"
MOST_CHOICES = 100
USUAL_TRIALS = 20
"""The trials of a random or a TPE sweep where nobody says how many."""
SAMPLERS = {
    "": "chosen for you",
    "grid": "grid: every combination",
    "random": "random draws",
    "tpe": "TPE: near what did well",
}
PRUNERS = {"none": "no trial is stopped early", "asha": "ASHA: stops trials that are behind"}
JOURNAL = "journal.log"
"""Optuna's file of a sweep's trials, in its folder."""
_PRUNING = "ASHA (Li et al. 2020): one of three trials goes on at each rung"
_SCORE = "The score that ranks the trials; empty: the task's held-out score"
_CALL = re.compile(r"(log|uniform|int)\s*\(([^()]*)\)")
_TO = re.compile(r"\b(?:to|bis|à)\b|…|\.\.+")
_WHOLE_TEXTS = ("mask_argument",)  # a painted mask is written with commas
NOT_VARIED = {
    "seed": "every trial is trained with the same seeds: say how many with seeds",
    "device": "trials on different devices cannot be compared: fix it",
    "held_out": "scores on different examples cannot be compared: fix it",
    "threads": "it changes the time, not the result: fix it",
}


@no_type_check  # the checks below say in words what a field may be
@dataclass(frozen=True)
class Choices:
    """The values of a setting that are tried, in order. Raises ValueError for none, or one twice."""

    values: tuple[Value, ...]
    kind: Literal["choices"] = "choices"

    def __post_init__(self) -> None:
        if not 1 <= len(self.values) <= MOST_CHOICES:
            raise ValueError(
                f"{len(self.values)} choices of one setting: give 1 to {MOST_CHOICES}, or a range such as "
                "log(1e-4,1e-2)"
            )
        twice = [value for at, value in enumerate(self.values) if value in self.values[:at]]
        if twice:
            raise ValueError(f"{shortened(str(twice[0]))!r} is among the choices twice; name it once")

    def __str__(self) -> str:
        return ",".join(map(written, self.values))


@no_type_check  # the checks below say in words what a field may be
@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`, both included. Raises ValueError for a range without numbers."""

    kind: Kind
    low: int | float
    high: int | float

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise ValueError(f"{self} holds no range: its first number must be the smaller one")
        if self.kind == "log" and not self.low > 0:
            raise ValueError(f"{self} cannot be drawn on a logarithmic scale: give a first number above 0")
        if self.kind == "int" and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise ValueError(f"{self} needs whole numbers; write int(1,8), or uniform(0.1,0.5)")

    def __str__(self) -> str:
        return f"{self.kind}({self.low:.12g},{self.high:.12g})"


Variation = Choices | Range


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
        whole_text = name in _WHOLE_TEXTS or _is_file(text)
        varied = _value(text) if whole_text else parse_value(name, text)
        if isinstance(varied, Choices | Range):
            space[name] = varied
        else:
            fixed[name] = varied
    return fixed, space


def parse_value(name: str, text: str, read: Callable[[str], Any] | None = None) -> Value | Variation:
    """The range (log(1e-4,1e-2), 1 to 8), the choices (1, 2, 4) or the one value that a text is.

    read: the value of a part of it; left out, the number or word that it looks like. Ends without a kind are
    drawn as whole numbers where both are, and by their ratio where they are far apart.
    Raises ValueError for a range without numbers, and as `read` does.
    """
    read = read or _value
    call = _CALL.fullmatch(text)
    ends = call[2].split(",") if call else _TO.split(text)
    if call or len(ends) == 2:
        numbers: list[Any] = [value for value in (read(end.strip()) for end in ends) if _is_number(value)]
        if len(numbers) == 2 == len(ends):
            low, high = numbers
            far = "log" if 0 < 8 * low <= high else "uniform"
            kind = call[1] if call else "int" if isinstance(low, int) and isinstance(high, int) else far
            return Range(kind, low, high)  # type: ignore[arg-type]
        if call:
            raise ValueError(f"{name}={shortened(text)} needs two numbers; write {name}={call[1]}(1,8)")
    if "," not in text:
        return read(text)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ValueError(f"{name}: no value is given; write some, such as 1, 2, 4")
    return Choices(tuple(map(read, parts)))


def written(value: Value) -> str:
    """A value as `--set` reads it."""
    return "none" if value is None else str(value)


def _value(text: str) -> Value:
    """The number or word that a text looks like, else the text."""
    value = value_of(text)
    return value if value is None or isinstance(value, bool) or _is_number(value) else text


def _is_number(value: object) -> bool:
    """Says whether a value is a number that a float can hold; very large whole numbers are not."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and -1.7e308 < value < 1.7e308  # type: ignore[operator]


def _is_file(text: str) -> bool:
    try:
        return Path(text).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False


@no_type_check  # the checks below say in words what a field may be
@dataclass(frozen=True, kw_only=True)
class Spec:
    """A sweep as it is asked for; `models.sweeps.plan` checks it against the task.

    name: of its folder and in links, "" to have one made up. fixed: settings of the task, the model and the
    training that all trials share, as in `--set`. space: what varies. sampler: "random" is of Bergstra and
    Bengio 2012, "tpe" the tree-structured Parzen estimators of Bergstra et al. 2011; "" is the grid where all
    are choices, else "tpe". seeds: the first is `seed` of the fixed settings, else 0. trials: a part of a
    grid is drawn at random.

    Raises ValueError, with value, rule and remedy, for what is no sweep.
    """

    task: str
    space: Mapping[str, Variation]
    name: str = setting("", characters(48), "Name", "Small letters, digits and hyphens; empty: invented")
    fixed: Mapping[str, Value] = field(default_factory=dict)
    seeds: int = setting(1, whole(1, 100), "Seeds", "Runs of each trial; with more, its mean is surer")
    trials: int = setting(0, whole(0, 10_000), "Trials", "Settings to try; 0 is the whole grid, or 20 draws")
    sampler: Sampler | Literal[""] = setting("", one_of(SAMPLERS), "How trials are chosen")
    prune: Prune = setting("none", one_of(PRUNERS), "Pruning", _PRUNING)
    score: str = setting("", characters(60), "Score", _SCORE)

    def __post_init__(self) -> None:
        if self.name and not re.fullmatch(NAME, self.name):
            near = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")[:48].strip("-") or "heads"
            raise ValueError(
                f"{shortened(self.name)!r} is no name of a sweep: use up to 48 small letters, digits and "
                f"hyphens, such as {near!r}"
            )
        if not self.space:
            raise ValueError("nothing varies; give a setting several values, such as n_heads=1,2,4")
        for name, varied in self.space.items():
            if name in NOT_VARIED:
                raise ValueError(f"{name} cannot vary: {NOT_VARIED[name]}")
            if name in self.fixed:
                raise ValueError(f"{name} is fixed and varies; keep one of the two")
            if self.sampler == "grid" and isinstance(varied, Range):
                raise ValueError(
                    f"{name}={varied} has no end of values for a grid; list some, or choose sampler tpe"
                )
        check_fields(self)

    @property
    def direction(self) -> Direction:
        """Says whether more or less of the score is better."""
        return "minimize" if lower_is_better(self.score) else "maximize"

    @property
    def n_points(self) -> int | None:
        """How many combinations there are, with those that make no model; None where a range is endless."""
        if any(isinstance(varied, Range) for varied in self.space.values()):
            return None
        return math.prod(len(varied.values) for varied in self.space.values() if isinstance(varied, Choices))

    @property
    def how(self) -> Sampler:
        """The sampler that is used."""
        if self.sampler and self.sampler != "grid":
            return self.sampler
        if self.n_points is None:
            return "tpe"
        return "random" if 0 < self.trials < self.n_points else "grid"

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
        options = ("seeds", "trials", "sampler", "score", "name", "prune")
        for name in options:
            value = getattr(self, name)
            words += [f"--{name}", str(value)] if value not in (0, "", "none") else []
        return shlex.join(words)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Spec:
        """The spec that `to_dict` wrote. Raises ValueError for anything else."""
        try:
            return TypeAdapter(cls).validate_python(values)
        except ValidationError as error:
            first = error.errors()[0]
            why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise ValueError(f"a sweep states its task and its space ({why})") from None
