"""Scores over examples with 95% intervals: sentences, pictures or pieces of text, never tokens.

A share of examples that are right has Wilson's interval; all else is found by resampling.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from ..data.tasks import Batch, Judgement, Quotients, Tally, Task, quotients
from ..engine.transformer import Transformer

RESAMPLES, FEWEST = 1_000, 200
MANY = 4_096  # examples above which there are fewer resamples, so that the time stays the same
LEVEL = 0.95
WILSON = "Wilson's score interval (1927), where examples are right or wrong"
_EDGES = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
_SEED = 0
_TOGETHER = 1_000_000  # counts of resamples at once: 8 MB
Interval = tuple[float, float]


def n_resamples(n: int) -> int:
    """How often so many examples are drawn again."""
    return min(RESAMPLES, max(FEWEST, RESAMPLES * MANY // max(1, n)))


def method(n: int) -> str:
    """What an interval over so many examples is, in words."""
    return f"percentile bootstrap over examples, {n_resamples(n):,} resamples"


def counts(n: int) -> Iterator[Float[np.ndarray, "resample example"]]:
    """How often each example is in each resample, some resamples at a time; the same for n.

    A resample is as many examples as there are, drawn with replacement (Efron 1979).
    """
    total = n_resamples(n)
    if total * n <= _TOGETHER:
        yield _kept_counts(n, total)
        return
    rng, step = np.random.default_rng(_SEED), max(1, _TOGETHER // n)
    for first in range(0, total, step):
        yield _counted(rng, n, min(step, total - first))


@lru_cache(maxsize=4)
def _kept_counts(n: int, total: int) -> Float[np.ndarray, "resample example"]:
    return _counted(np.random.default_rng(_SEED), n, total)


def _counted(rng: np.random.Generator, n: int, total: int) -> Float[np.ndarray, "resample example"]:
    cells = rng.integers(n, size=(total, n)) + np.arange(total)[:, None] * n
    return np.bincount(cells.ravel(), minlength=total * n).reshape(total, n).astype(np.float64)


def resampled(each: Quotients) -> Float[np.ndarray, " resample"]:
    """The score of each resample. It is a quotient of sums, so a long sentence weighs as many tokens as it
    has. Resamples in which nothing counts are NaN.
    """
    above, below = (np.asarray(side, dtype=np.float64) for side in each)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.concatenate([times @ above / (times @ below) for times in counts(len(above))])


def interval(each: Quotients) -> Interval | None:
    """The 95% interval of a score: Wilson's where it is a share of examples that are right, else that of the
    percentile bootstrap; None of fewer than two examples that count.

    Where all examples are alike, resampling cannot tell anything, and of few it says that a share which was
    seen may be 0. scipy.stats.bootstrap(method="percentile") finds the same; the resamples
    are drawn here, since all scores of a validation share them, and training must not wait for them.
    """
    if (np.asarray(each.below) > 0).sum() < 2:
        return None
    right = right_of(each)
    return between(resampled(each)) if right is None else wilson(*right)


def between(scores: Float[np.ndarray, " resample"]) -> Interval | None:
    """What 95% of the resamples lie between; None where that is no number."""
    if np.isnan(scores).all():
        return None
    low, high = np.nanquantile(scores, _EDGES).tolist()
    return (low, high) if math.isfinite(low + high) else None


def right_of(each: Quotients) -> tuple[int, int] | None:
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

    They lie in 0 to 1 (Wilson 1927): after 0 of 256 they are 0 and 1.5%. scipy.stats finds the same, but
    takes a second to import, for which every run would wait.
    """
    z = NormalDist().inv_cdf(_EDGES[1])
    middle, wide = 2 * right + z * z, z * math.sqrt(z * z + 4 * right * (n - right) / n)
    low, high = ((middle + side) / (2 * (n + z * z)) for side in (-wide, wide))
    return (low if right else 0.0, high if right < n else 1.0)


def loss_interval(losses: Mapping[str, Quotients], weights: Mapping[str, float]) -> Interval | None:
    """The interval of a weighted sum of scores whose resamples are of the same examples."""
    if not losses or any((np.asarray(each.below) > 0).sum() < 2 for each in losses.values()):
        return None
    return between(np.sum([weights[name] * resampled(each) for name, each in losses.items()], axis=0))


