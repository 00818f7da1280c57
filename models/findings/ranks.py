"""Rank correlations, with ties: whether two ways to rate the same tokens put them in the same order."""

import torch
from jaxtyping import Float
from torch import Tensor


def ranks(values: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """1 for the least; equal values share the mean of their places."""
    below = (values[:, None] > values).sum(dim=1)
    alike = (values[:, None] == values).sum(dim=1)
    return (below + (alike + 1) / 2).double()


def spearman(a: Float[Tensor, " n"], b: Float[Tensor, " n"]) -> float:
    """Pearson's correlation of the ranks; NaN where one of them rates all alike."""
    x, y = (each - each.mean() for each in (ranks(a), ranks(b)))
    return float((x @ y) / (x.norm() * y.norm()))


def kendall(a: Float[Tensor, " n"], b: Float[Tensor, " n"]) -> float:
    """Kendall's tau-b: pairs in the same order less those in the other; NaN where all are rated alike."""
    x, y = (torch.sign(each[:, None] - each).double() for each in (a, b))
    return float((x * y).sum() / ((x * x).sum() * (y * y).sum()).sqrt())
