"""A softmax and the numbers that describe it: entropy, largest weight, the gradient that gets through."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Softmax:
    """Weights that sum to 1 along the last axis, and three numbers for each row of them."""

    weights: Float[Tensor, "*row n"]
    entropy: Float[Tensor, "*row"]
    """The entropy in nats is 0 if one weight is 1, and ln(n) if all are alike."""
    largest: Float[Tensor, "*row"]
    gradient: Float[Tensor, "*row"]
    """`gradient_norm` of the weights."""


def softmax(logits: Float[Tensor, "*row n"]) -> Softmax:
    """softmax(x)_i = exp(x_i) / sum_j exp(x_j), with its numbers."""
    weights = logits.softmax(dim=-1)
    entropy = torch.special.entr(weights).sum(dim=-1)  # -p ln p, and 0 where p = 0
    return Softmax(weights, entropy, weights.amax(dim=-1), gradient_norm(weights))


def jacobian(weights: Float[Tensor, "*row n"]) -> Float[Tensor, "*row n n"]:
    """diag(p) - p p^T: entry [i, j] says how weight i answers to logit j, p_i (1[i = j] - p_j)."""
    return weights.diag_embed() - weights[..., :, None] * weights[..., None, :]


def gradient_norm(weights: Float[Tensor, "*row n"]) -> Float[Tensor, "*row"]:
    """Frobenius norm of the Jacobian: how much gradient gets through the softmax.

    A gradient of independent standard normal numbers on the weights reaches the logits with this length
    (root mean square). It is 0 for a single weight of 1, sqrt(n - 1) / n for equal weights, and never above
    1 / 2. Row i of the Jacobian is p_i (e_i - p), so its squared length needs no matrix:
    p_i^2 ((sum over j != i of p_j)^2 + sum over j != i of p_j^2).
    """
    best = weights.argmax(dim=-1, keepdim=True)
    rest = weights.scatter(-1, best, 0.0)
    squares = weights.square()
    # For the largest weight the others are summed: 1 - p would lose the digits of a tiny rest.
    others = (1 - weights).scatter(-1, best, rest.sum(dim=-1, keepdim=True))
    other_squares = squares.sum(dim=-1, keepdim=True) - squares
    other_squares = other_squares.scatter(-1, best, rest.square().sum(dim=-1, keepdim=True))
    return (squares * (others.square() + other_squares)).sum(dim=-1).sqrt()


def histogram(
    values: Float[Tensor, "*row sample"], edges: Float[Tensor, " edge"]
) -> Float[Tensor, "*row bin"]:
    """Share of a row's samples in each bin; a value on an edge counts in the lower one.

    The outer two bins are open: n edges make n + 1 bins.
    """
    at = torch.bucketize(values.contiguous(), edges)
    counts = torch.zeros(*values.shape[:-1], len(edges) + 1, dtype=edges.dtype)
    return counts.scatter_add(-1, at, torch.ones_like(values, dtype=edges.dtype)) / values.shape[-1]
