"""Strided sparse attention: the tokens just before, and one in every stride before them."""

import torch
from torch import Tensor

from ....mask_names import MaskName, numbers
from ..core import Square, at_least, of_head, register

ABOUT = MaskName(
    order=4,
    title="strided",
    rule="a stride in tokens",
    example="4",
    meaning="stride: the 4 tokens before, and every 4th before them",
)


def strided(n: int, stride: int, *, head: int | None = None) -> Square:
    """A query sees the `stride` tokens before it, and every `stride`-th token before it (and itself).

    Child et al. 2019, 4.3, strided attention. The paper gives the two sets to two heads: `head` 0 has the
    first, 1 the second; None is both at once, the paper's merged head. Raises ValueError for a stride below 1
    and for another head.
    """
    position = torch.arange(n)
    return of_head(*_sets(position[:, None], position, stride), head)[None, None]


def _sets(query: Tensor, key: Tensor, stride: int) -> tuple[Tensor, Tensor]:
    at_least("stride", stride, 1)
    near, far, earlier = key >= query - stride, query % stride == key % stride, key <= query
    return earlier & near, earlier & far


def _part(query: Tensor, key: Tensor, n: int, argument: str) -> Tensor:
    near, far = _sets(query, key, *numbers("strided", argument, 1))
    return near | far


register("strided", lambda n, a: strided(n, *numbers("strided", a, 1)), part=_part, code=strided)
