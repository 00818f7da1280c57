"""The shift of the waves, and products by distance, against plain loops."""

import numpy as np
import pytest
import torch

from attention_lab.pages.lab.positions.waves import by_distance, shift_matrix


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


def test_an_odd_width_has_no_shift_matrix():
    with pytest.raises(ValueError, match=r"^d_model=7 is odd, so its last sine has no cosine; try 8$"):
        shift_matrix(1, 7, 10_000)
