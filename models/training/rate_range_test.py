"""The learning-rate range test (Smith 2017, "Cyclical learning rates for training neural networks", 3.3).

A fresh model trains for some steps while the rate rises exponentially; where the loss falls fastest, and
where it begins to rise, bound the rates that are worth a trial. Nothing is written.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..fields import fields_of
from .config import RunConfig, TrainingConfig
from .loop import DivergedError, Training

LOW, HIGH, STEPS = 1e-6, 1.0, 120
"""The rates between which a test usually goes, and its steps."""
MOST_STEPS = 2_000
_SMOOTHING = 0.85  # the weight of what came before, in each direction
_GROWN = 4.0  # times its least value: then the loss has left
_FALLEN = 0.02  # the least share of the first loss by which it has to fall
_BELOW_LEAST = 10.0


@dataclass(frozen=True)
class RateTest:
    """A range test so far. rates, losses, smoothed: one number a step.

    suggestion: a tenth of the rate at which the smoothed loss is least; None where it has not fallen.
    steepest, least: the rates where the smoothed loss falls fastest over the logarithm of the rate, and where
    it is least. sentence: the same in words. done: whether the test is over.
    """

    rates: tuple[float, ...]
    losses: tuple[float, ...]
    smoothed: tuple[float, ...]
    suggestion: float | None
    steepest: float | None
    least: float | None
    sentence: str
    done: bool
    seconds: float


class RateFinder(Iterator[RateTest]):
    """A range test under way: each `next` is one step, and the test so far.

    low, high: the first and the last rate, between which it rises by the same factor each step. It ends after
    `steps`, or earlier where the loss is four times its least value or no longer finite. The same config and
    threads give the same numbers. Raises ValueError for rates or steps of no test, and for a device that is
    not there.
    """

    def __init__(
        self, config: RunConfig, *, low: float = LOW, high: float = HIGH, steps: int = STEPS
    ) -> None:
        self._rates = rising(low, high, steps)
        self._training = _Rising(config, self._rates)
        self._losses: list[float] = []
        self._start = time.monotonic()
        self._over = False

    def __next__(self) -> RateTest:
        if self._over:
            raise StopIteration
        try:
            self._losses.append(next(self._training).loss)
        except DivergedError:
            self._over = True
        curve = smoothed(self._losses)
        has_left = len(curve) > 10 and curve[-1] > _GROWN * min(curve) and min(curve) > 0
        self._over = self._over or len(self._losses) >= len(self._rates) or has_left
        return self.result()

    def result(self) -> RateTest:
        """The test so far."""
        rates = self._rates[: len(self._losses)]
        return judge(rates, self._losses, done=self._over, seconds=time.monotonic() - self._start)


class _Rising(Training):
    """A training whose rate follows a list, and which neither validates nor keeps anything."""

    def __init__(self, config: RunConfig, rates: Sequence[float]) -> None:
        super().__init__(replace(config, training=replace(config.training, steps=len(rates))))
        self._given = rates

    def _rate(self) -> float:
        return self._given[self.step - 1]

    def _looks(self) -> dict[str, Any]:
        return {}

    def _is_seen(self) -> bool:
        return True  # the step after which the loss is no longer finite is the last


def rising(low: float, high: float, steps: int) -> list[float]:
    """`steps` rates from low to high, each the same factor above the one before. Raises ValueError."""
    rule = fields_of(TrainingConfig)["learning_rate"].rule
    least, most = rule.low or 0.0, rule.high or 0.0
    if not least <= low < high <= most:
        raise ValueError(
            f"rates from {low:g} to {high:g} are no range within {least:g} to {most:g}; "
            f"try {LOW:g} to {HIGH:g}"
        )
    if not 10 <= steps <= MOST_STEPS:
        raise ValueError(f"steps={steps:,} is not within 10 to {MOST_STEPS:,}; try {STEPS}")
    return [low * (high / low) ** (at / (steps - 1)) for at in range(steps)]


def judge(rates: Sequence[float], losses: Sequence[float], *, done: bool, seconds: float) -> RateTest:
    """What the losses at some rates say of the rate to take. Losses are finite, one for each rate."""
    curve = smoothed(losses)
    suggestion, steepest, least = _suggested(rates, curve)
    sentence = "the loss has not fallen at any of these rates; begin with a smaller one, or take more steps"
    if suggestion is not None and steepest is not None and least is not None:
        sentence = (
            f"try learning_rate={suggestion:.2g}, a tenth of {least:.2g}, where the smoothed loss is least; "
            f"it falls fastest at {steepest:.2g}"
        )
    return RateTest(
        tuple(rates), tuple(losses), tuple(curve), suggestion, steepest, least, sentence, done, seconds
    )


def smoothed(losses: Sequence[float]) -> list[float]:
    """The mean of each loss and its neighbours, whose weights fall by 0.85 for each step between them.

    It looks ahead as far as back, so that the curve is not shifted to larger rates.
    """
    forward, backward = _sums(losses), _sums(losses[::-1])[::-1]
    means = []
    for loss, (ahead, weight_ahead), (back, weight_back) in zip(losses, forward, backward, strict=True):
        means.append((ahead + back - loss) / (weight_ahead + weight_back - 1))
    return means


def _sums(losses: Sequence[float]) -> list[tuple[float, float]]:
    """At each place, the weighted sum of the losses until there, and the sum of the weights."""
    total, weights, sums = 0.0, 0.0, []
    for loss in losses:
        total, weights = _SMOOTHING * total + loss, _SMOOTHING * weights + 1
        sums.append((total, weights))
    return sums


def _suggested(
    rates: Sequence[float], curve: Sequence[float]
) -> tuple[float | None, float | None, float | None]:
    """The suggestion, and the rates where the curve falls fastest and where it is least."""
    if len(curve) < 3:
        return None, None, None
    bottom = min(range(len(curve)), key=curve.__getitem__)
    if bottom < 2 or curve[0] - curve[bottom] < _FALLEN * abs(curve[0]):
        return None, None, None
    logs = [math.log10(rate) for rate in rates]
    slopes = {
        at: (curve[at + 1] - curve[at - 1]) / (logs[at + 1] - logs[at - 1])
        for at in range(1, min(bottom + 1, len(curve) - 1))
    }
    steepest, least = rates[min(slopes, key=slopes.__getitem__)], rates[bottom]
    return least / _BELOW_LEAST, steepest, least
