"""Absolute positions: waves added to the words, and vectors that training found instead."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from models.data.tasks.next_word import NextWord
from models.engine.positions import sinusoids, waves
from models.zoo.engine_model import TrainedModel


class ByDistance(NamedTuple):
    """Over all pairs of positions that are 0, 1, 2, ... apart: the mean, the smallest and the largest."""

    mean: Float[Tensor, "*frame distance"]
    low: Float[Tensor, "*frame distance"]
    high: Float[Tensor, "*frame distance"]

    @property
    def spread(self) -> float:
        """The largest difference between two pairs that are equally far apart."""
        return (self.high - self.low).max().item()


def wave_tables(
    n_positions: int, d_model: int, bases: Sequence[int | float]
) -> Float[Tensor, "frame position channel"]:
    """The sinusoidal table for each base, float64 (Vaswani et al. 2017, 3.5)."""
    return torch.stack([sinusoids(n_positions, d_model, base) for base in bases])


def wavelengths(d_model: int, base: int | float) -> Float[Tensor, " pair"]:
    """Positions until each pair of channels repeats: 2 pi base^(2i / d_model)."""
    pair = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    return 2 * torch.pi * base**pair


def dot_products(
    table: Float[Tensor, "*frame position channel"],
) -> Float[Tensor, "*frame position other"]:
    """The product of every position's vector with every other's."""
    return table @ table.mT


def by_distance(products: Float[Tensor, "*frame query key"]) -> ByDistance:
    """Collects a square matrix along its diagonals; a key counts if it stands at or before its query."""
    n_positions = products.shape[-1]
    diagonals = [products.diagonal(-distance, -2, -1) for distance in range(n_positions)]
    return ByDistance(
        torch.stack([diagonal.mean(-1) for diagonal in diagonals], dim=-1),
        torch.stack([diagonal.amin(-1) for diagonal in diagonals], dim=-1),
        torch.stack([diagonal.amax(-1) for diagonal in diagonals], dim=-1),
    )


def cosines(table: Float[Tensor, "position channel"]) -> Float[Tensor, "position other"]:
    """The cosine of the angle between every position's vector and every other's: their likeness."""
    directions = table / table.norm(dim=-1, keepdim=True)
    return dot_products(directions)


def most_alike(likeness: Float[Tensor, "position other"]) -> Int[Tensor, " position"]:
    """For each position, the other one that is most like it."""
    itself = torch.eye(len(likeness), dtype=torch.bool)
    return likeness.masked_fill(itself, -torch.inf).argmax(dim=-1)


def alike_within(likeness: Float[Tensor, "position other"], reach: int) -> int:
    """For how many positions the one most like it stands at most `reach` places away."""
    away = most_alike(likeness) - torch.arange(len(likeness))
    return int((away.abs() <= reach).sum())


def shift_matrix(shift: int, d_model: int, base: int | float) -> Float[Tensor, "channel channel"]:
    """The matrix that takes every PE(p) to PE(p + shift): made from the shift alone, float64.

    Each pair of channels (sin, cos) turns by its own angle (Vaswani et al. 2017, 3.5: "a linear function").
    Raises ValueError for an odd d_model.
    """
    if d_model % 2:
        raise ValueError(
            f"d_model={d_model} is odd, so its last sine has no cosine to turn with; try {d_model + 1}"
        )
    sin, cos = waves(torch.tensor([shift]), d_model, base)[0].unflatten(0, (-1, 2)).unbind(-1)  # [pair]
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).unflatten(-1, (2, 2))  # [pair, 2, 2]
    return torch.block_diag(*blocks)


def shift_error(shift: int, n_positions: int, d_model: int, base: int | float) -> float:
    """The largest |matrix @ PE(p) - PE(p + shift)| over all channels of positions 0 to n_positions - 1."""
    table = sinusoids(n_positions + shift, d_model, base)
    turned = table[:n_positions] @ shift_matrix(shift, d_model, base).T  # [position, channel]
    return (turned - table[shift:]).abs().max().item()


@torch.no_grad()
def added_vectors(lm: TrainedModel[NextWord]) -> Float[Tensor, "position channel"]:
    """What the model adds to the words at each position of its training length."""
    assert lm.model.decoder is not None
    nothing = torch.zeros(1, lm.task.length, lm.model.config.d_model)
    return lm.model.decoder.positions(nothing)[0]


@torch.no_grad()
def word_vectors(
    lm: TrainedModel[NextWord], ids: Int[Tensor, " position"]
) -> Float[Tensor, "position channel"]:
    """The vectors of these words, to which those of the positions are added."""
    return cast(nn.Embedding, lm.model.embedding)(ids) * lm.model.config.d_model**0.5
