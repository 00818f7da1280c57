"""What a mask leaves to a pattern that is edited by hand."""

import torch
from torch import Tensor

from models.interventions.change import Seen


def open_keys(value: Tensor, seen: Seen) -> Tensor:
    """Which keys each query may look at, [head, query, key]."""
    allowed = value > 0 if seen.open is None else seen.open
    return allowed.expand_as(value)


def only_where_open(made: Tensor, value: Tensor, seen: Seen, wanted: Tensor) -> Tensor:
    """`made` in the rows that may look at all that is `wanted` of them, elsewhere what was there.

    Raises ValueError where such a row was named.
    """
    hidden = wanted & ~open_keys(value, seen)
    refused = hidden.any(dim=-1, keepdim=True)  # [head, query, 1]
    rows = sorted(set(refused[..., 0].nonzero()[:, -1].tolist()) & set(seen.rows or ()))
    if rows:
        key = int(hidden[:, rows[0]].any(dim=0).nonzero()[0])
        raise ValueError(
            f"{seen.place}: position {rows[0]} may not look at position {key}, which its mask hides; choose "
            "another key, or another row"
        )
    return torch.where(refused, value, made)
