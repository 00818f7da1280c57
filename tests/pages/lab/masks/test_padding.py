"""Cross-attention to padded sources."""

import pytest
import torch

from attention_lab.pages.lab.masks.padding import cross_attention
from tests.rounding import assert_same_but_for_rounding, rounding


@pytest.mark.parametrize("n_padding", [0, 1, 5])
def test_hidden_padding_changes_nothing(n_padding: int):
    result = cross_attention(4, 3, n_padding, seed=2)
    assert result.scores.shape == result.allowed.shape == (4, 3 + n_padding)
    assert_same_but_for_rounding(result.hidden.pattern[:, :3], result.alone)
    assert not result.hidden.pattern[:, 3:].any()
    assert result.change == (result.hidden.pattern[:, :3] - result.alone).abs().max().item() < rounding(1)


def test_padding_that_is_not_hidden_takes_weight_from_the_words():
    result = cross_attention(4, 3, 5)
    torch.testing.assert_close(result.unmasked.sum(-1), torch.ones(4, dtype=torch.float64))
    torch.testing.assert_close(result.wasted, result.unmasked[:, 3:].sum(-1))
    torch.testing.assert_close(result.unmasked[:, :3], result.alone * (1 - result.wasted[:, None]))
    assert (result.wasted > 0.1).all()


def test_padding_is_one_token_and_has_one_score_with_each_query():
    result = cross_attention(4, 3, 5)
    assert_same_but_for_rounding(result.scores[:, 3:], result.scores[:, 3:4].expand(-1, 5))
    assert_same_but_for_rounding(cross_attention(4, 3, 2).scores, result.scores[:, :5])
