"""ALiBi: against Bloom in transformers, and the paper's own words."""

import pytest
import torch
from transformers.models.bloom import modeling_bloom as bloom

from models import ModelConfig
from models.engine.positions import POSITIONS, alibi_bias, alibi_slopes


@pytest.mark.parametrize("n_heads", [1, 2, 3, 4, 6, 7, 8, 12, 16, 20, 33])
def test_slopes_are_those_of_bloom(n_heads: int):
    theirs = bloom.build_alibi_tensor(torch.ones(1, 2, dtype=torch.long), n_heads, torch.float32)
    torch.testing.assert_close(alibi_slopes(n_heads).float(), theirs[:, 0, 1], rtol=1e-6, atol=0)


def test_eight_heads_halve_from_head_to_head():
    """Press et al. 2022, section 3: 1/2, 1/4, ..., 1/256."""
    assert alibi_slopes(8).tolist() == pytest.approx([1 / 2**i for i in range(1, 9)], rel=1e-15)


@pytest.mark.parametrize("n_heads", [3, 8])
def test_after_a_causal_softmax_the_bias_is_blooms(n_heads: int):
    """Bloom adds slope * key position: another number in each row, which softmax does not see."""
    n, causal = 9, torch.ones(9, 9, dtype=torch.bool).tril()
    theirs = bloom.build_alibi_tensor(torch.ones(1, n, dtype=torch.long), n_heads, torch.float32)
    scores = torch.randn(n_heads, n, n, generator=torch.Generator().manual_seed(0))
    ours, expected = (
        (scores + bias).masked_fill(~causal, -torch.inf).softmax(dim=-1)
        for bias in (alibi_bias(n_heads, n, n, dtype=torch.float32), theirs)
    )
    torch.testing.assert_close(ours, expected, rtol=0, atol=1e-6)


def test_the_bias_is_minus_slope_times_distance_to_both_sides():
    bias, slopes = alibi_bias(3, 4, 6), alibi_slopes(3).tolist()
    expected = [[[-slope * abs(i + 2 - j) for j in range(6)] for i in range(4)] for slope in slopes]
    torch.testing.assert_close(bias, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-15)


def test_the_scheme_has_nothing_to_train_and_scales_nothing():
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=3, d_model=6, vocab_size=5, max_len=9, positions="alibi"
    )
    scheme = POSITIONS["alibi"](config)
    assert not list(scheme.parameters())
    q, k = torch.zeros(2, 3, 4, 2), torch.zeros(2, 3, 6, 2)
    bias = scheme.bias(q, k, layer=0, scale=0.1)
    assert torch.equal(bias, alibi_bias(3, 4, 6)[None].float())
