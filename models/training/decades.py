"""The steps of a number that is chosen by its order of magnitude, such as a learning rate: 1, 2, 5, 10 ..."""

import math

_STEPS = (1, 2, 5)
_NEAR = 1e-9  # relative: a step that was written and read again is still that step


def beside(value: float, *, up: bool, low: float, high: float) -> float:
    """The next of 1, 2 and 5 times a power of ten above `value`, or below it, within `low` to `high`.

    Raises ValueError for a value that is not positive, which has no order of magnitude.
    """
    if not value > 0:
        raise ValueError(f"value={value!r} has no order of magnitude; give a number above 0")
    exponent = math.floor(math.log10(value))
    steps = [float(f"{step}e{exponent + more}") for more in (-1, 0, 1) for step in _STEPS]
    if up:
        return min(high, next(step for step in steps if step > value * (1 + _NEAR)))
    return max(low, next(step for step in reversed(steps) if step < value * (1 - _NEAR)))
