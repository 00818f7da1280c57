"""What tasks with labelled examples share: which of them a batch has, and the names of their classes."""

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

MOST_CLASSES = 256


def draw(
    n: int, size: int, generator: torch.Generator, *, once: bool, again: bool = False
) -> Int[Tensor, "drawn"]:
    """`size` numbers below `n`: any, or each `once`, which may be fewer; `again`: each once before one comes
    again.
    """
    if not once:
        return torch.randint(n, (size,), generator=generator)
    if not again:
        return torch.randperm(n, generator=generator)[:size]
    rounds = [torch.randperm(n, generator=generator) for _ in range(-(-size // n))]
    return torch.cat(rounds)[:size]


def classes_of(learnt: dict[str, Any]) -> tuple[str, ...]:
    """The names under "classes". Raises ValueError for what is no list of names."""
    names = learnt.get("classes")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"classes={names!r:.40} are no names; give what learnt returned")
    if not 1 <= len(names) <= MOST_CLASSES:
        raise ValueError(
            f"there are {len(names):,} classes, not 1 to {MOST_CLASSES}; give what learnt returned"
        )
    return tuple(names)
