"""Curves without their noise."""

import numpy as np
from jaxtyping import Float


def smoothed(values: Float[np.ndarray, "point"], weight: int | float) -> Float[np.ndarray, "point"]:
    """The exponential moving average of values, corrected for its start as in Adam (Kingma and Ba 2015, 3).

    s(i) = weight s(i-1) + (1 - weight) y(i), from s(0) = 0, divided by 1 - weight^i: a mean of all values so
    far, in which each counts `weight` times as much as the next. Weight 0 changes nothing.
    Raises ValueError for a weight that is not in 0..1, 1 left out.
    """
    if not 0 <= weight < 1:
        raise ValueError(f"weight={weight} is not from 0 to below 1; try 0.9")
    found = np.empty(len(values))
    mean, total = 0.0, 0.0
    for at, value in enumerate(values.tolist()):
        mean, total = weight * mean + (1 - weight) * value, weight * total + (1 - weight)
        found[at] = mean / total
    return found
