"""Shifting a position is turning its vector: one matrix, made from the shift alone, moves every position."""

import numpy as np
import torch
from torch import Tensor

from models.engine import positions
from pages.lab.lesson import Answer, Lesson, Note, part
from pages.lab.positions import waves
from pages.lab.positions.inputs import SHIFTS, Inputs
from pages.lab.positions.waves import shift_error, shift_matrix
from viz_core.boards import Matrix, Panel, Plane, Scrub, Sign
from viz_core.labels import short

D_MODEL = 8
BASE = 10_000
N_POSITIONS = 100


def lesson(inputs: Inputs) -> Lesson:
    table = positions.sinusoids(inputs.start + SHIFTS, D_MODEL, BASE)  # [position, channel]
    matrices = np.stack([waves.shift_matrix(k, D_MODEL, BASE).numpy() for k in range(SHIFTS)])
    errors = np.array([waves.shift_error(k, N_POSITIONS, D_MODEL, BASE) for k in range(SHIFTS)])
    return Lesson(
        rows=[
            _equation(matrices, table, inputs.start),
            [*_clocks(table, inputs.start)],
        ],
        notice=_notices(errors),
        scrub=Scrub(field="shift", label="shift k", values=np.arange(SHIFTS)),
        sizes=rf"\omega_i={BASE}^{{-2i/{D_MODEL}}},\; p={inputs.start}",
        axes={"channel": D_MODEL},
        code=(waves.shift_matrix, waves.shift_error, positions.waves),
    )


def _equation(matrices: np.ndarray, table: Tensor, start: int) -> list[Panel]:
    """M_k PE(p) = product, beside the row that the table itself has."""
    before = table[start].numpy()
    moved = matrices @ before  # [frame, channel]
    there = table[start : start + SHIFTS].numpy()

    def column(title: str, values: np.ndarray) -> Matrix:
        return Matrix(title=title, values=values[..., None], row_axis="channel", reach=1.0)

    return [
        Matrix(
            title="M_k, made from k",
            values=matrices,
            row_axis="channel",
            column_axis="from channel",
            reach=1.0,
        ),
        Sign(text="×"),
        column("PE(p)", before),
        Sign(text="="),
        column("turned", moved),
        Sign(text="≟"),
        column("PE(p+k)", there),
    ]


def _clocks(table: Tensor, start: int) -> list[Plane]:
    """Each pair of channels as a hand that points up at position 0: before, and k places on."""
    hands = table.unflatten(-1, (-1, 2)).numpy()  # [position, pair, (sin, cos)]
    before = np.repeat(hands[None, start], SHIFTS, axis=0)  # [frame, pair, xy]
    after = hands[start : start + SHIFTS]
    return [
        Plane(
            title=f"channels {2 * pair} and {2 * pair + 1}",
            vectors=np.stack([before[:, pair], after[:, pair]], axis=1),  # [frame, arrow, xy]
            names=("p", "p + k"),
            colours=("muted", "accent"),
            reach=1.15,
            circle=True,
        )
        for pair in range(D_MODEL // 2)
    ]


def _notices(errors: np.ndarray) -> list[str]:
    return [
        f"The same matrix moves **all {N_POSITIONS} positions** by {k}: the largest difference from the "
        f"table is **{short(error)}**, no more than the rounding of 64-bit numbers."
        if k
        else f"Shifted by {k}, every position stays where it is: the difference is **{short(error)}**."
        for k, error in enumerate(errors)
    ]


def questions() -> tuple[Answer, ...]:
    three, four, seven = (shift_matrix(k, D_MODEL, BASE) for k in (3, 4, 7))
    gap = (three @ four - seven).abs().max().item()
    length = (seven @ torch.ones(D_MODEL, dtype=seven.dtype)).norm().item() / D_MODEL**0.5
    errors = [shift_error(k, 1_000, D_MODEL, BASE) for k in (1, 30)]
    return (
        Answer.of(1 if max(errors) < 1e-10 else 2, error=max(errors)),
        Answer.of(0 if gap < 1e-10 else 2, gap=gap),
        Answer.of(2 if abs(length - 1) < 1e-10 else 0 if length > 1 else 1, length=length),
    )


PART = part(
    __name__,
    ("start", Note(f"The matrix does not change with p. Eight channels, base {BASE:,}.")),
    lesson,
    questions,
    scrub="shift",
)
