"""Which examples a batch has, where there are only so many."""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor


def draw(n: int, size: int, generator: torch.Generator, *, once: bool) -> Int[Tensor, "size"]:
    """`size` numbers below `n`: any, or each once before one comes again."""
    if not once:
        return torch.randint(n, (size,), generator=generator)
    rounds = [torch.randperm(n, generator=generator) for _ in range(-(-size // n))]
    return torch.cat(rounds)[:size]
