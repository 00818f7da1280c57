"""Fixed sparse attention: a block, and the last tokens of all blocks before it."""

import torch

from models.engine.masks.core import Square, at_least, causal, of_head
from models.engine.masks.kind import numbers, register
from models.mask_names import MaskName

ABOUT = MaskName(
    order=5,
    title="fixed",
    rule="a block's length and how many of its last tokens all later ones see, with a dot between",
    example="4.1",
    meaning="blocks of 4 tokens; all later tokens see the last 1 of each",
)


def fixed(n: int, stride: int, summary: int = 1, *, head: int | None = None) -> Square:
    """Blocks of `stride` tokens: a query sees its own block, and the last `summary` tokens of all blocks.

    Child et al. 2019, 4.3, fixed attention (l = stride, c = summary); nobody sees later tokens. `head` as in
    `strided`. Raises ValueError unless 1 <= summary <= stride, and for another head.
    """
    at_least("stride", stride, 1)
    if not 1 <= summary <= stride:
        raise ValueError(f"summary={summary} is outside 1 <= summary <= stride={stride}; try 1")
    position = torch.arange(n)
    block = position // stride
    own_block = block[:, None] == block
    last_of_block = position % stride >= stride - summary
    return of_head(causal(n, n) & own_block, causal(n, n) & last_of_block, head)


register("fixed", lambda n, a: fixed(n, *numbers("fixed", a, 2)))
