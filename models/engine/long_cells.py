"""Cells of a long pattern: the largest or the mean weight of many pairs."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

Measure = Literal["largest", "mean"]


class Pair(NamedTuple):
    """A query and a key, by their positions, and the weight between them."""

    query: int
    key: int
    weight: float


class Picture(NamedTuple):
    """A part of a pattern in cells of `tall` queries and `wide` keys, from query `q0` and key `k0` on.

    cells: [row, column]; the last row and column may hold fewer.
    """

    cells: Float[Tensor, "row column"]
    q0: int
    k0: int
    tall: int
    wide: int


def pooled(weights: Tensor, tall: int, wide: int, measure: Measure) -> Tensor:
    """The largest or the mean weight of cells of `tall` rows and `wide` columns; the last may be smaller."""
    return along(along(weights, wide, measure).T, tall, measure).T


def along(values: Tensor, step: int, measure: Measure) -> Tensor:
    """The largest or the mean of each `step` columns."""
    if step == 1:
        return values
    whole = values.shape[1] // step * step
    parts = [values[:, :whole].unflatten(1, (-1, step))] if whole else []
    if whole < values.shape[1]:
        parts.append(values[:, None, whole:])
    return torch.cat([part.amax(2) if measure == "largest" else part.mean(2) for part in parts], dim=1)
