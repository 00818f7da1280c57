"""Families of shipped models: each member differs from the others in what dials say, and in nothing else."""

import json
import statistics
import tomllib
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from .folders import SHIPPED

SCORES = "scores.json"
"""In a family's folder: by member, the scores of each seed, which `benchmarks.families` writes."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """title, summary, taught, examples, showcase: as an offer has them. dials: fields of the config, each
    with the values of its members; first: the member that opens first. alone: only one dial is turned at a
    time, as in Table 3 of Vaswani et al. 2017; a size may follow another, as d_head follows the heads.
    scores: what members are compared by. recipe: how each is trained, beside its dials.
    """

    name: str
    title: str
    summary: str
    taught: str
    dials: dict[str, list[Any]]
    first: dict[str, Any]
    alone: bool = False
    scores: tuple[str, ...]
    examples: tuple[dict[str, Any], ...]
    showcase: dict[str, Any]
    recipe: dict[str, Any] = field(default_factory=dict)

    def member(self, values: dict[str, Any]) -> str:
        """The name of the member with these values, one for each dial. Raises ValueError for two turned dials
        where one is turned alone.
        """
        if not self.alone:
            return f"{self.name}/{'-'.join(str(values[dial]) for dial in self.dials)}"
        changed = self.changed(values)
        if len(changed) > 1:
            said = " and ".join(f"{name}={value}" for name, value in changed.items())
            raise ValueError(f"{said} are of two models; turn one of them back")
        (of,) = [f"{name}-{value}" for name, value in changed.items()] or ["first"]
        return f"{self.name}/{of}"

    def changed(self, values: dict[str, Any]) -> dict[str, Any]:
        """What differs from the first member."""
        return {name: value for name, value in values.items() if value != self.first[name]}

    def members(self) -> dict[str, dict[str, Any]]:
        """All members by name, with their values."""
        points = [] if self.alone else product(*self.dials.values())
        every = [dict(zip(self.dials, values, strict=True)) for values in points]
        if self.alone:
            turned = ({**self.first, dial: value} for dial, values in self.dials.items() for value in values)
            every = [self.first, *(values for values in turned if values != self.first)]
        return {self.member(values): values for values in every}

    def scored(self) -> dict[str, list[dict[str, float]]]:
        """By member, the scores of each seed; empty where nothing was scored."""
        path = SHIPPED / self.name / SCORES
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return {f"{self.name}/{name}": scores for name, scores in known.items()}


def scores_of(family: Family, values: dict[str, Any], score: str) -> tuple[float, float]:
    """A member's score, a mean over the seeds that it was trained with, and half its 95% interval, by
    Student's t; NaN of fewer than three seeds.
    """
    from scipy import stats  # takes a moment

    found = [each[score] for each in family.scored()[family.member(values)]]
    mean, n = sum(found) / len(found), len(found)
    if n < 3:  # Student's t of two says next to nothing
        return mean, float("nan")
    return mean, float(stats.t.ppf(0.975, n - 1)) * statistics.stdev(found) / n**0.5


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FAMILIES = {name: Family(name=name, **fields) for name, fields in _TABLE.items()}
