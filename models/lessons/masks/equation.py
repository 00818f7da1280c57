"""Scores + mask = masked scores, then softmax: the talks' opening example, and any other."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

TALK = ((0.7, 0.1, 0.1, 0.1), (0.1, 0.6, 0.2, 0.1), (0.1, 0.3, 0.6, 0.1), (0.1, 0.3, 0.3, 0.3))
"""The scores of the talks' example."""


class Masked(NamedTuple):
    """The four matrices of the equation, and what is made of its result where a row has nothing to see."""

    added: Float[Tensor, "*frame query key"]
    masked: Float[Tensor, "*frame query key"]
    softmax: Float[Tensor, "*frame query key"]
    """0 / 0 = NaN in the rows that see nothing."""
    pattern: Float[Tensor, "*frame query key"]
    """The same with zeros there, as the engine has it."""


class Telling(NamedTuple):
    """One row in which the mask can be seen at work."""

    query: int
    key: int
    visible: int
    """How many keys the query sees."""
    without: float
    """The weight of this key if nothing were hidden; `weight` is what it has now."""
    weight: float


def scores_of(n: int, given: Sequence[Sequence[float]] = TALK) -> Float[Tensor, "n n"]:
    """The given table as n x n scores: cut, or continued as the talks' table might be."""
    scores = torch.full((n, n), 0.1, dtype=torch.float64).fill_diagonal_(0.6)
    known = torch.tensor(given, dtype=torch.float64)[:n, :n]
    scores[: known.shape[0], : known.shape[1]] = known
    return scores


def masked_softmax(scores: Float[Tensor, "*frame query key"], allowed: Bool[Tensor, "query key"]) -> Masked:
    """softmax(scores + mask): the mask is 0 where a query may attend and -inf elsewhere.

    Vaswani et al. 2017, 3.2.3. exp(-inf) = 0: what is masked gets no weight, and the others share 1.
    """
    added = torch.zeros_like(scores).masked_fill(~allowed, -torch.inf)  # [query, key]
    masked = scores + added
    softmax = masked.softmax(dim=-1)
    sees_something = allowed.any(dim=-1, keepdim=True)  # [query, 1]
    return Masked(added, masked, softmax, softmax.where(sees_something, 0.0))


def telling(scores: Float[Tensor, "query key"], allowed: Bool[Tensor, "query key"]) -> Telling | None:
    """The query that has most hidden from it and still a choice, and the key that it prefers; or None."""
    visible = allowed.sum(dim=-1)
    hides = (visible > 0) & (visible < allowed.shape[1])
    if not bool(hides.any()):
        return None
    wanted = hides & (visible > 1) if bool((hides & (visible > 1)).any()) else hides
    query = int(visible.masked_fill(~wanted, allowed.shape[1]).argmin())
    pattern = masked_softmax(scores, allowed).pattern
    key = int(pattern[query].argmax())
    without = scores[query].softmax(dim=-1)[key].item()
    return Telling(query, key, int(visible[query]), without, pattern[query, key].item())
