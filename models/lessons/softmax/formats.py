"""The softmax in the number formats of computers: where exp overflows, and why the maximum is subtracted."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

FORMATS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
STEPS = -0.3 * torch.arange(8, dtype=torch.float64)
"""Eight logits, seen from the largest: 0 to -2.1."""
HEIGHTS = torch.arange(-120, 121, dtype=torch.float64)


@dataclass(frozen=True)
class Computed:
    """One way to compute the softmax in one format: each step as it came out, inf and NaN included."""

    exps: Float[Tensor, "frame n"]
    total: Float[Tensor, " frame"]
    weights: Float[Tensor, "frame n"]
    error: Float[Tensor, " frame"]
    """Largest distance of a weight from the exact one; NaN if there is a NaN among them."""


def logits(heights: Float[Tensor, " frame"] = HEIGHTS) -> Float[Tensor, "frame n"]:
    """Eight logits, the largest of them at each height; the exact softmax is the same for all heights."""
    return heights[:, None] + STEPS


def naive(x: Float[Tensor, "*row n"]) -> tuple[Tensor, Tensor, Tensor]:
    """Exponentials, their sum and their quotient, as the formula is written."""
    exps = x.exp()
    total = exps.sum(dim=-1, keepdim=True)
    return exps, total, exps / total


def stable(x: Float[Tensor, "*row n"]) -> tuple[Tensor, Tensor, Tensor]:
    """The same after subtracting the largest logit: the largest exponential is 1, so nothing overflows.

    exp(x_i - m) / sum_j exp(x_j - m) is the same number, as exp(-m) cancels.
    """
    return naive(x - x.amax(dim=-1, keepdim=True))


def compute(x: Float[Tensor, "frame n"], dtype: torch.dtype, *, subtract_max: bool) -> Computed:
    """Rounds the float64 logits to `dtype`, computes there, and compares with the softmax of float64."""
    exps, total, weights = (stable if subtract_max else naive)(x.to(dtype))
    error = (weights.double() - x.softmax(dim=-1)).abs().amax(dim=-1)
    return Computed(exps.double(), total.double()[:, 0], weights.double(), error)


def fails(written: Computed, subtracted: Computed) -> Bool[Tensor, " frame"]:
    """Where the formula as written gives NaN, or weights worse by 0.01 than with the maximum subtracted."""
    return ~(written.error < subtracted.error + 0.01)


def overflow_at(dtype: torch.dtype) -> float:
    """The logit above which exp is infinite: the logarithm of the largest number, 11.09 in float16."""
    return math.log(torch.finfo(dtype).max)
