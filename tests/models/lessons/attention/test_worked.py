"""The worked example: the numbers of the talks, exactly, and PyTorch's own attention."""

import math

import pytest
import torch
from torch.nn import functional as F

from models.lessons.attention import worked

Q, K, V = (torch.tensor(rows, dtype=torch.float64) for rows in (worked.QUERIES, worked.KEYS, worked.VALUES))


def test_the_vectors_are_64_small_whole_numbers():
    for vector in (*Q, *K):
        assert vector.shape == (64,)
        assert all(value == int(value) and abs(value) <= 3 for value in vector.tolist())


def test_the_numbers_of_the_talks():
    steps = worked.attend(Q, K, V)
    assert steps["dots"].tolist() == [[112, 96], [72, 80]]
    assert steps["scores"].tolist() == [[14, 12], [9, 10]]
    heavy = math.exp(14) / (math.exp(14) + math.exp(12))
    assert steps["pattern"][0].tolist() == pytest.approx([heavy, 1 - heavy])
    assert [round(weight, 2) for weight in steps["pattern"][0].tolist()] == [0.88, 0.12]
    expected = [heavy * a + (1 - heavy) * b for a, b in zip(*worked.VALUES, strict=True)]
    assert steps["z"][0].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(("scaled", "scale"), [(True, 1 / 8), (False, 1.0)])
def test_equals_pytorchs_attention(scaled: bool, scale: float):
    expected = F.scaled_dot_product_attention(Q[None], K[None], V[None], scale=scale)[0]
    torch.testing.assert_close(worked.attend(Q, K, V, scaled=scaled)["z"], expected, rtol=0, atol=1e-12)


def test_without_the_division_the_second_key_is_lost():
    weight = worked.attend(Q, K, V, scaled=False)["pattern"][0, 1].item()
    assert weight == pytest.approx(math.exp(-16), rel=1e-6)


def test_stretched_queries_are_computed_for_all_frames_at_once():
    factors = torch.linspace(0, 3, 61, dtype=torch.float64)
    frames = worked.attend(worked.stretched(Q, factors), K, V)
    assert frames["dots"][0].tolist() == [[0, 0], [0, 0]]
    assert frames["pattern"][0].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    for at in (20, 60):
        alone = worked.attend(Q * factors[at], K, V)
        for name, tensor in alone.items():
            torch.testing.assert_close(frames[name][at], tensor)


def test_the_products_of_the_channels_sum_to_the_dot_product():
    assert worked.products(Q[0], K[0]).sum() == 112
    assert worked.products(Q[0], K[1])[:3].tolist() == [3, 9, 0]
