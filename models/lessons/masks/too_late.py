"""What goes wrong when the mask comes after the softmax."""

from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor

from models.lessons.masks.equation import masked_softmax


class TooLate(NamedTuple):
    """What a mask does after the softmax; `before` is the pattern of a mask where it belongs."""

    softmax: Float[Tensor, "*frame query key"]
    """The softmax of all scores, the hidden ones too."""
    cut: Float[Tensor, "*frame query key"]
    """Its weights, hidden ones set to 0."""
    sums: Float[Tensor, "*frame query"]
    """What is left of 1 in each row."""
    renormalised: Float[Tensor, "*frame query key"]
    """The cut rows divided by their sums."""
    before: Float[Tensor, "*frame query key"]


def mask_after(scores: Float[Tensor, "*frame query key"], allowed: Bool[Tensor, "query key"]) -> TooLate:
    """The pattern that a mask makes after the softmax, as it is and renormalised, and the right one.

    Renormalised, the rows are those of a mask before the softmax: exp(s_i) / sum of all, over the visible
    sum / sum of all. That holds on paper; in floating point a hidden score that is much larger than the
    visible ones leaves them 0, and 0 / 0 is NaN.
    """
    softmax = scores.softmax(dim=-1)
    cut = softmax * allowed
    sums = cut.sum(dim=-1)
    return TooLate(softmax, cut, sums, cut / sums[..., None], masked_softmax(scores, allowed).pattern)


def change_hidden(
    scores: Float[Tensor, "query key"],
    allowed: Bool[Tensor, "query key"],
    query: int,
    key: int,
    values: Float[Tensor, " frame"],
) -> TooLate:
    """`mask_after` for one hidden score at each of `values`, [frame, query, key].

    Raises ValueError where that query may attend to that key.
    """
    if bool(allowed[query, key]):
        raise ValueError(f"key {key} is not hidden from query {query}; choose one that the mask hides")
    changed = scores.repeat(len(values), 1, 1)  # [frame, query, key]
    changed[:, query, key] = values
    return mask_after(changed, allowed)


def last_hidden(allowed: Bool[Tensor, "query key"], query: int) -> int:
    """The last key that is hidden from a query. Raises ValueError if it sees them all."""
    hidden = (~allowed[query]).nonzero()
    if len(hidden) == 0:
        raise ValueError(f"query {query} sees every key; choose another query, or a mask that hides some")
    return int(hidden[-1])
