"""The one percentile that every table uses."""

import math
from collections.abc import Sequence


def percentile(values: Sequence[float], percent: float) -> float:
    """Nearest-rank percentile, e.g. p95 of 20 values is the 19th; ValueError if there are no values."""
    if not values:
        raise ValueError("a percentile needs at least one value")
    return sorted(values)[max(1, math.ceil(percent / 100 * len(values))) - 1]
