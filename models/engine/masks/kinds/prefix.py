"""The prefix mask: the first tokens see each other, later ones what came before."""

import torch
from torch import Tensor

from ....mask_names import MaskName, numbers
from ..core import Square, at_least, register

ABOUT = MaskName(
    order=6, title="prefix", rule="a number of tokens", example="3", meaning="all see the first 3 tokens"
)


def prefix(n: int, length: int) -> Square:
    """All see the first `length` tokens; beyond them, a query sees itself and what came before.

    The prefix language model's mask (Raffel et al. 2020, 3.2.1). Raises ValueError for a negative length.
    """
    position = torch.arange(n)
    return _seen(position[:, None], position, length)[None, None]


def _seen(query: Tensor, key: Tensor, length: int) -> Tensor:
    at_least("length", length, 0)
    return (key <= query) | (key < length)


register(
    "prefix",
    lambda n, a: prefix(n, *numbers("prefix", a, 1)),
    part=lambda query, key, n, a: _seen(query, key, *numbers("prefix", a, 1)),
    code=prefix,
)
