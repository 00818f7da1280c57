"""How far the logits spread decides how sharp the softmax is, and whether it can still learn."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from models.lessons.softmax.weights import Softmax, softmax

DEVIATIONS = torch.logspace(-2, 2, 81, dtype=torch.float64)
"""Twenty a decade, from 0.01 to 100."""
MIN_LOGITS, MAX_LOGITS = 4, 256


@dataclass(frozen=True)
class Spread:
    """The same draws, spread more and more: `logits` and their softmax, and both at unit deviation."""

    deviations: Float[Tensor, " frame"]
    logits: Float[Tensor, "frame n"]
    original: Softmax
    unit_logits: Float[Tensor, "frame n"]
    unit: Softmax


def draw(n_logits: int, *, seed: int) -> Float[Tensor, " n"]:
    """Standard normal numbers in float64; a smaller n gives the first of the same ones.

    Raises ValueError unless 4 <= n_logits <= 256.
    """
    if not MIN_LOGITS <= n_logits <= MAX_LOGITS:
        raise ValueError(
            f"n_logits={n_logits} is outside {MIN_LOGITS} <= n_logits <= {MAX_LOGITS}; try n_logits=16"
        )
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(MAX_LOGITS, generator=generator, dtype=torch.float64)[:n_logits]


def spread(n_logits: int, *, seed: int, deviations: Float[Tensor, " frame"] = DEVIATIONS) -> Spread:
    """Softmax of normal logits with each standard deviation, and of the same divided by the one they have.

    Raises ValueError as `draw` does.
    """
    logits = deviations[:, None] * draw(n_logits, seed=seed)  # [frame, n]
    unit = logits / logits.std(dim=-1, keepdim=True)
    return Spread(deviations, logits, softmax(logits), unit, softmax(unit))


def change_by_shift(logits: Float[Tensor, "*row n"], amount: int | float) -> float:
    """The most that any weight changes when `amount` is added to every logit."""
    return (softmax(logits + amount).weights - softmax(logits).weights).abs().max().item()
