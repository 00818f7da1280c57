"""A sliding window: a token sees its neighbours."""

import torch
from torch import Tensor

from ....mask_names import MaskName, numbers
from ..core import Square, at_least, causal, register

ABOUT = MaskName(
    order=3,
    title="window",
    rule="a width in tokens",
    example="3",
    meaning="width: up to 2 tokens away",
    causal_too=True,
)


def sliding_window(n: int, width: int, *, two_sided: bool = False) -> Square:
    """A query sees the last `width` tokens, itself included; two-sided, as many after it as before it.

    Two-sided is Longformer's window (Beltagy et al. 2020, 3.1), whose w is 2 * (width - 1). Raises ValueError
    for a width below 1.
    """
    at_least("width", width, 1)
    position = torch.arange(n)
    near = (position > position[:, None] - width)[None, None]
    return near & near.mT if two_sided else near & causal(n, n)


def _part(query: Tensor, key: Tensor, n: int, argument: str) -> Tensor:
    (width,) = numbers("window", argument, 1)
    at_least("width", width, 1)
    return (query - key).abs() < width


register(
    "window",
    lambda n, a: sliding_window(n, *numbers("window", a, 1), two_sided=True),
    part=_part,
    code=sliding_window,
)
