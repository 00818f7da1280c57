"""Shifting a position is turning its vector: one matrix, made from the shift alone, moves every position."""

import numpy as np
import torch

from attention_lab.models.engine import positions
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.pages.lab.positions import waves
from attention_lab.pages.lab.positions.inputs import SHIFTS, Inputs
from attention_lab.pages.lab.positions.waves import shift_error, shift_matrix
from attention_lab.viz_core.boards import Matrix, Plane, Scrub, Sign
from attention_lab.viz_core.labels import short

D_MODEL = 8
BASE = 10_000
N_POSITIONS = 100


def lesson(inputs: Inputs) -> Lesson:
    start = inputs.start
    table = positions.sinusoids(start + SHIFTS, D_MODEL, BASE)  # [position, channel]
    matrices = np.stack([waves.shift_matrix(k, D_MODEL, BASE).numpy() for k in range(SHIFTS)])
    errors = [waves.shift_error(k, N_POSITIONS, D_MODEL, BASE) for k in range(SHIFTS)]
    before, there = table[start].numpy(), table[start:].numpy()  # [channel], [frame, channel]
    # Each pair of channels is a hand that points up at position 0.
    hands = there.reshape(SHIFTS, -1, 2)  # [frame, pair, (sin, cos)]

    def column(title: str, values: np.ndarray) -> Matrix:
        return Matrix(title=title, values=values[..., None], row_axis="channel", reach=1.0)

    return Lesson(
        rows=[
            [
                Matrix(
                    title="M_k, made from k", values=matrices, row_axis="channel",
                    column_axis="from channel", reach=1.0,
                ),
                Sign("×"),
                column("PE(p)", before),
                Sign("="),
                column("turned", matrices @ before),
                Sign("≟"),
                column("PE(p+k)", there),
            ],
            [
                Plane(
                    title=f"channels {2 * pair} and {2 * pair + 1}", names=("p", "p + k"),
                    vectors=np.stack([np.broadcast_to(each[0], each.shape), each], axis=1),
                    colours=("muted", "accent"), reach=1.15, circle=True,
                )
                for pair, each in enumerate(hands.swapaxes(0, 1))  # [frame, (sin, cos)]
            ],
        ],
        notice=[
            f"The same matrix moves **all {N_POSITIONS} positions** by {k}: the table differs by "
            f"**{short(error)}**."
            if k
            else f"Shifted by {k}, every position stays: the difference is **{short(error)}**."
            for k, error in enumerate(errors)
        ],
        scrub=Scrub("shift", "shift k", np.arange(SHIFTS)),
        sizes=rf"\omega_i={BASE}^{{-2i/{D_MODEL}}},\; p={start}",
        axes={"channel": D_MODEL},
        code=(waves.shift_matrix, waves.shift_error, positions.waves),
    )  # fmt: skip


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


FIXED = Note(f"The matrix does not change with p. Eight channels, base {BASE:,}.")
PART = part(__name__, ("start", FIXED), lesson, questions, scrub="shift")
