"""Adam, written out (Kingma and Ba 2015, algorithm 1)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

BETAS = (0.9, 0.98)
"""Vaswani et al. 2017, 5.3; PyTorch's own default is (0.9, 0.999)."""
EPSILON = 1e-9


class Adam:
    """Running means of the gradient, m, and of its square, v; both begin at 0."""

    def __init__(self, like: Float[Tensor, " weight"], betas: tuple[float, float] = BETAS) -> None:
        self.m, self.v = torch.zeros_like(like), torch.zeros_like(like)
        self.betas = betas
        self.step = 0

    def direction(self, gradient: Float[Tensor, " weight"]) -> Float[Tensor, " weight"]:
        """m-hat / (sqrt(v-hat) + eps): what the learning rate is multiplied with, about 1 at most."""
        (beta1, beta2), self.step = self.betas, self.step + 1
        self.m.lerp_(gradient, 1 - beta1)  # m = beta1 m + (1 - beta1) g
        self.v.lerp_(gradient.square(), 1 - beta2)
        m_hat = self.m / (1 - beta1**self.step)  # without the bias towards the 0 of the start
        v_hat = self.v / (1 - beta2**self.step)
        return m_hat / (v_hat.sqrt() + EPSILON)


def flat(model: nn.Module) -> tuple[Float[Tensor, " weight"], Float[Tensor, " weight"]]:
    """All weights of a model in a row, their gradients in another; the model's own become views of them."""
    parameters = list(model.parameters())
    sizes = [weight.numel() for weight in parameters]
    weights = torch.cat([weight.detach().flatten() for weight in parameters])
    gradients = torch.zeros_like(weights)
    for weight, at, gradient in zip(parameters, weights.split(sizes), gradients.split(sizes), strict=True):
        weight.data, weight.grad = at.view_as(weight), gradient.view_as(weight)
    return weights, gradients
