"""What a few numbers per configuration show: mean and spread, and whether two differ by more than chance.

Pure statistics on plain numbers; it reads no folders. Every test says its name and its n. SciPy is imported
where a test is made, since it takes half a second.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

LEAST = 3
"""The fewest seeds of which an interval is stated and with which a test is made."""
LEAST_RANKS = 6
"""The fewest pairs whose signed ranks can have p < 0.05: the smallest p of n pairs is 2 / 2^n."""
LEVEL = 0.05
PAIRED, WELCH = "paired t test", "Welch's t test"
"""The tests that assume that scores vary normally over the seeds."""
RESAMPLES = 10_000
BOOTSTRAP_SEED = 0
Interval = tuple[float, float]
Bounds = tuple[float, float]
"""What a number cannot be below or above."""
ANY: Bounds = (-math.inf, math.inf)


@dataclass(frozen=True)
class Summary:
    """The mean of n numbers; their standard deviation with n - 1, None for one number; the mean's 95%
    interval, as `mean_interval` finds it.
    """

    mean: float
    spread: float | None
    n: int
    interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The first mean minus the second, and what was tested.

    test: its name, "" where none can be made, and then `why` says what is missing. n: pairs, or the numbers
    of both. interval: 95%, of the mean difference; None where all differences are alike. p: two-sided.
    holm: p after Holm's correction for all tests that were made together. signed_rank: p of Wilcoxon's test,
    where n allows.
    """

    difference: float
    n: tuple[int, ...] = ()
    test: str = ""
    interval: Interval | None = None
    p: float | None = None
    holm: float | None = None
    signed_rank: float | None = None
    why: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether a difference is shown: the corrected p is below 0.05, and an interval leaves out zero."""
        if self.p is None:
            return False
        low, high = self.interval or (self.difference, self.difference)
        corrected = self.p if self.holm is None else self.holm
        return corrected < LEVEL and not low <= 0 <= high


def summary(values: Sequence[float], bounds: Bounds = ANY) -> Summary:
    """The mean, spread, n and 95% interval of numbers within bounds, one per seed. Raises ValueError for
    none.
    """
    n = len(values)
    if not n:
        raise ValueError("values are empty; give at least one number")
    mean = float(np.mean(values))
    spread = float(np.std(values, ddof=1)) if n > 1 else None
    return Summary(mean, spread, n, mean_interval(values, bounds))


def mean_interval(values: Sequence[float], bounds: Bounds = ANY) -> Interval | None:
    """The 95% interval of a mean; None for fewer than three numbers, or for numbers that are all alike.

    Without bounds it is Student's t (1908), with n - 1 degrees of freedom. Of what can only lie within
    bounds, such as a share, it holds each mean p that is t of its own standard errors or less away, as
    Wilson's (1927) does of counts: the variance grows like (p - low) (high - p), and how large it is, the
    spread over the seeds says. So it ends within the bounds. Numbers outside of their bounds have none.
    """
    n, (low, high) = len(values), bounds
    if n < LEAST or np.ptp(values) == 0:
        return None
    from scipy.stats import t

    mean = float(np.mean(values))
    half = float(t.ppf(1 - LEVEL / 2, n - 1) * np.std(values, ddof=1)) / math.sqrt(n)
    if not math.isfinite(low) or min(values) < low or max(values) > high:
        return mean - half, mean + half
    u, w = mean - low, 1 / (high - low)  # w is 0 without an upper bound
    k = half**2 / (u * (1 - w * u))
    # The roots of (u - p)² = k p (1 - w p), without the difference of two that are nearly alike.
    upper = (2 * u + k + math.sqrt(k * (k + 4 * u * (1 - w * u)))) / (2 * (1 + k * w))
    lower = u * u / ((1 + k * w) * upper)
    return low + lower, min(low + upper, high)  # which it can pass by rounding alone


def _possible(interval: Interval, bounds: Bounds) -> Interval:
    """Of the differences that a test does not reject, those that two numbers within bounds can have."""
    most = bounds[1] - bounds[0]
    return max(float(interval[0]), -most), min(float(interval[1]), most)


def between(first: Mapping[int, float], second: Mapping[int, float], bounds: Bounds = ANY) -> Difference:
    """The difference of two configurations, each with one number per seed, within bounds.

    It is paired where three or more seeds are the same in both; else Welch's test is made of all numbers.
    """
    if not first or not second:
        return Difference(difference=math.nan, why="one of them has no score yet")
    common = sorted(set(first) & set(second))
    if len(common) >= LEAST:
        return paired_test([first[seed] for seed in common], [second[seed] for seed in common], bounds)
    if min(len(first), len(second)) >= LEAST:
        return welch(list(first.values()), list(second.values()), bounds)
    fewest = min(len(first), len(second))
    seeds = "one seed" if fewest == 1 else f"{fewest} seeds"
    return Difference(
        difference=float(np.mean(list(first.values())) - np.mean(list(second.values()))),
        n=(len(first), len(second)),
        why=f"{seeds} of a configuration cannot show a difference; train at least {LEAST} of each",
    )


def paired_test(first: Sequence[float], second: Sequence[float], bounds: Bounds = ANY) -> Difference:
    """The paired t test of three or more pairs, and Wilcoxon's signed-rank test (1945) of six or more.

    Where all differences are the same there is no spread to test against; then the sign test is made.
    Raises ValueError for numbers that are no pairs, or fewer than three.
    """
    if len(first) != len(second) or len(first) < LEAST:
        raise ValueError(
            f"{len(first)} and {len(second)} numbers are not {LEAST} pairs or more; give one of each per seed"
        )
    from scipy import stats

    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    n, mean = len(differences), float(differences.mean())
    if np.ptp(differences) <= 1e-12 * max(1.0, float(np.abs(differences).max())):
        p = min(1.0, 2 * 0.5**n) if mean else 1.0
        return Difference(difference=mean, n=(n,), test="sign test", p=p)
    test = stats.ttest_rel(first, second)
    ranks = float(stats.wilcoxon(differences).pvalue) if n >= LEAST_RANKS else None
    return Difference(
        difference=mean,
        n=(n,),
        test=PAIRED,
        interval=_possible(test.confidence_interval(1 - LEVEL), bounds),
        p=float(test.pvalue),
        signed_rank=ranks,
    )


def welch(first: Sequence[float], second: Sequence[float], bounds: Bounds = ANY) -> Difference:
    """Welch's t test (1947) of numbers that are no pairs. Raises ValueError for fewer than three of each."""
    if min(len(first), len(second)) < LEAST:
        raise ValueError(f"{len(first)} and {len(second)} numbers are too few; give {LEAST} or more of each")
    from scipy import stats

    mean = float(np.mean(first) - np.mean(second))
    n = (len(first), len(second))
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        why = "neither has a spread to test against; choose a score with more digits, or a harder task"
        return Difference(difference=mean, n=n, why=why)
    test = stats.ttest_ind(first, second, equal_var=False)
    interval = _possible(test.confidence_interval(1 - LEVEL), bounds)
    return Difference(difference=mean, n=n, test=WELCH, interval=interval, p=float(test.pvalue))


