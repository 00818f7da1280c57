"""Rank correlations against plain loops and known values."""

import math
from itertools import combinations

import pytest
import torch

from models.findings.attribution import kendall, ranks, spearman

A = torch.tensor([0.3, 0.1, 0.4, 0.1, 0.5, 0.9])
B = torch.tensor([2.0, 7.0, 1.0, 8.0, 2.0, 8.0])


def test_equal_values_share_the_mean_of_their_places() -> None:
    assert ranks(A).tolist() == [3, 1.5, 4, 1.5, 5, 6]
    assert ranks(B).tolist() == [2.5, 4, 1, 5.5, 2.5, 5.5]


def test_spearman_is_pearsons_correlation_of_the_ranks() -> None:
    x, y = [3, 1.5, 4, 1.5, 5, 6], [2.5, 4, 1, 5.5, 2.5, 5.5]
    covariance = sum((a - 3.5) * (b - 3.5) for a, b in zip(x, y, strict=True))
    spread = math.sqrt(sum((a - 3.5) ** 2 for a in x) * sum((b - 3.5) ** 2 for b in y))
    assert spearman(A, B) == pytest.approx(covariance / spread)
    assert spearman(A, A) == pytest.approx(1)
    assert spearman(A, -A) == pytest.approx(-1)


def test_kendall_counts_pairs_in_the_same_order() -> None:
    both = x_differ = y_differ = 0
    for i, j in combinations(range(len(A)), 2):
        x, y = (float(torch.sign(each[i] - each[j])) for each in (A, B))
        both, x_differ, y_differ = both + x * y, x_differ + abs(x), y_differ + abs(y)
    assert kendall(A, B) == pytest.approx(both / math.sqrt(x_differ * y_differ))
    assert kendall(A, -A) == pytest.approx(-1)


def test_ratings_that_are_all_alike_have_no_order() -> None:
    alike = torch.ones(6)
    assert math.isnan(spearman(A, alike))
    assert math.isnan(kendall(A, alike))
