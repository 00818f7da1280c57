"""The shift of the waves, and products by distance, against plain loops."""

import math

import numpy as np
import pytest
import torch

from attention_lab.pages.lab.positions.waves import by_distance, shift_error, shift_matrix

BASES = [10.0, 10_000.0, 1_000_000.0]


def plain_table(n_positions: int, d_model: int, base: float) -> list[list[float]]:
    table = []
    for position in range(n_positions):
        row = []
        for channel in range(0, d_model, 2):
            angle = position / base ** (channel / d_model)
            row += [math.sin(angle), math.cos(angle)]
        table.append(row)
    return table


def test_by_distance_is_a_plain_loop_over_pairs():
    matrix = torch.randn(2, 7, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = by_distance(matrix)
    for frame in range(2):
        for distance in range(7):
            values = [matrix[frame, key + distance, key].item() for key in range(7 - distance)]
            assert found.mean[frame, distance].item() == pytest.approx(np.mean(values))
            assert found.low[frame, distance].item() == min(values)
            assert found.high[frame, distance].item() == max(values)
    assert found.spread == pytest.approx((found.high - found.low).max().item())


@pytest.mark.parametrize("shift", [0, 1, 5, 60])
@pytest.mark.parametrize("base", BASES)
def test_one_matrix_shifts_every_position(shift: int, base: float):
    matrix = shift_matrix(shift, 8, base).numpy()
    table = np.array(plain_table(130, 8, base))
    np.testing.assert_allclose(table[:70] @ matrix.T, table[shift : shift + 70], rtol=0, atol=1e-13)
    assert shift_error(shift, 70, 8, base) < 1e-13
