"""The causal and the padding mask, how masks combine, and how a file of `masks.kinds` registers its kind."""

from collections.abc import Callable
from functools import reduce
from operator import and_
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

# The masks of every transformer

Mask = Bool[Tensor, "#batch #head #query #key"]
Square = Bool[Tensor, "1 1 n n"]
"""A mask for self-attention over n tokens, [1, 1, query, key]."""


def causal(
    n_query: int, n_key: int, *, device: torch.device | str | None = None
) -> Bool[Tensor, "1 1 n_query n_key"]:
    """A query sees itself and what came before; the last query stands at the last key."""
    allowed = torch.ones(n_query, n_key, dtype=torch.bool, device=device)
    return allowed.tril(n_key - n_query)[None, None]


def padding(token_ids: Int[Tensor, "batch key"], pad_id: int) -> Bool[Tensor, "batch 1 1 key"]:
    """Nobody sees padding."""
    return (token_ids != pad_id)[:, None, None, :]


def combine(*masks: Mask | None) -> Mask | None:
    """Allowed where every mask allows it; None allows everything."""
    known = [mask for mask in masks if mask is not None]
    return reduce(and_, known) if known else None


def check(mask: Tensor, scores_shape: tuple[int, int, int, int]) -> None:
    """Raises ValueError unless the mask is boolean and broadcasts to [batch, head, query, key]."""
    if mask.dtype != torch.bool:  # PyTorch would add a mask of numbers to the scores
        raise ValueError(f"mask of {mask.dtype} is not boolean (True = may attend); try mask.bool()")
    fits = mask.dim() == 4 and all(a in (1, b) for a, b in zip(mask.shape, scores_shape, strict=True))
    if not fits:
        raise ValueError(
            f"mask of shape {list(mask.shape)} does not broadcast to [batch, head, query, key] = "
            f"{list(scores_shape)}; give four axes, each of that size or 1"
        )


def of_head(first: Tensor, second: Tensor, head: int | None) -> Tensor:
    """One of two patterns, or with None both at once. Raises ValueError for another head."""
    if head not in (None, 0, 1):
        raise ValueError(f"head={head} is neither 0 nor 1; leave it out for both patterns at once")
    return first | second if head is None else (first, second)[head]


def at_least(name: str, value: int, least: int) -> None:
    """Raises ValueError for a value below the least."""
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}; try {name}={max(least, 4)}")


# The registry of kinds

Part = Callable[[Int[Tensor, "query 1"], Int[Tensor, " key"], int, str], Bool[Tensor, "query key"]]
"""Which of some queries may attend to which of some keys, by their positions, among n tokens."""


class Kind(NamedTuple):
    """make: the mask of n tokens and an argument. part: some queries and keys of it, where it has a rule that
    needs no others; without one, long texts hold the whole. usual: the argument that an empty one stands for
    among n tokens, where that is not the example. least: how many tokens an argument needs, where not one.
    code: the function that makes it, whose lines pages show. by_end: it changes where a text goes on.
    """

    make: Callable[[int, str], Mask]
    part: Part | None = None
    usual: Callable[[int], str] | None = None
    least: Callable[[str], int] | None = None
    code: Callable[..., Mask] | None = None
    by_end: bool = False


KINDS: dict[str, Kind] = {}
"""Every kind of mask by its name."""


def register(
    name: str,
    make: Callable[[int, str], Mask],
    *,
    part: Part | None = None,
    usual: Callable[[int], str] | None = None,
    least: Callable[[str], int] | None = None,
    code: Callable[..., Mask] | None = None,
    by_end: bool = False,
) -> None:
    """Enters a kind of mask under the name of its file, whose ABOUT says what pages show of it."""
    KINDS[name] = Kind(make, part, usual, least, code, by_end)
