"""Entropy, cross-entropy and KL against PyTorch and scipy."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import entropy as by_scipy

from attention_lab.pages.lab.objective.loss import normalised, targets, terms


def distributions(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return (2 * torch.randn(*shape, generator=generator, dtype=torch.float64)).softmax(dim=-1)


def test_sums_are_those_of_scipy_and_pytorch():
    p, q = distributions(2, 9, 6)
    made = terms(p, q)
    np.testing.assert_allclose(made.entropy.sum(dim=-1), by_scipy(p, axis=-1))
    np.testing.assert_allclose(made.divergence.sum(dim=-1), by_scipy(p, q, axis=-1))
    expected = torch.nn.KLDivLoss(reduction="none")(q.log(), p)
    torch.testing.assert_close(made.divergence, expected)


@pytest.mark.parametrize("eps", [0.0, 0.1])
def test_the_loss_is_pytorchs_with_label_smoothing(eps):
    logits, words = distributions(20, 6).log() + 3, torch.arange(20) % 6
    found = terms(targets(words, 6, eps), logits.softmax(dim=-1)).cross.sum(dim=-1)
    expected = torch.nn.functional.cross_entropy(logits, words, label_smoothing=eps, reduction="none")
    torch.testing.assert_close(found, expected)


def test_zeros():
    p = torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64)
    q = torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)
    made = terms(p, q)
    assert made.entropy.tolist() == [0, 0, 0]
    assert made.cross.tolist() == pytest.approx([0, math.log(2), 0])
    assert terms(q, p).cross[0] == math.inf
    assert terms(q, p).divergence[0] == math.inf


@pytest.mark.parametrize(
    ("parts", "told"),
    [([0.5, -0.1], "p has -0.1, but no probability is below 0"), ([0.0, 0.0], "p is 0 for every word")],
)
def test_parts_that_make_no_distribution_are_refused(parts, told):
    with pytest.raises(ValueError, match=told):
        normalised(torch.tensor(parts, dtype=torch.float64))
    assert normalised(torch.tensor([1.0, 3.0])).tolist() == [0.25, 0.75]
