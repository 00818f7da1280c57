"""A model judged on held-out examples: its loss and scores, how many they stand on, and their intervals."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import torch

from models.data.tasks import Batch, Each, Judged, Tally, Task, quotients
from models.engine.transformer import Transformer
from models.scores.intervals import Interval, interval, loss_interval


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

    judged: Judged
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
    losses, scores, weights = dict[str, Each](), dict[str, Each](), dict[str, float]()
    for batch in batches:
        with torch.no_grad(), products or nullcontext():
            judged = task.judged(model, batch.to(device))
        for whole, part in ((losses, judged.losses), (scores, judged.scores)):
            for name, each in part.items():
                each = Each(each.above.cpu().double(), each.below.cpu().double())
                whole[name] = whole[name].joined(each) if name in whole else each
        weights |= {name: weight for name, (weight, _) in task.terms(batch).items()}
    return Found(Judged(losses, scores), weights)


def verdict(found: Found) -> Verdict:
    """Scores with their n and intervals; "loss" is the weighted sum of the losses, and comes first.

    A score that nothing counts for is left out.
    """
    losses, scores = found.judged
    counted = {name: each for name, each in losses.items() if each.below.sum() > 0}
    values = {name: value_of(each) for name, each in scores.items() if each.below.sum() > 0}
    n = {name: n_of(scores[name]) for name in values}
    intervals = {name: interval(scores[name]) for name in values}
    if losses:
        loss = sum(found.weights[name] * value_of(each) for name, each in counted.items())
        values = {"loss": loss, **values}
        n = {"loss": max((n_of(each) for each in counted.values()), default=0), **n}
        intervals = {"loss": loss_interval(counted, found.weights), **intervals}
    return Verdict(values, n, {name: each for name, each in intervals.items() if each is not None})


def value_of(each: Each) -> float:
    """The score of all examples together."""
    return float(each.above.sum() / each.below.sum())


def n_of(each: Each) -> int:
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
    if type(task).tally is Task.tally and type(task).losses is Task.losses:
        return verdict(judge(task, model, batches, products=products))
    if type(task).judged is not Task.judged:
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
