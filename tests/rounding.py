"""How far rounding alone may part two results that are the same on paper.

Bits are compared only between the same operations on the same shapes with the same threads on one machine.
Another shape takes another path through the kernels, and another processor has other kernels: sums are added
in another order, and their last bits differ.
"""

import torch
from torch import Tensor

UNITS = 32
"""In the last place of the largest value: more than two sums of 16 terms gather, which round at each step."""


def rounding(largest: float, dtype: torch.dtype = torch.float64) -> float:
    """The largest difference that rounding explains between values of this size."""
    return UNITS * torch.finfo(dtype).eps * largest


def assert_same_but_for_rounding(actual: Tensor, expected: Tensor) -> None:
    """Other operations, shapes or rows for what is the same on paper."""
    largest = expected.abs().max().item()
    torch.testing.assert_close(actual, expected, rtol=0, atol=rounding(largest, expected.dtype))
