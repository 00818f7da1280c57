"""The mask that a person has chosen: by name, or painted."""

import re

from jaxtyping import Bool
from torch import Tensor

from models.engine import masks


def allowed_of(mask: str, argument: str, n: int) -> Bool[Tensor, "n n"]:
    """The mask of that name (`masks.named`), or the one that `mask` paints row by row, such as "10;11".

    Painted rows are cut to n tokens, or continued by the causal mask. Raises ValueError as `masks.named` and
    `masks.painted` do.
    """
    if not re.fullmatch("[01;]+", mask):
        return masks.named(mask, argument, n)[0, 0]
    painted = masks.painted(mask)[0, 0, :n, :n]
    allowed = masks.causal(n, n)[0, 0]
    allowed[: len(painted), : len(painted)] = painted
    return allowed
