"""The gradient of the loss with respect to the logits, and a walk down it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

N_STEPS = 60
Logits = Float[Tensor, "*row word"]
Targets = Float[Tensor, "*_ word"]
Loss = Callable[[Tensor, Tensor], Tensor]
"""A loss makes one number for each row of logits and targets; a gradient makes one for each logit."""


def cross_entropy(z: Logits, y: Targets) -> Float[Tensor, "*row"]:
    """H(y, softmax(z)) in nats, for targets y that sum to 1."""
    return -(y * z.log_softmax(dim=-1)).sum(dim=-1)


def squared_error(z: Logits, y: Targets) -> Float[Tensor, "*row"]:
    """sum over words of (softmax(z) - y)^2."""
    return (z.softmax(dim=-1) - y).square().sum(dim=-1)


def of_cross_entropy(z: Logits, y: Targets) -> Logits:
    """p - y with p = softmax(z): the slope of the softmax cancels against that of the logarithm.

    Bridle 1990, "Training stochastic model recognition algorithms"; Goodfellow et al. 2016, 6.2.2.
    """
    return z.softmax(dim=-1) - y


def of_squared_error(z: Logits, y: Targets) -> Logits:
    """2 p_i ((p - y)_i - sum_j p_j (p - y)_j): the softmax's slope stays, and is 0 where p is 0 or 1."""
    p = z.softmax(dim=-1)
    error = p - y
    return 2 * p * (error - (p * error).sum(dim=-1, keepdim=True))


def by_autograd(loss: Loss, z: Logits, y: Targets) -> Logits:
    """PyTorch's own gradient of a loss with respect to z; the rows are independent."""
    z = z.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(z, y).sum(), z)
    return gradient


@dataclass(frozen=True)
class Walk:
    """Where gradient descent on the logits leads, and the gradients that led there."""

    logits: Float[Tensor, "step word"]
    probabilities: Float[Tensor, "step word"]
    gradient: Float[Tensor, "step word"]
    length: Float[Tensor, " step"]
    """Euclidean norm of the gradient."""
    off_autograd: float
    """The most by which the formula's gradient differs from autograd's, in any step."""


def walk(
    start: Float[Tensor, " word"], y: Float[Tensor, " word"], loss: Loss, gradient: Loss, rate: int | float
) -> Walk:
    """Begins at `start` and replaces z by z - rate * gradient(z, y), 60 times."""
    steps = [start]
    for _ in range(N_STEPS):
        steps.append(steps[-1] - rate * gradient(steps[-1], y))
    z = torch.stack(steps)
    slopes = gradient(z, y)
    off = (slopes - by_autograd(loss, z, y)).abs().max().item()
    return Walk(z, z.softmax(dim=-1), slopes, slopes.norm(dim=-1), off)
