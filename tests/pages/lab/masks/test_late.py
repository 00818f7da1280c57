"""Masking after the softmax: what it loses, and what leaks."""

import pytest
import torch

from attention_lab.models.engine import masks
from attention_lab.pages.lab.masks.late import change_hidden, last_hidden, mask_after
from attention_lab.pages.lab.masks.mask import scores_of
from tests.rounding import assert_same_but_for_rounding

CAUSAL = masks.causal(4, 4)[0, 0]


def random_scores(n: int) -> torch.Tensor:
    return torch.randn(n, n, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_rows_cut_after_the_softmax_no_longer_sum_to_1():
    result = mask_after(scores_of(4), CAUSAL)
    torch.testing.assert_close(result.softmax.sum(-1), torch.ones(4, dtype=torch.float64))
    expected = [sum(row[: at + 1]) for at, row in enumerate(result.softmax.tolist())]
    assert result.sums.tolist() == pytest.approx(expected)
    assert (result.sums[:3] < 0.9).all()
    assert result.sums[3].item() == pytest.approx(1)


@pytest.mark.parametrize("name", ["causal", "window", "strided", "fixed", "packed", "memory"])
def test_renormalised_they_are_the_rows_of_a_mask_before(name: str):
    result = mask_after(random_scores(8), masks.named(name, "", 8)[0, 0])
    assert_same_but_for_rounding(result.renormalised, result.before)


def test_a_hidden_score_changes_the_visible_weights_only_when_the_mask_comes_late():
    values = torch.linspace(-4, 4, 9, dtype=torch.float64)
    result = change_hidden(scores_of(4), CAUSAL, 1, 3, values)
    assert_same_but_for_rounding(result.before, result.before[:1].expand_as(result.before))
    visible = result.cut[:, 1, :2]
    assert (visible.diff(dim=0) < 0).all()
    assert not result.cut[:, 1, 2:].any()
    others = [0, 2, 3]
    assert_same_but_for_rounding(result.cut[:, others], result.cut[:1, others].expand(9, -1, -1))


def test_the_gradient_of_the_hidden_score_is_zero_only_before():
    scores = random_scores(5).requires_grad_()
    allowed = masks.causal(5, 5)[0, 0]
    result = mask_after(scores, allowed)
    value = torch.randn(5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    (late,) = torch.autograd.grad((result.cut @ value).sum(), scores, retain_graph=True)
    (right,) = torch.autograd.grad((result.before @ value).sum(), scores)
    assert (late[~allowed] != 0).all()
    assert not right[~allowed].any()


def test_the_last_hidden_key_is_found_where_there_is_one():
    assert last_hidden(CAUSAL, 1) == 3
    assert last_hidden(masks.painted("01;11")[0, 0], 0) == 0
    with pytest.raises(ValueError, match="query 3 sees every key; choose another query or mask"):
        last_hidden(CAUSAL, 3)
