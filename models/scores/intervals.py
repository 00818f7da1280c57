"""95% intervals of scores over examples: sentences, pictures or pieces of text, never tokens.

A share of examples that are right has Wilson's interval; all else is found by resampling.
"""

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from jaxtyping import Float

from models.data.tasks import Each

RESAMPLES, FEWEST = 1_000, 200
MANY = 4_096  # examples above which there are fewer resamples, so that the time stays the same
LEVEL = 0.95
WILSON = "Wilson's score interval (1927), where examples are right or wrong"
_EDGES = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
_NORMAL = NormalDist().inv_cdf(_EDGES[1])
_SEED = 0
_TOGETHER = 1_000_000  # counts of resamples at once: 8 MB
Interval = tuple[float, float]


def n_resamples(n: int) -> int:
    """How often so many examples are drawn again."""
    return min(RESAMPLES, max(FEWEST, RESAMPLES * MANY // max(1, n)))


def method(n: int) -> str:
    """What an interval over so many examples is, in words."""
    return f"percentile bootstrap over examples, {n_resamples(n):,} resamples"


def counts(n: int, seed: int = _SEED) -> Iterator[Float[np.ndarray, "resample example"]]:
    """How often each example is in each resample, some resamples at a time; the same for n and a seed.

    A resample is as many examples as there are, drawn with replacement (Efron 1979).
    """
    total = n_resamples(n)
    if total * n <= _TOGETHER:
        yield _kept_counts(n, total, seed)
        return
    rng, step = np.random.default_rng(seed), max(1, _TOGETHER // n)
    for first in range(0, total, step):
        yield _counted(rng, n, min(step, total - first))


@lru_cache(maxsize=4)
def _kept_counts(n: int, total: int, seed: int) -> Float[np.ndarray, "resample example"]:
    return _counted(np.random.default_rng(seed), n, total)


def _counted(rng: np.random.Generator, n: int, total: int) -> Float[np.ndarray, "resample example"]:
    drawn = rng.integers(n, size=(total, n)) + np.arange(total)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=total * n).reshape(total, n).astype(np.float64)


def resampled(each: Each, *, seed: int = _SEED) -> Float[np.ndarray, " resample"]:
    """The score of each resample. It is a quotient of sums, so a long sentence weighs as many tokens as it
    has. Resamples in which nothing counts are NaN.
    """
    above, below = (np.asarray(side, dtype=np.float64) for side in each)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.concatenate([times @ above / (times @ below) for times in counts(len(above), seed)])


def interval(each: Each, *, seed: int = _SEED) -> Interval | None:
    """The 95% interval of a score: Wilson's where it is a share of examples that are right, else that of the
    percentile bootstrap; None of fewer than two examples that count.

    Where all examples are alike, resampling cannot tell anything, and of few it says that a share which was
    seen may be 0. scipy.stats.bootstrap(method="percentile") finds the same; the resamples
    are drawn here, since all scores of a validation share them, and training must not wait for them.
    """
    if (np.asarray(each.below) > 0).sum() < 2:
        return None
    right = right_of(each)
    return between(resampled(each, seed=seed)) if right is None else wilson(*right)


def between(found: Float[np.ndarray, " resample"]) -> Interval | None:
    """What 95% of the resamples lie between; None where that is no number."""
    if np.isnan(found).all():
        return None
    low, high = np.nanquantile(found, _EDGES).tolist()
    return (low, high) if math.isfinite(low + high) else None


def right_of(each: Each) -> tuple[int, int] | None:
    """How many examples are right, of how many; None where some are neither right nor wrong.

    Where an example counts several answers, that is known only if all are right, or none is.
    """
    above, below = (np.asarray(side, dtype=np.float64) for side in each)
    above, below = above[below > 0], below[below > 0]
    alike = (above == 0).all() or (above == below).all()
    single = (below == 1).all() and np.isin(above, (0, 1)).all()
    if not single and not (alike and (below == np.round(below)).all()):
        return None
    return int((above == below).sum()), len(below)


def wilson(right: int, n: int) -> Interval:
    """The shares from which that of n examples is at most 1.96 of their own standard errors away.

    These are the roots of (p - right / n)² = z² p (1 - p) / n, which lie in 0 to 1 (Wilson 1927). After 0 of
    256 they are 0 and 1.5%.
    """
    z2 = _NORMAL**2
    middle = right + z2 / 2
    half = _NORMAL * math.sqrt(right * (n - right) / n + z2 / 4)
    low = 0.0 if right == 0 else (middle - half) / (n + z2)
    return low, 1.0 if right == n else (middle + half) / (n + z2)


def loss_interval(losses: Mapping[str, Each], weights: Mapping[str, float]) -> Interval | None:
    """The interval of a weighted sum of scores whose resamples are of the same examples."""
    if not losses or any((np.asarray(each.below) > 0).sum() < 2 for each in losses.values()):
        return None
    return between(np.sum([weights[name] * resampled(each) for name, each in losses.items()], axis=0))
