"""Cutting the projections into heads (Vaswani et al. 2017, 3.2.2).

The paper multiplies from the right: q = x W_Q, with W_Q [d_model, n_heads * d_head]. PyTorch's Linear keeps
the transpose, so `.weight.T` is the paper's matrix. Head h owns the h-th block of d_head columns of W_Q, W_K
and W_V, and the h-th block of d_head rows of W_O.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from models.engine.attention import MultiHeadAttention


class Blocks(NamedTuple):
    """The paper's W_i^Q, W_i^K, W_i^V and the rows of W^O that meet head i."""

    w_q: Float[Tensor, "head d_model d_head"]
    w_k: Float[Tensor, "head d_model d_head"]
    w_v: Float[Tensor, "head d_model d_head"]
    w_o: Float[Tensor, "head d_head d_model"]


def blocks(attention: MultiHeadAttention) -> Blocks:
    """A layer's four matrices, cut into its heads."""
    projections = (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj)
    W_Q, W_K, W_V, W_O = (projection.weight.detach().T for projection in projections)
    n_heads = attention.n_heads
    return Blocks(
        cut_columns(W_Q, n_heads),
        cut_columns(W_K, n_heads),
        cut_columns(W_V, n_heads),
        cut_rows(W_O, n_heads),
    )


@torch.no_grad()
def project(
    x: Float[Tensor, "position d_model"], linear: nn.Linear, n_heads: int
) -> Float[Tensor, "{n_heads} position d_head"]:
    """One projection head by head, each with its own columns: x W_i + b_i, [head, position, d_head]."""
    per_head = x @ cut_columns(linear.weight.T, n_heads)  # [head, position, d_head]
    return per_head if linear.bias is None else per_head + linear.bias.view(n_heads, 1, -1)


def cut_columns(
    matrix: Float[Tensor, "rows width"], n_heads: int
) -> Float[Tensor, "{n_heads} rows {matrix.shape[1]//n_heads}"]:
    """[rows, n_heads * d_head] -> [head, rows, d_head]: each head's block of columns."""
    d_head = matrix.shape[1] // n_heads
    return matrix.unflatten(1, (n_heads, d_head)).transpose(0, 1)  # [rows, head, d_head] -> [head, rows, ...]


def cut_rows(
    matrix: Float[Tensor, "width columns"], n_heads: int
) -> Float[Tensor, "{n_heads} {matrix.shape[0]//n_heads} columns"]:
    """[n_heads * d_head, columns] -> [head, d_head, columns]: each head's block of rows."""
    d_head = matrix.shape[0] // n_heads
    return matrix.unflatten(0, (n_heads, d_head))


def concatenate(z: Float[Tensor, "head query d_head"]) -> Float[Tensor, "query width"]:
    """Concat(head_1, ..., head_h): the heads' results side by side, [query, n_heads * d_head]."""
    return z.transpose(0, 1).flatten(1)  # [query, head, d_head] -> [query, head * d_head]


def owner(column: int, d_head: int) -> int:
    """The head that a column of W_Q, W_K, W_V, or a row of W_O, belongs to; both count from 0."""
    return column // d_head
