"""A training loss that grows without becoming NaN, and the rate to try where a training came apart.

It needs no torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 30
"""Losses that are needed to tell growth from noise."""
_MARGIN = 1.25  # by so much is the last loss above the first
_GIVEN_BACK = 0.5  # the share of what was learnt that is lost again
_NOTABLE = 0.1  # the share of the first loss by which it must have fallen for that


@dataclass(frozen=True)
class Growth:
    """A loss that grew: of the first step, the lowest running median and its step, and that of the end."""

    first: float
    lowest: float
    at: int
    last: float

    @property
    def sentence(self) -> str:
        """What happened, without a full stop."""
        if self.last > self.first:
            return f"the loss grew from {self.first:.3g} to {self.last:.3g}"
        return f"the loss fell to {self.lowest:.3g} by step {self.at:,} and grew again to {self.last:.3g}"


def growth(steps: Sequence[int], losses: Sequence[float]) -> Growth | None:
    """How the training loss grew, from the recorded losses of these steps [record]; None where it did not.

    The median of the last tenth of the records is the last loss, the first record's is that of the
    untrained model. The loss grew where the last is more than 1.25 times the first; or where it had fallen
    by more than a tenth, and more than half of that was lost again. Medians leave out single spikes.
    """
    n = len(losses)
    if n < FEWEST:
        return None
    values = np.asarray(losses, dtype=np.float64)
    width = max(5, n // 10)
    first, last = float(values[0]), float(np.median(values[-width:]))
    ends = np.arange(width, n + 1, max(1, width // 5))  # each tenth, and some between them
    medians = np.array([np.median(values[end - width : end]) for end in ends])
    best = int(medians.argmin())
    curve = Growth(first, float(medians[best]), int(steps[ends[best] - 1]), last)
    fallen = first - curve.lowest
    lost = last - curve.lowest > _GIVEN_BACK * fallen and fallen > _NOTABLE * abs(first)
    return curve if last > _MARGIN * first > 0 or lost else None


def rate_to_try(rate: int | float, usual: int | float) -> float:
    """A rate for a training that came apart: the task's own where this one is higher, else a third of it."""
    return usual if rate > usual else rate / 3


def remedy(rate: int | float, usual: int | float, clip: int | float) -> str:
    """What to try where a training came apart. usual: the rate that the task comes with."""
    words = f"try learning_rate={rate_to_try(rate, usual):.2g} instead of {rate:g}, more warmup_steps"
    return words if 0 < clip <= 1 else f"{words}, or clip=1"
