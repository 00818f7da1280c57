"""From scores to weights: the softmax, and two others that may look at nothing.

A softmax hands out a weight of 1 in all, even where no key is of use: models then learn a sink for it.
"softmax-plus-one" is exp(s_i) / (1 + sum of exp(s_j)), what a softmax gives beside one more score, 0, that
belongs to no key (Miller 2023). "sigmoid" looks at each key for itself: 1 / (1 + exp(log n - s)), where n is
how many keys the query sees (Ramapuram et al. 2024, who take the length of the text for n).
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from ..config import Normalizer

Scores = Float[Tensor, "batch head query key"]
Mask = Bool[Tensor, "#batch #head #query key"]

NOTES: dict[str, str] = {
    "softmax-plus-one": (
        "A score that belongs to no key takes part of every row: its weights add up to less than 1."
    ),
    "sigmoid": "Each weight is the sigmoid of its own score; a row may add up to anything.",
}
"""What is to be known of patterns whose rows do not sum to 1."""


def weights(how: Normalizer, scores: Scores, mask: Mask | None) -> Scores:
    """What each query takes of each key; scores are -inf where `mask` is False. All masked, 0."""
    if how == "sigmoid":
        n_seen = torch.tensor(scores.shape[-1]) if mask is None else mask.sum(dim=-1, keepdim=True)
        return (scores - n_seen.to(scores).clamp(min=1).log()).sigmoid()
    if how == "softmax-plus-one":
        return F.pad(scores, (0, 1)).softmax(dim=-1)[..., :-1]
    return _softmax(scores, mask)


def with_nothing(k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """Keys, values and mask (open or not, or what is added to scores) with one key more, whose score is 0 and
    whose value is nought: the softmax over them is "softmax-plus-one", and kernels know it.
    """
    added = None if mask is None else F.pad(mask, (0, 1), value=True if mask.dtype == torch.bool else 0.0)
    return F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1)), added


def sinks(how: Normalizer, q: Float[Tensor, "head query d_head"]) -> Float[Tensor, " head"] | None:
    """The score of no key that each head of a long text has. Raises ValueError where there is no softmax."""
    if how == "sigmoid":
        raise ValueError(
            "normalizer='sigmoid' cannot read long texts; give a "
            "shorter text, or a model with another normalizer"
        )
    return q.new_zeros(len(q)) if how == "softmax-plus-one" else None


def _softmax(scores: Scores, mask: Mask | None) -> Scores:
    """Softmax over keys; zeros, not NaN, where a row is all -inf."""
    if mask is None:
        return scores.softmax(dim=-1)
    some = mask.any(dim=-1, keepdim=True)
    if not torch.compiler.is_exporting() and bool(some.all()):  # a graph decides nothing by one input
        return scores.softmax(dim=-1)
    return scores.masked_fill(~some, 0.0).softmax(dim=-1) * some
