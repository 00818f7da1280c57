"""Absolute positions: waves added to the words, and vectors that training found instead."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attention_lab.models.data.tasks.next_word import NextWord
from attention_lab.models.engine import positions
from attention_lab.models.engine.positions import sinusoids, waves
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.pages.lab.positions.inputs import MOST_POSITIONS, Inputs
from attention_lab.viz_core.boards import Curves, Fact, Facts, Line, Matrix, Scrub
from attention_lab.viz_core.labels import short


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


def dot_products(table: Float[Tensor, "*frame position channel"]) -> Float[Tensor, "*frame position other"]:
    """The product of every position's vector with every other's."""
    return table @ table.mT


def by_distance(products: Float[Tensor, "*frame query key"]) -> ByDistance:
    """Collects a square matrix along its diagonals; a key counts if it stands at or before its query."""
    diagonals = [products.diagonal(-distance, -2, -1) for distance in range(products.shape[-1])]
    kinds = (Tensor.mean, Tensor.amin, Tensor.amax)
    mean, low, high = (torch.stack([kind(each, -1) for each in diagonals], dim=-1) for kind in kinds)
    return ByDistance(mean, low, high)


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
    d_model is even: each sine has its cosine.
    """
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


BASES = np.logspace(1, 6, 61)  # 10,000 is among them
APART = 5


def lesson(inputs: Inputs) -> Lesson:
    d, n = inputs.d_model, MOST_POSITIONS
    bases = [float(base) for base in BASES]
    tables = wave_tables(n, d, bases)  # [frame, position, channel]
    products = by_distance(dot_products(tables))
    lengths = np.stack([wavelengths(d, base).numpy() for base in bases])
    x, pairs = np.arange(n, dtype=float), sorted({0, d // 8, d // 4, d // 2 - 1})
    spread = (products.high - products.low).amax(dim=-1).tolist()
    return Lesson(
        rows=[
            [
                Matrix(
                    title="PE: one vector for each position", values=tables.numpy(), large=True, reach=1.0,
                    rows=[str(p) for p in range(n)], row_axis="position",
                    columns=[str(c) for c in range(d)], column_axis="channel",
                )
            ],
            [
                Facts.of(
                    Fact("fastest wave", lengths[:, 0], 2, "positions"),
                    Fact("slowest wave", lengths[:, -1], 0, "positions"),
                    Fact(f"product, {APART} apart", products.mean[:, APART].numpy()),
                    Fact(f"product, {4 * APART} apart", products.mean[:, 4 * APART].numpy()),
                )
            ],
            [
                Curves(  # the sines of four pairs, from the fastest to the slowest
                    title="four of its columns as waves", x=x, x_label="position p", y_label="PE(p)",
                    y_range=(-1.05, 1.05),
                    lines=[
                        Line(tables[:, :, 2 * pair].numpy(), f"channel {2 * pair}", at, smooth=True)
                        for at, pair in enumerate(pairs)
                    ],
                )
            ],
            [
                Curves(
                    title="dot product of two positions", x=x, x_label="distance k", y_label="dot product",
                    lines=[Line(products.mean.numpy(), "PE(p) · PE(p + k)")],
                )
            ],
        ],
        notice=[
            f"With base {base:,.0f} the slowest wave repeats after **{lengths[at, -1]:,.0f} positions**. Dot "
            f"products depend on distance alone, within **{short(spread[at])}**."
            for at, base in enumerate(BASES)
        ],
        scrub=Scrub("base", "base", BASES, [f"{base:,.0f}" for base in bases]),
        sizes=rf"d_{{model}}={d},\; i=0\ldots{d // 2 - 1},\; p=0\ldots{n - 1}",
        axes={"position": n, "channel": d, "other": n, "pair of channels": d // 2},
        code=(wave_tables, positions.waves, wavelengths, dot_products, by_distance),
    )  # fmt: skip


def questions() -> tuple[Answer, ...]:
    few, many = wavelengths(32, 10_000), wavelengths(32, 1_000_000)  # [pair]
    factors = (1, 10, 100)
    stretched = round((many[0] / few[0]).item())
    table = wave_tables(MOST_POSITIONS, 32, [10_000])[0]
    products = dot_products(table)
    near, far = products[3, 8].item(), products[40, 45].item()
    bigger = 2 if abs(near - far) < 1e-9 else 0 if near > far else 1
    small, large = by_distance(dot_products(wave_tables(MOST_POSITIONS, 32, [10, 1_000_000]))).mean[:, 20]
    return (
        Answer.of(factors.index(stretched), many=many, few_slowest=few[-1], many_slowest=many[-1]),
        Answer.of(bigger, near=near),
        Answer.of(0 if small > large else 1, small=small, large=large),
    )


PAPERS = Note(f"The table shows positions 0 to {MOST_POSITIONS - 1}.")
PART = part(__name__, ("d_model", PAPERS), lesson, questions, scrub="base")