# A model's scores on held-out examples


class Verdict(NamedTuple):
    """scores: "loss" and the task's. n: the examples that each counts. intervals: of 95%, where known."""

    scores: dict[str, float]
    n: dict[str, int]
    intervals: dict[str, Interval]

    def noted(self) -> dict[str, Any]:
        """As a record of a training has it, which metrics.jsonl keeps."""
        return {"validation": self.scores, "intervals": self.intervals, "n": self.n}


class Found(NamedTuple):
    """Losses and scores of each example, and the weight of each loss in "loss"."""

    judged: Judgement
    weights: dict[str, float]


def judge(
    task: Task,
    model: Transformer,
    batches: Iterable[Batch],
    *,
    products: AbstractContextManager[object] | None = None,
) -> Found:
    """What the model does with each example. Call `eval` first; `products` is entered for each batch.

    Raises RuntimeError of torch where a batch does not suit the model.
    """
    device = next(model.parameters()).device
    losses, scores, weights = dict[str, Quotients](), dict[str, Quotients](), dict[str, float]()
    for batch in batches:
        with torch.no_grad(), products or nullcontext():
            judged = task.judged(model, batch.to(device))
        for whole, part in ((losses, judged.losses), (scores, judged.scores)):
            for name, each in part.items():
                each = Quotients(each.above.cpu().double(), each.below.cpu().double())
                whole[name] = whole[name].joined(each) if name in whole else each
        weights |= {name: weight for name, (weight, _) in task.terms(batch).items()}
    return Found(Judgement(losses, scores), weights)


def verdict(findings: Found) -> Verdict:
    """Scores with their n and intervals; "loss" is the weighted sum of the losses, and comes first.

    A score that nothing counts for is left out.
    """
    losses, scores = findings.judged
    counted = {name: each for name, each in losses.items() if each.below.sum() > 0}
    values = {name: value_of(each) for name, each in scores.items() if each.below.sum() > 0}
    n = {name: n_of(scores[name]) for name in values}
    intervals = {name: interval(scores[name]) for name in values}
    if losses:
        loss = sum(findings.weights[name] * value_of(each) for name, each in counted.items())
        values = {"loss": loss, **values}
        n = {"loss": max((n_of(each) for each in counted.values()), default=0), **n}
        intervals = {"loss": loss_interval(counted, findings.weights), **intervals}
    return Verdict(values, n, {name: each for name, each in intervals.items() if each is not None})


def value_of(each: Quotients) -> float:
    """The score of all examples together."""
    return float(each.above.sum() / each.below.sum())


def n_of(each: Quotients) -> int:
    """The examples that count."""
    return int((each.below > 0).sum())


def validated(
    task: Task,
    model: Transformer,
    batches: Iterable[Batch],
    *,
    products: AbstractContextManager[object] | None = None,
) -> Verdict:
    """The verdict on some held-out batches. A task of one's own that tallies its own way has no intervals."""
    usual = type(task).tally is Task.tally and type(task).losses is Task.losses
    if usual or type(task).judged is not Task.judged:
        return verdict(judge(task, model, batches, products=products))
    return _tallied(task, model, list(batches), products or nullcontext())


def _tallied(
    task: Task, model: Transformer, batches: list[Batch], products: AbstractContextManager[object]
) -> Verdict:
    """By the means over batches, as a task's own `losses` and `tally` give them."""
    device, sums, tallies = next(model.parameters()).device, dict[str, tuple[float, float]](), list[Tally]()
    for part in batches:
        batch = part.to(device)
        with torch.no_grad(), products:
            losses = task.losses(model, batch)
            tallies.append(task.tally(model, batch))
        for name, (weight, n) in task.terms(part).items():
            if n:  # the mean of nothing is NaN
                before = sums.get(name, (0.0, 0.0))
                sums[name] = (before[0] + weight * n * losses[name].item(), before[1] + n)
    count = sum(map(len, batches))
    scores = {"loss": sum(quotients([sums]).values()), **quotients(tallies)}
    return Verdict(scores, dict.fromkeys(scores, count), {})
