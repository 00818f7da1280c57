"""Fixed sparse attention: a block, and the last tokens of all blocks before it."""

import torch
from torch import Tensor

from ....mask_names import MaskName, numbers
from ..core import Square, at_least, of_head, register

ABOUT = MaskName(
    order=5,
    title="fixed",
    rule="a block's length, and how many last tokens later ones see, with a dot between",
    example="4.1",
    meaning="blocks of 4 tokens; all later tokens see the last 1 of each",
)


def fixed(n: int, stride: int, summary: int = 1, *, head: int | None = None) -> Square:
    """Blocks of `stride` tokens: a query sees its own block, and the last `summary` tokens of all blocks.

    Child et al. 2019, 4.3, fixed attention (l = stride, c = summary); nobody sees later tokens. `head` as in
    `strided`. Raises ValueError unless 1 <= summary <= stride, and for another head.
    """
    position = torch.arange(n)
    return of_head(*_sets(position[:, None], position, stride, summary), head)[None, None]


def _sets(query: Tensor, key: Tensor, stride: int, summary: int) -> tuple[Tensor, Tensor]:
    at_least("stride", stride, 1)
    if not 1 <= summary <= stride:
        raise ValueError(f"summary={summary} is outside 1 <= summary <= stride={stride}; try 1")
    own_block, earlier = query // stride == key // stride, key <= query
    last_of_block = key % stride >= stride - summary
    return earlier & own_block, earlier & last_of_block


def _part(query: Tensor, key: Tensor, n: int, argument: str) -> Tensor:
    own_block, last_of_block = _sets(query, key, *numbers("fixed", argument, 2))
    return own_block | last_of_block


register("fixed", lambda n, a: fixed(n, *numbers("fixed", a, 2)), part=_part, code=fixed)
