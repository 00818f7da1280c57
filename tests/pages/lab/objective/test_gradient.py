"""Gradients with respect to the logits against autograd and finite differences."""

import pytest
import torch

from attention_lab.pages.lab.objective import gradient
from attention_lab.pages.lab.objective.loss import targets
from tests.rounding import rounding

Z = torch.tensor([0.5, 2.0, 0.0, -0.5, 1.0, 0.0], dtype=torch.float64)
BOTH = (
    (gradient.cross_entropy, gradient.of_cross_entropy),
    (gradient.squared_error, gradient.of_squared_error),
)


@pytest.mark.parametrize(("loss", "slope"), BOTH)
def test_gradients_are_those_of_autograd_and_of_small_steps(loss, slope):
    y = targets(torch.tensor(2), 6, 0.1)
    torch.testing.assert_close(gradient.by_autograd(loss, Z, y), slope(Z, y))
    small = 1e-6 * torch.eye(6, dtype=torch.float64)
    differences = (loss(Z + small, y) - loss(Z - small, y)) / 2e-6
    torch.testing.assert_close(slope(Z, y), differences, atol=1e-8, rtol=1e-5)
    assert slope(Z, y).sum().item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("loss", "slope"), BOTH)
def test_a_walk_is_that_of_pytorchs_sgd(loss, slope):
    y = targets(torch.tensor(2), 6)
    made = gradient.walk(Z, y, loss, slope, 0.3)
    z = torch.nn.Parameter(Z.clone())
    sgd = torch.optim.SGD([z], lr=0.3)
    for step in range(gradient.N_STEPS + 1):
        torch.testing.assert_close(made.logits[step], z.detach())
        sgd.zero_grad()
        loss(z, y).backward()
        assert made.length[step].item() == pytest.approx(z.grad.norm().item())
        sgd.step()
    assert made.off_autograd < rounding(1)
    torch.testing.assert_close(made.probabilities, made.logits.softmax(dim=-1))
