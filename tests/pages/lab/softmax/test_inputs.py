"""Entropy and gradient of the softmax, against autograd, 60-digit arithmetic and plain loops."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch
from torch.autograd.functional import jacobian as autograd_jacobian

from attention_lab.pages.lab.softmax.inputs import gradient_norm, histogram, jacobian, softmax


def rows(*shape: int, deviation: float = 1.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(5)
    return deviation * torch.randn(*shape, generator=generator, dtype=torch.float64)


def test_the_jacobian_is_autograds():
    for logits in rows(4, 6):
        by_autograd = autograd_jacobian(lambda x: x.softmax(0), logits)
        torch.testing.assert_close(jacobian(logits.softmax(0)), by_autograd)


@pytest.mark.parametrize("deviation", [0.01, 1.0, 5.0])
def test_the_norm_needs_no_jacobian(deviation):
    weights = rows(3, 4, 17, deviation=deviation).softmax(-1)
    expected = torch.linalg.matrix_norm(jacobian(weights))
    torch.testing.assert_close(gradient_norm(weights), expected, rtol=1e-9, atol=0)


def test_the_norm_of_a_saturated_softmax_keeps_its_digits():
    logits = [0.0, -40.0, -70.0, -100.0]
    with localcontext() as context:
        context.prec = 60
        exps = [Decimal(x).exp() for x in logits]
        p = [e / sum(exps) for e in exps]
        square = sum((p[i] * ((i == j) - p[j])) ** 2 for i in range(4) for j in range(4))
        expected = float(square.sqrt())
    assert 1e-18 < expected < 1e-16
    computed = gradient_norm(torch.tensor(logits, dtype=torch.float64).softmax(-1)).item()
    assert computed == pytest.approx(expected, rel=1e-12)


def test_the_numbers_of_each_row():
    logits = rows(3, 5, 7, deviation=2.0)
    result = softmax(logits)
    for index in np.ndindex(3, 5):
        exps = [math.exp(x) for x in logits[index].tolist()]
        p = [e / sum(exps) for e in exps]
        assert result.weights[index].tolist() == pytest.approx(p)
        assert result.entropy[index].item() == pytest.approx(-sum(w * math.log(w) for w in p))
        assert result.largest[index].item() == pytest.approx(max(p))
        assert result.gradient[index] == gradient_norm(result.weights)[index]


def test_entropy_counts_a_weight_of_zero_as_nothing():
    result = softmax(torch.tensor([0.0, -torch.inf, 0.0]))
    assert result.weights.tolist() == [0.5, 0.0, 0.5]
    assert result.entropy.item() == pytest.approx(math.log(2))


def test_the_histogram_counts_every_sample_once():
    values = torch.tensor([[-9.0, -1.0, -0.5, 0.0, 0.1, 1.0, 2.0, 2.0], [0.5] * 8])
    shares = histogram(values, torch.tensor([-1.0, 0.0, 1.0]))
    assert (8 * shares).tolist() == [[2, 2, 2, 2], [0, 0, 8, 0]]
    generator = np.random.default_rng(0)
    sample, edges = generator.normal(size=500), np.linspace(-3, 3, 13)
    expected = np.histogram(sample, np.concatenate([[-np.inf], edges, [np.inf]]))[0] / 500
    np.testing.assert_allclose(histogram(torch.tensor(sample), torch.tensor(edges)), expected)
