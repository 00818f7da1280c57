"""Axes of numbers, even or logarithmic: where they begin and end, and which numbers stand at them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from viz_core.boards.sheet import Pair, extent
from viz_core.numbers import power_of_ten


def span(values: np.ndarray, log: bool, room: int | float = 0) -> Pair:
    """The lowest and highest number that can be drawn, with a share of their distance added at both ends."""
    low, high = extent(values[values > 0] if log else values)
    if low == high:
        return (low / 2, high * 2) if log else (low - 1, high + 1)
    if log:
        more = (high / low) ** room
        return low / more, high * more
    more = (high - low) * room
    return low - more, high + more


def scale(ends: Pair, log: bool) -> dict[str, Any]:
    """An axis between two numbers, as Plotly takes it; a logarithmic one names a few powers of ten."""
    if not log:
        return {"range": list(ends)}
    low, high = (float(end) for end in np.log10(ends))
    powers = range(int(np.ceil(low)), int(np.floor(high)) + 1)
    if len(powers) < 2:
        return {"type": "log", "range": [low, high]}
    shown = powers[:: max(1, -(-len(powers) // 5))]
    texts = _powers_of_ten(shown)
    return {
        "type": "log",
        "range": [low, high],
        "tickvals": [10.0**power for power in shown],
        "ticktext": texts,
    }


def _powers_of_ten(powers: Sequence[int]) -> list[str]:
    """The powers as labels: all in full, or all with an exponent where one would be long."""
    if all(-4 < power < 5 for power in powers):
        return [f"{10.0**power:,g}" for power in powers]
    return [power_of_ten(power) for power in powers]
