"""The waves against a plain loop, their shift as a rotation, and products by distance."""

import math

import numpy as np
import pytest
import torch

from attention_lab.pages.lab.positions.waves import (
    added_vectors,
    alike_within,
    by_distance,
    cosines,
    dot_products,
    most_alike,
    shift_error,
    shift_matrix,
    wave_tables,
    wavelengths,
)

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


def test_a_wavelength_is_where_its_pair_of_channels_comes_back():
    for base in BASES:
        lengths = wavelengths(8, base)
        assert lengths[0].item() == pytest.approx(2 * math.pi)
        for pair, length in enumerate(lengths.tolist()):
            angle = length / base ** (2 * pair / 8)
            assert angle == pytest.approx(2 * math.pi)


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


def test_equal_distances_of_waves_have_equal_products():
    assert by_distance(dot_products(wave_tables(64, 32, BASES))).spread < 1e-12


def test_cosines_are_those_of_numpy():
    table = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    a = table.numpy()
    for i, row in enumerate(cosines(table).tolist()):
        expected = [a[i] @ a[j] / np.linalg.norm(a[i]) / np.linalg.norm(a[j]) for j in range(6)]
        assert row == pytest.approx(expected)


def test_most_alike_is_the_largest_likeness_with_another_position():
    matrix = torch.randn(9, 9, generator=torch.Generator().manual_seed(0))
    near = 0
    for position, other in enumerate(most_alike(matrix).tolist()):
        assert other != position
        assert all(matrix[position, other] >= matrix[position, q] for q in range(9) if q != position)
        near += abs(position - other) <= 2
    assert alike_within(matrix, 2) == near
    assert alike_within(matrix, 8) == 9


@pytest.mark.parametrize("shift", [0, 1, 5, 60])
@pytest.mark.parametrize("base", BASES)
def test_one_matrix_shifts_every_position(shift: int, base: float):
    matrix = shift_matrix(shift, 8, base).numpy()
    table = np.array(plain_table(130, 8, base))
    np.testing.assert_allclose(table[:70] @ matrix.T, table[shift : shift + 70], rtol=0, atol=1e-13)
    assert shift_error(shift, 70, 8, base) < 1e-13


def test_the_shift_is_a_rotation():
    matrix = shift_matrix(7, 8, 10_000)
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(8, dtype=torch.float64))
    assert torch.linalg.det(matrix).item() == pytest.approx(1.0)
    there_and_on = shift_matrix(3, 8, 10_000) @ shift_matrix(4, 8, 10_000)
    torch.testing.assert_close(there_and_on, matrix)


def test_the_error_is_no_constant():
    """A matrix for another shift misses by much."""
    table = torch.tensor(plain_table(40, 8, 100), dtype=torch.float64)
    assert (table[:30] @ shift_matrix(4, 8, 100).T - table[5:35]).abs().max() > 0.1


def test_an_odd_width_has_no_shift_matrix():
    with pytest.raises(ValueError, match=r"^d_model=7 is odd, so its last sine has no cosine; try 8$"):
        shift_matrix(1, 7, 10_000)


def test_added_vectors_are_what_the_models_add(suite):
    table = suite["learned"].model.decoder.positions.embedding.weight
    torch.testing.assert_close(added_vectors(suite["learned"]).double(), table.detach() * 12**0.5)
    expected = torch.tensor(plain_table(16, 12, 10_000))
    torch.testing.assert_close(added_vectors(suite["sinusoidal"]), expected)
    assert not added_vectors(suite["none"]).any()
