"""How far two heads' patterns are from each other on aligned tokens."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from models.contrast.aligned import Aligned


def laid(
    pattern: Float[Tensor, "head query key"], queries: Aligned, keys: Aligned, side: int
) -> Float[Tensor, "head place other"]:
    """Patterns of side 0 (a) or 1 (b) on the places of both, weights as they are; NaN at its gaps."""
    rows, columns = (_positions(each, side) for each in (queries, keys))
    found = pattern.double()[:, rows.clamp(min=0)][:, :, columns.clamp(min=0)]
    return found.masked_fill((rows < 0)[:, None] | (columns < 0), torch.nan)


def variation(
    a: Float[Tensor, "head place other"], b: Float[Tensor, "head place other"], queries: Aligned
) -> Float[Tensor, " head"]:
    """The mean total variation distance of heads laid on the same places: of every query that both have,
    half the sum over all keys of |a - b|, where a key that one side lacks has the weight 0 there.

    So all weight on gaps counts as moved. NaN where no query is on both sides.
    """
    rows = torch.tensor(queries.both, dtype=torch.long)
    differences = (a[:, rows].nan_to_num(0) - b[:, rows].nan_to_num(0)).abs()
    return differences.sum(dim=-1).mean(dim=-1) / 2


def on_gaps(
    pattern: Float[Tensor, "head place other"], queries: Aligned, keys: Aligned
) -> Float[Tensor, " head"]:
    """The mean weight, over the queries that both sides have, on keys that the other side lacks."""
    rows = torch.tensor(queries.both, dtype=torch.long)
    lacking = torch.tensor([None in pair for pair in keys.pairs], dtype=torch.bool)
    return pattern[:, rows][:, :, lacking].nan_to_num(0).sum(dim=-1).mean(dim=-1)


def _positions(aligned: Aligned, side: int) -> Tensor:
    """The position of the side's token at each place, -1 at a gap."""
    return torch.tensor([-1 if pair[side] is None else pair[side] for pair in aligned.pairs])
