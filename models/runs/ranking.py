"""Compares runs: groups them by what differs besides the seed, ranks them, and says so in sentences.

It is read without torch. The tests themselves are in significance.py.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .folder import RunFolder
from .report import read_report
from .results import LOSS, Result, bounds_of, lower_is_better
from .significance import LEAST, PAIRED, WELCH, Difference, Summary, between, holm, of_examples, summary

MISSING = "–"
_SEED = re.compile(r"(?<![ ,;:_-])[ ,;:_-]*+\bseed[ =:_-]*+\d+", re.IGNORECASE)


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
        return f"{alike} ({n} runs)" if alike else f"{self.first.name} (and {n - 1} more)"

    @property
    def counted(self) -> list[Result]:
        """The runs whose scores count: those that have finished and were validated."""
        return [run for run in self.runs if run.finished and run.scores]

    def by_seed(self, score: str) -> dict[int, float]:
        """The last held-out score of each seed. Runs with the same seed count once, with their mean: they are
        the same training again, and tell nothing of how chance moves the score.
        """
        values_of: dict[int, list[float]] = {}
        for run in self.counted:
            if score in run.scores:
                values_of.setdefault(run.seed, []).append(run.scores[score])
        return {seed: sum(values) / len(values) for seed, values in sorted(values_of.items())}

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
        scored = [(mean.mean, each) for each in self.groups if (mean := each.summary(self.score))]
        scored.sort(key=lambda pair: pair[0], reverse=not lower_is_better(self.score))
        return [group for _, group in scored]

    @cached_property
    def differences(self) -> dict[tuple[int, int], Difference]:
        """Every two ranked groups, the better mean first, with p corrected for all of them together."""
        places = [(a, b) for a in range(len(self.ranked)) for b in range(a + 1, len(self.ranked))]
        values = [group.by_seed(self.score) for group in self.ranked]
        tested = [between(values[a], values[b], bounds_of(self.score)) for a, b in places]
        return dict(zip(places, holm(tested), strict=True))


def groups(runs: Iterable[Result]) -> list[Group]:
    """The runs by configuration, in the order in which each was met first."""
    by_key: dict[str, list[Result]] = {}
    for run in runs:
        by_key.setdefault(run.key, []).append(run)
    return [Group(tuple(each)) for each in by_key.values()]


def rankable(candidates: Sequence[Group], score: str = "") -> list[Rankable]:
    """The groups by task and data: only those in one of the returned can be ranked against each other.

    score: by which; left out, the main score that all of them have, else the loss.
    """
    kinds: dict[str, list[Group]] = {}
    for group in candidates:
        kinds.setdefault(group.first.data_key, []).append(group)
    return [Rankable(tuple(each), score or main_score(each)) for each in kinds.values()]


def main_score(candidates: Sequence[Group]) -> str:
    """The first score that every group with scores has: the task's main one, or "loss"; "" without any."""
    scored = [group.counted[-1].scores for group in candidates if group.counted]
    return next((name for name in (scored[0] if scored else ()) if all(name in each for each in scored)), "")


def differing(candidates: Sequence[Group]) -> dict[str, list[Any]]:
    """The settings and options that are not the same in all groups: name -> the value in each."""
    every = [{**group.first.data, **group.first.settings} for group in candidates]
    names = dict.fromkeys(name for each in every for name in each)
    values = {name: [each.get(name, MISSING) for each in every] for name in names}
    return {name: each for name, each in values.items() if any(value != each[0] for value in each)}


# Sentences and tables, for the page and the command line
# Nothing is called better, let alone best, where the interval of the difference holds zero.

Outcomes = Callable[[Result, str], tuple[Sequence[float], Sequence[float]] | None]
"""Looks up what each held-out example adds to a run's score, and what it is divided by; else None."""
Rows = list[list[str]]

MOST_PAIRS = 3
"""Pairs that have a sentence each; of more, the table speaks."""
FEW = 5
"""With fewer seeds than this in a test, the sentence warns that n is small."""
OVER_SEEDS = f"An interval is of the mean over {LEAST} seeds or more that are not all alike."


def verdict(candidates: Sequence[Group], score: str = "", *, outcomes: Outcomes | None = None) -> list[str]:
    """What these groups show against each other, in sentences, the most important first.

    score: by which they are ranked; left out, the main one. outcomes: for single runs, which have no seeds to
    test with.
    """
    if not candidates:
        return []
    kinds = rankable(candidates, score)
    sentences: list[str] = []
    if len(kinds) > 1:
        sentences.append(_differing_data(candidates, kinds))
    for kind in kinds:
        if len(kind.groups) > 1 or len(candidates) == 1:
            sentences += _ranking_sentences(kind, outcomes)
    return sentences + _left_out(candidates)