def of_examples(
    first: Sequence[float], second: Sequence[float], below: Sequence[float] | None = None
) -> Difference:
    """The difference of two single runs on the same held-out examples, from one number per example of each.

    below: what each number is divided by, such as the answers of an example, where a score is a quotient of
    sums; left out, 1 each, and the score is a mean.

    Right and wrong (1 and 0) are tested by McNemar's exact test (1947), other numbers by whether the interval
    leaves out zero; the interval is the paired bootstrap's (Efron 1979; percentiles of 10,000 resamples with
    a fixed seed). It speaks of these two models, not of their configurations, since other seeds are unknown.
    Raises ValueError for lists of different lengths, or fewer than two examples.
    """
    if len(first) != len(second) or len(first) < 2:
        raise ValueError(
            f"{len(first)} and {len(second)} examples are no pairs; give those of the same examples"
        )
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    weights = np.ones_like(a) if below is None else np.asarray(below, dtype=np.float64)
    from scipy.stats import binomtest, bootstrap

    differences = a - b
    resamples = bootstrap(
        (differences, weights),
        lambda above, below, axis: above.sum(axis) / np.maximum(below.sum(axis), 1e-12),
        paired=True,
        n_resamples=RESAMPLES,
        batch=max(1, 1_000_000 // len(a)),  # parts that stay small in memory
        confidence_level=1 - LEVEL,
        method="percentile",
        rng=BOOTSTRAP_SEED,
    )
    means, (low, high) = resamples.bootstrap_distribution, resamples.confidence_interval
    interval = (float(low), float(high)) if low < high else None
    n, mean = (len(a),), float(differences.sum() / weights.sum())
    if (weights == 1).all() and np.isin(np.concatenate((a, b)), (0.0, 1.0)).all():
        only_first, only_second = int((differences > 0).sum()), int((differences < 0).sum())
        apart = only_first + only_second
        p = float(binomtest(only_first, apart).pvalue) if apart else 1.0
        test = "McNemar's exact test with a paired bootstrap"
        return Difference(difference=mean, n=n, test=test, interval=interval, p=p)
    p = min(1.0, 2 * (1 + min((means <= 0).sum(), (means >= 0).sum())) / (RESAMPLES + 1))
    return Difference(difference=mean, n=n, test="paired bootstrap", interval=interval, p=float(p))


def holm(differences: Sequence[Difference]) -> list[Difference]:
    """The differences with p corrected for all that were tested together (Holm 1979)."""
    tested = sorted((each.p, at) for at, each in enumerate(differences) if each.p is not None)
    corrected, least = list(differences), 0.0
    for rank, (p, at) in enumerate(tested):
        least = max(least, min(1.0, (len(tested) - rank) * p))
        corrected[at] = replace(differences[at], holm=least)
    return corrected
