"""The learning rate of every step: the paper's, and what it is compared with."""

import torch
from jaxtyping import Float
from torch import Tensor

from models.lessons.objective.adam import Adam

Steps = Float[Tensor, " step"]
Warmups = Float[Tensor, "warmup *_"]
Rates = Float[Tensor, "warmup step"]
WARMUPS = torch.tensor([round(4_000 * 2 ** (i / 8)) for i in range(-24, 17)], dtype=torch.float64)
"""Eight for each doubling, from 500 to 16,000; 4,000 is the paper's."""


def paper(d_model: int, warmups: Warmups, steps: Steps) -> Rates:
    """d_model^-0.5 min(step^-0.5, step * warmup^-1.5), steps from 1 (Vaswani et al. 2017, equation 3)."""
    return d_model**-0.5 * torch.minimum(steps**-0.5, steps * warmups[:, None] ** -1.5)


def peak(d_model: int, warmups: Warmups) -> Warmups:
    """Its largest value, (d_model * warmup)^-0.5: at step = warmup both of its terms are the same."""
    return (d_model * warmups) ** -0.5


def cosine(d_model: int, warmups: Warmups, steps: Steps, total: int) -> Rates:
    """The same rise to the same peak, then half a cosine down to 0 at `total` (Loshchilov and Hutter 2017).

    Where the warm-up takes `total` steps or more, only the rise is left.
    """
    warmup = warmups[:, None]
    done = ((steps - warmup) / (total - warmup).clamp(min=1)).clamp(0, 1)
    return peak(d_model, warmup) * torch.minimum(steps / warmup, 0.5 * (1 + (torch.pi * done).cos()))


def ramp(warmup: int, n_steps: int) -> Steps:
    """The share of the full rate at steps 1 to n_steps: step / warmup, then 1."""
    return (torch.arange(1, n_steps + 1) / warmup).clamp(max=1)


def grid(total: int, n_points: int = 160) -> Steps:
    """Steps 1 to `total`, evenly spread, and among them every peak that a warm-up can have."""
    even = torch.linspace(1, total, n_points, dtype=torch.float64).round()
    return torch.cat([even, WARMUPS[total >= WARMUPS]]).unique()


def noise_directions(betas: tuple[float, float], n_steps: int, *, n_weights: int = 2_000, seed: int) -> Steps:
    """Mean size of Adam's direction, m-hat / sqrt(v-hat), where gradients are nothing but normal noise.

    It is 1 at step 1, where both means know one gradient. In the end it is near sqrt((1 - beta1) /
    (1 + beta1)) times sqrt(2 / pi), the mean size of a normal number, because m averages what cancels (Ma
    and Yarats 2021: why Adam needs a warm-up).
    """
    generator = torch.Generator().manual_seed(seed)
    adam = Adam(torch.zeros(n_weights), betas)
    sizes = [adam.direction(torch.randn(n_weights, generator=generator)).abs().mean() for _ in range(n_steps)]
    return torch.stack(sizes)