def _differing_data(candidates: Sequence[Group], kinds: Sequence[Rankable]) -> str:
    """Says that not all can be ranked, and in what the data or tasks differ."""
    data = [kind.groups[0].first.data for kind in kinds]
    names = dict.fromkeys(name for each in data for name in each)
    apart = [name for name in names if len({str(each.get(name)) for each in data}) > 1]
    if "task" in apart:
        tasks = ", ".join(dict.fromkeys(kind.groups[0].first.task for kind in kinds))
        why = f"they learn different tasks ({tasks})"
    else:
        why = f"they have different data ({', '.join(apart)})"
    if all(len(kind.groups) == 1 for kind in kinds):
        return f"None of these can be compared: {why}."
    return f"Not all can be compared: {why}; only those of one task and its data are ranked."


def _ranking_sentences(kind: Rankable, outcomes: Outcomes | None) -> list[str]:
    """The sentences on groups that may be ranked."""
    if not kind.ranked:
        return ["None of these runs has been validated at its end yet."]
    names = [f"“{group.name}”" for group in kind.ranked]
    means_known = [group.summary(kind.score) for group in kind.ranked]
    scores = [f"{mean_words(each)} ({_seeds(each.n)})" if each else MISSING for each in means_known]
    means = "; ".join(f"{name} {mean}" for name, mean in zip(names, scores, strict=True))
    way = "lower is better" if lower_is_better(kind.score) else "higher is better"
    sentences = [f"By {kind.score or LOSS}, held out ({way}): {means}."]
    if len(kind.ranked) == 1:
        return sentences
    differences = _differences(kind, outcomes)
    pairs = []
    for (a, b), each in differences.items():
        words = f"no test: {each.why}."
        if each.test:
            words = "a difference is shown." if each.is_shown else "no difference shown."
            words = f"{test_words_of(each)}: {words}"
        pairs.append(
            f"{names[a]} − {names[b]}: {number(each.difference)}{', ' if each.test else '; '}{words}"
        )
    if len(pairs) > MOST_PAIRS:
        pairs = [f"All pairs make {len(pairs)}; the table has their tests."]
    return [_best(names, differences), *sentences, *pairs, *_caveats(differences)]


def _best(names: Sequence[str], differences: dict[tuple[int, int], Difference]) -> str:
    """Whether the first is better than all others, than some, or than none."""
    beaten = [names[b] for (a, b), each in differences.items() if a == 0 and each.is_shown]
    others = len(names) - 1
    if len(beaten) == others:
        whom = "the other" if others == 1 else f"each of the other {others}"
        return f"{names[0]} is better than {whom}."
    if any(each.is_shown for each in differences.values()):
        worse = "; ".join(
            f"{names[a]} is better than {names[b]}" for (a, b), each in differences.items() if each.is_shown
        )
        return f"No best is shown: {worse}; between the others no difference is shown."
    return "No difference is shown between them." if others > 1 else "No difference is shown between the two."


def test_words_of(difference: Difference) -> str:
    """The interval, the test with its n and its p of a difference."""
    parts = []
    if difference.interval is not None:
        parts.append(f"95% interval {number(difference.interval[0])} to {number(difference.interval[1])}")
    parts += [f"{difference.test}, n = {count(difference)}", p_words(difference.p)]
    if difference.holm is not None and difference.holm != difference.p:
        parts.append(f"after Holm {p_words(difference.holm)}")
    if difference.signed_rank is not None:
        parts.append(f"Wilcoxon's signed-rank test {p_words(difference.signed_rank)}")
    return ", ".join(parts)


def count(difference: Difference) -> str:
    """The n of a test: "5 pairs of seeds", "4 and 5 seeds", or examples."""
    if len(difference.n) == 2:
        return f"{difference.n[0]} and {difference.n[1]} seeds"
    of = "examples" if "bootstrap" in difference.test else "pairs of seeds"
    return f"{difference.n[0]:,} {of}" if difference.n else "0"


def _caveats(differences: dict[tuple[int, int], Difference]) -> list[str]:
    tests = [each for each in differences.values() if each.test]
    if not tests:
        return []
    if "bootstrap" in tests[0].test:
        return [
            "The tests compare these trained models on the held-out examples; "
            f"for other seeds, train at least {LEAST} of each."
        ]
    if any(min(each.n) < FEW for each in tests if each.test in (PAIRED, WELCH)):
        return ["n is small: the test misses much."]
    return []


def _differences(kind: Rankable, outcomes: Outcomes | None) -> dict[tuple[int, int], Difference]:
    """The tests between every two ranked groups: over seeds, or of single runs over their examples."""
    if outcomes is None or any(len(group.by_seed(kind.score)) != 1 for group in kind.ranked):
        return kind.differences
    examples = [outcomes(group.counted[-1], kind.score) for group in kind.ranked]
    known = [each for each in examples if each is not None and len(each[0]) > 1]
    if len(known) < len(examples) or any(list(each[1]) != list(known[0][1]) for each in known):
        return kind.differences  # not all have kept theirs, or they are of other examples
    places = [(a, b) for a in range(len(known)) for b in range(a + 1, len(known))]
    tests = [of_examples(known[a][0], known[b][0], known[a][1]) for a, b in places]
    return dict(zip(places, holm(tests), strict=True)) or kind.differences


