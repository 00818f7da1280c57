"""Padding: nobody sees the tokens that fill up a batch."""

import torch
from torch import Tensor

from ....mask_names import MaskName, numbers
from ..core import Mask, padding, register

ABOUT = MaskName(
    order=2,
    title="padding",
    rule="how many tokens at the end are padding",
    example="3",
    meaning="the last 3 tokens are padding",
    causal_too=True,
)


def _make(n: int, argument: str) -> Mask:
    (n_padding,) = numbers("padding", argument, 1)
    return padding((torch.arange(n) < n - n_padding).long()[None], 0)


def _part(query: Tensor, key: Tensor, n: int, argument: str) -> Tensor:
    (n_padding,) = numbers("padding", argument, 1)
    return (key < n - n_padding).expand(len(query), -1)


register("padding", _make, part=_part, code=padding, by_end=True)
