"""The worked example: the numbers of the talks, exactly, and PyTorch's own attention."""

import math

import pytest
import torch
from torch.nn import functional as F

from attention_lab.pages.lab.attention import inputs, worked

GIVEN = (worked.QUERIES, worked.KEYS, inputs.VALUES)
Q, K, V = (torch.tensor(rows, dtype=torch.float64) for rows in GIVEN)
EIGHT = torch.tensor([8.0], dtype=torch.float64)


def test_the_numbers_of_the_talks():
    steps = worked.attend(Q, K, V, EIGHT)
    assert steps["dots"].tolist() == [[112, 96]]
    assert steps["scores"][0].tolist() == [[14, 12]]
    heavy = math.exp(14) / (math.exp(14) + math.exp(12))
    assert steps["pattern"][0, 0].tolist() == pytest.approx([heavy, 1 - heavy])
    assert [round(weight, 2) for weight in steps["pattern"][0, 0].tolist()] == [0.88, 0.12]
    expected = [heavy * a + (1 - heavy) * b for a, b in zip(*inputs.VALUES, strict=True)]
    assert steps["z"][0, 0].tolist() == pytest.approx(expected)


def test_each_divisor_gives_what_pytorchs_attention_gives():
    divisors = torch.linspace(1, 32, 63, dtype=torch.float64)
    z = worked.attend(Q, K, V, divisors)["z"]
    for at in (0, 14, 62):
        expected = F.scaled_dot_product_attention(Q[None], K[None], V[None], scale=1 / divisors[at].item())
        torch.testing.assert_close(z[at], expected[0], rtol=0, atol=1e-12)


def test_the_products_of_the_channels_sum_to_the_dot_products():
    products = worked.products(Q[0], K)
    assert products.sum(dim=-1).tolist() == [112, 96]
    assert products[1, :3].tolist() == [3, 9, 0]


def test_keys_move_so_that_their_dot_products_are_those_wished():
    wished = torch.tensor([[-50.0, 200.0]], dtype=torch.float64)
    moved = worked.keys_with(Q, K, wished)
    torch.testing.assert_close(Q @ moved.mT, wished, rtol=0, atol=1e-9)
    # The least change: what is added to a key is made of queries only.
    added = (moved - K).mT  # [d_k, key]
    made_of_queries = Q.mT @ torch.linalg.lstsq(Q.mT, added).solution
    torch.testing.assert_close(made_of_queries, added, rtol=0, atol=1e-9)