def _left_out(candidates: Sequence[Group]) -> list[str]:
    """Says which runs do not count."""
    live = [run for group in candidates for run in group.runs if not run.finished]
    bare = [run for group in candidates for run in group.runs if run.finished and not run.scores]
    sentences = []
    if live:
        names = ", ".join(f"{run.name} (step {run.step:,} of {run.steps:,})" for run in live)
        sentences.append(f"Not counted, since not finished: {names}.")
    if bare:
        sentences.append(f"Not counted, since never validated: {', '.join(run.name for run in bare)}.")
    return sentences


def _seeds(n: int) -> str:
    return "one seed" if n == 1 else f"n = {n} seeds"


def mean_words(summary: Summary, times: int = 1) -> str:
    """A mean, with ± the standard deviation where there is one, of which two digits are told and as many of
    the mean. times: 100 for per cent.
    """
    mean = times * summary.mean
    if summary.spread is None:
        return number(mean)
    spread = times * summary.spread
    if spread == 0 or not math.isfinite(spread):
        return f"{number(mean)} ± {number(spread)}"
    digits = min(9, max(0, 1 - math.floor(math.log10(spread))))
    return f"{mean:,.{digits}f} ± {spread:,.{digits}f}".replace("-", "−")


def interval_words(interval: tuple[float, float] | None) -> str:
    """An interval as two numbers; "–" for none."""
    return MISSING if interval is None else f"{number(interval[0])} to {number(interval[1])}"


def number(value: float) -> str:
    """A number with four significant digits."""
    return f"{value:.4g}".replace("-", "−")


def p_words(p: float | None) -> str:
    """A p value: three digits, or that it is below 0.001."""
    if p is None:
        return ""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def scores_table(candidates: Sequence[Group]) -> Rows:
    """A row per group with mean, spread, n and interval of every score; the first row names the columns."""
    scores = (run.scores for group in candidates for run in group.counted)
    names = list(dict.fromkeys(name for each in scores for name in each))
    columns = [f"{name}{what}" for name in names for what in ("", ", 95% interval over seeds")]
    rows = [["configuration", "seeds", *columns]]
    for group in candidates:
        cells: list[str] = []
        for known in map(group.summary, names):
            cells += [mean_words(known), interval_words(known.interval)] if known else [MISSING] * 2
        seeds = ", ".join(str(run.seed) for run in group.runs)
        rows.append([group.name, seeds, *cells])
    return rows


def differences_table(
    candidates: Sequence[Group], score: str = "", *, outcomes: Outcomes | None = None
) -> Rows:
    """A row per two groups that may be ranked: difference, interval, test, n, p and verdict."""
    rows = [["first", "second", "score", "difference", "95% interval", "test", "n", "p", "Holm", "shown"]]
    for kind in rankable(candidates, score):
        for (a, b), each in _differences(kind, outcomes).items():
            row = [kind.ranked[a].name, kind.ranked[b].name, kind.score, number(each.difference)]
            row += [interval_words(each.interval), each.test]
            if each.test:
                shown = "yes" if each.is_shown else "no difference shown"
                row += [count(each), p_words(each.p), p_words(each.holm), shown]
            else:
                row += [_seeds(min(each.n)) if each.n else "", p_words(each.p), "", "no test"]
            rows.append([cell or MISSING for cell in row])
    return rows


def differing_table(candidates: Sequence[Group], words: Callable[[Any], str] = str) -> Rows:
    """A row per setting that is not the same in all groups; the first row names the groups.

    words: writes a value.
    """
    rows = [["setting", *(group.name for group in candidates)]]
    return rows + [[name, *map(words, values)] for name, values in differing(candidates).items()]


# Outcomes of single examples, by which two single runs are compared

HELD_OUT, LARGEST = "held out", 1e30


def outcomes_in(folders: Mapping[str, RunFolder]) -> Outcomes:
    """Looks examples up in the reports of these folders, by the runs' ids; None where a report has none."""

    def outcomes_of(run: Result, score: str) -> tuple[Sequence[float], Sequence[float]] | None:
        folder = folders.get(run.id)
        if folder is None:
            return None
        try:
            report = read_report(folder)
        except ValueError:
            return None
        return of_report(report, score) if report.get("step") == run.step else None

    return outcomes_of


def of_report(report: Mapping[str, Any], score: str) -> tuple[list[float], list[float]] | None:
    """The sums of each held-out example and what they are divided by; None where the report has no such."""
    pair: Any = report
    for name in ("parts", HELD_OUT, "outcomes", score):
        pair = pair.get(name) if isinstance(pair, dict) else None
    if not isinstance(pair, list) or [type(each) for each in pair] != [list, list]:
        return None
    above, below = pair
    if not all(isinstance(value, int | float) and abs(value) < LARGEST for value in (*above, *below)):
        return None
    sums, parts = list(map(float, above)), list(map(float, below))
    return (sums, parts) if len(sums) == len(parts) and sum(parts) > 0 else None
