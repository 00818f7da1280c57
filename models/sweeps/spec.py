"""What a sweep is to do: its task, what is fixed and what varies, and how trials are chosen and judged.

It is read and written without torch; `models.sweeps.plan` checks it against the task.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, no_type_check

from models.names import nearest, shortened
from models.sweeps.space import Choices, Range, Value, Variation, variation, written

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
    sampler: Sampler | Literal[""] = ""
    seeds: int = 1
    trials: int = 0
    score: str = ""
    direction: Direction | Literal[""] = ""
    prune: Prune = "none"

    def __post_init__(self) -> None:
        if self.name and not re.fullmatch(NAME, self.name):
            raise ValueError(
                f"{shortened(self.name)!r} is no name of a sweep: use up to 48 small letters, digits and "
                f"hyphens, such as {_as_name(self.name)!r}"
            )
        if not self.space:
            raise ValueError("nothing varies; give a setting several values, such as n_heads=1,2,4")
        for name in self.space:
            if name in _NOT_VARIED:
                raise ValueError(f"{name} cannot vary: {_NOT_VARIED[name]}")
            if name in self.fixed:
                raise ValueError(f"{name} is fixed and varies; keep one of the two")
        self._check_numbers()
        self._check_choices()

    def _check_numbers(self) -> None:
        for name, most in (("seeds", MOST_SEEDS), ("trials", 1_000_000)):
            value, least = getattr(self, name), 1 if name == "seeds" else 0
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                shown = shortened(repr(value))
                raise ValueError(f"{name}={shown} is no whole number from {least} to {most:,}; try {name}=3")

    def _check_choices(self) -> None:
        known: dict[str, tuple[str, ...]] = {
            "sampler": ("", *get_args(Sampler)),
            "direction": ("", *get_args(Direction)),
            "prune": get_args(Prune),
        }
        for name, choices in known.items():
            if getattr(self, name) not in choices:
                said = ", ".join(filter(None, choices))
                raise ValueError(f"{name}={getattr(self, name)!r:.60} is unknown; choose one of {said}")
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
        return [f"{name}={written(value)}" for name, value in self.fixed.items()] + [
            f"{name}={varied}" for name, varied in self.space.items()
        ]

    def command(self) -> str:
        """The line that starts this sweep."""
        words = ["python", "-m", "models.training", "sweep", "--task", self.task]
        for setting in self.settings():
            words += ["--set", setting]
        words += ["--seeds", str(self.seeds)]
        given = {"trials": self.trials, "sampler": self.sampler, "score": self.score, "name": self.name}
        for name, value in given.items():
            words += [f"--{name}", str(value)] if value else []
        words += ["--prune", self.prune] if self.prune != "none" else []
        return shlex.join(words)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        values = {spec.name: getattr(self, spec.name) for spec in fields(self)}
        return {
            **values,
            "fixed": dict(self.fixed),
            "space": {name: varied.to_dict() for name, varied in self.space.items()},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Spec:
        """The spec that `to_dict` wrote. Raises ValueError for unknown or invalid entries."""
        known = [spec.name for spec in fields(cls)]
        for name in values:
            if name not in known:
                raise ValueError(f"{name!r:.60} is no field of Spec; {nearest(name, known)}")
        try:
            space = {str(name): variation(said) for name, said in values["space"].items()}
            return cls(**{**values, "space": space, "fixed": dict(values.get("fixed", {}))})
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"a sweep states its task and its space ({error})") from None


def _as_name(text: str) -> str:
    """The nearest text that may be a name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:48].strip("-") or "heads"


def _some(varied: Variation) -> str:
    """A few numbers of a range."""
    assert isinstance(varied, Range)
    low, high = varied.low, varied.high
    if varied.kind == "int":
        return f"{low:.0f},{round((low + high) / 2)},{high:.0f}"
    middle = math.sqrt(low * high) if varied.kind == "log" else (low + high) / 2
    return f"{low:.3g},{middle:.3g},{high:.3g}"
