"""Ranks and their correlations against scipy's."""

import math

import pytest
import scipy.stats
import torch

from attention_lab.models.findings.attribution import kendall, ranks, spearman

A = torch.tensor([0.3, 0.1, 0.4, 0.1, 0.5, 0.9])
B = torch.tensor([2.0, 7.0, 1.0, 8.0, 2.0, 8.0])


@pytest.mark.parametrize(("a", "b"), [(A, B), (A, A), (A, -A)])
def test_they_are_scipys_where_values_are_equal_too(a: torch.Tensor, b: torch.Tensor) -> None:
    assert ranks(b).tolist() == scipy.stats.rankdata(b).tolist()
    assert spearman(a, b) == pytest.approx(scipy.stats.spearmanr(a, b).statistic)
    assert kendall(a, b) == pytest.approx(scipy.stats.kendalltau(a, b).statistic)


def test_ratings_that_are_all_alike_have_no_order() -> None:
    alike = torch.ones(6)
    assert math.isnan(spearman(A, alike))
    assert math.isnan(kendall(A, alike))
