"""Runs that differ by their seed alone as one group, and which groups may be ranked against each other.

It is read without torch. The sentences are in verdicts.py, the tests in significance.py.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from models.runs.results import Result, bounds_of, lower_is_better
from models.runs.significance import Difference, Summary, between, holm, summary

__all__ = ["Group", "Rankable", "differs_by_seed_alone", "groups", "rankable", "summary"]

MISSING = "–"
_SEED = re.compile(r"[ ,;:_-]*\bseed[ =:_-]*\d+", re.IGNORECASE)


@dataclass(frozen=True)
class Group:
    """Runs of one configuration, in the order given; one at least."""

    runs: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """One of the runs: all have its settings."""
        return self.runs[0]

    @property
    def name(self) -> str:
        """What the group is called: as its only run; as all of them where their names differ by a seed alone;
        else as the first with the number of the others.
        """
        n = len(self.runs)
        if n == 1:
            return self.first.name
        names = {_SEED.sub("", run.name).strip() for run in self.runs}
        alike = names.pop() if len(names) == 1 else ""
        return f"{alike} ({n} runs)" if alike else f"{self.first.name} and {n - 1} more"

    @property
    def counted(self) -> list[Result]:
        """The runs whose scores count: those that have finished and were validated."""
        return [run for run in self.runs if run.finished and run.scores]

    def by_seed(self, score: str) -> dict[int, float]:
        """The last held-out score of each seed. Runs with the same seed count once, with their mean: they are
        the same training again, and tell nothing of how chance moves the score.
        """
        found: dict[int, list[float]] = {}
        for run in self.counted:
            if score in run.scores:
                found.setdefault(run.seed, []).append(run.scores[score])
        return {seed: sum(values) / len(values) for seed, values in sorted(found.items())}

    def summary(self, score: str) -> Summary | None:
        """Mean, spread, n and interval of a score over the seeds; None where no run has it."""
        values = list(self.by_seed(score).values())
        return summary(values, bounds_of(score)) if values else None


@dataclass(frozen=True)
class Rankable:
    """Groups that may be ranked: of the same task, data and score. score: which, "" where they have none."""

    groups: tuple[Group, ...]
    score: str

    @cached_property
    def ranked(self) -> list[Group]:
        """The groups with a score, the best mean first."""
        scored = [
            (found.mean, at) for at, each in enumerate(self.groups) if (found := each.summary(self.score))
        ]
        scored.sort(key=lambda pair: pair[0], reverse=not lower_is_better(self.score))
        return [self.groups[at] for _, at in scored]

    @cached_property
    def differences(self) -> dict[tuple[int, int], Difference]:
        """Every two ranked groups, the better mean first, with p corrected for all of them together."""
        places = [(a, b) for a in range(len(self.ranked)) for b in range(a + 1, len(self.ranked))]
        values = [group.by_seed(self.score) for group in self.ranked]
        tested = [between(values[a], values[b], bounds_of(self.score)) for a, b in places]
        return dict(zip(places, holm(tested), strict=True))


def differs_by_seed_alone(first: Result, second: Result) -> bool:
    """Whether two runs have the same configuration and data, and different seeds."""
    return first.key == second.key and first.seed != second.seed


def groups(runs: Iterable[Result]) -> list[Group]:
    """The runs by configuration, in the order in which each was met first."""
    found: dict[str, list[Result]] = {}
    for run in runs:
        found.setdefault(run.key, []).append(run)
    return [Group(tuple(each)) for each in found.values()]


def rankable(found: Sequence[Group], score: str = "") -> list[Rankable]:
    """The groups by task and data: only those in one of the returned can be ranked against each other.

    score: by which; left out, the main score that all of them have, else the loss.
    """
    kinds: dict[str, list[Group]] = {}
    for group in found:
        kinds.setdefault(group.first.data_key, []).append(group)
    return [Rankable(tuple(each), score or main_score(each)) for each in kinds.values()]


def main_score(found: Sequence[Group]) -> str:
    """The first score that every group with scores has: the task's main one, or "loss"; "" without any."""
    scored = [group.counted[-1].scores for group in found if group.counted]
    return next((name for name in (scored[0] if scored else ()) if all(name in each for each in scored)), "")


def differing(found: Sequence[Group]) -> dict[str, list[Any]]:
    """The settings and options that are not the same in all groups: name -> the value in each."""
    every = [{**group.first.data, **group.first.settings} for group in found]
    names = dict.fromkeys(name for each in every for name in each)
    values = {name: [each.get(name, MISSING) for each in every] for name in names}
    return {name: each for name, each in values.items() if any(value != each[0] for value in each)}
