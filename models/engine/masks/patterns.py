"""Masks for self-attention over n tokens, [1, 1, query, key], each with the paper that it comes from."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from models.engine.masks.core import causal

Square = Bool[Tensor, "1 1 n n"]


def sliding_window(n: int, width: int, *, two_sided: bool = False) -> Square:
    """A query sees the last `width` tokens, itself included; two-sided, as many after it as before it.

    Two-sided is Longformer's window (Beltagy et al. 2020, 3.1), whose w is 2 * (width - 1). Raises ValueError
    for a width below 1.
    """
    _at_least("width", width, 1)
    position = torch.arange(n)
    near = (position > position[:, None] - width)[None, None]
    return near & near.mT if two_sided else near & causal(n, n)


def strided(n: int, stride: int, *, head: int | None = None) -> Square:
    """A query sees the `stride` tokens before it, and every `stride`-th token before it (and itself).

    Child et al. 2019, 4.3, strided attention. The paper gives the two sets to two heads: `head` 0 has the
    first, 1 the second; None is both at once, the paper's merged head. Raises ValueError for a stride below 1
    and for another head.
    """
    _at_least("stride", stride, 1)
    position = torch.arange(n)
    near = position >= position[:, None] - stride
    far = position[:, None] % stride == position % stride
    return _of_head(causal(n, n) & near, causal(n, n) & far, head)


def fixed(n: int, stride: int, summary: int = 1, *, head: int | None = None) -> Square:
    """Blocks of `stride` tokens: a query sees its own block, and the last `summary` tokens of all blocks.

    Child et al. 2019, 4.3, fixed attention (l = stride, c = summary); nobody sees later tokens. `head` as in
    `strided`. Raises ValueError unless 1 <= summary <= stride, and for another head.
    """
    _at_least("stride", stride, 1)
    if not 1 <= summary <= stride:
        raise ValueError(f"summary={summary} is outside 1 <= summary <= stride={stride}; try 1")
    position = torch.arange(n)
    block = position // stride
    own_block = block[:, None] == block
    last_of_block = position % stride >= stride - summary
    return _of_head(causal(n, n) & own_block, causal(n, n) & last_of_block, head)


def prefix(n: int, length: int) -> Square:
    """All see the first `length` tokens; beyond them, a query sees itself and what came before.

    The prefix language model's mask (Raffel et al. 2020, 3.2.1). Raises ValueError for a negative length.
    """
    _at_least("length", length, 0)
    return causal(n, n) | (torch.arange(n) < length)


def packed(documents: Int[Tensor, "n"]) -> Square:
    """A query sees the tokens of its own document; `documents` says in which document each token is."""
    return (documents[:, None] == documents)[None, None]


def memory(n: int, segment: int, memory: int) -> Square:
    """Segments of `segment` tokens: a query sees what came before it in its segment, and the `memory` tokens
    before the segment.

    Transformer-XL (Dai et al. 2019, 3.2), whose cached states of the last segment are what a mask over the
    whole text gives at once; memory 0 is the model that reads each segment alone. Raises ValueError for a
    segment below 1 and a negative memory.
    """
    _at_least("segment", segment, 1)
    _at_least("memory", memory, 0)
    position = torch.arange(n)
    first = position // segment * segment - memory
    return causal(n, n) & (position >= first[:, None])


def edges(n: int, pairs: Sequence[tuple[int, int]], *, self_loops: bool = True) -> Square:
    """Tokens are the nodes of a graph, and a node sees its neighbours; an edge is seen from both ends.

    Graph attention (Velickovic et al. 2018, 2.1), where a node is its own neighbour: `self_loops`. Raises
    ValueError for a node outside 0 <= node < n.
    """
    for a, b in pairs:
        if not (0 <= a < n and 0 <= b < n):
            raise ValueError(f"edge {a}-{b} names a node that is not there; the nodes are 0 to {n - 1}")
    mask = torch.eye(n, dtype=torch.bool) if self_loops else torch.zeros(n, n, dtype=torch.bool)
    one, other = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    mask[one, other] = mask[other, one] = True
    return mask[None, None]


def painted(rows: str) -> Square:
    """The mask that was painted cell by cell: "110;011;111" has one row per query, 1 = may attend.

    Raises ValueError unless there are as many rows of 0 and 1 as cells in each.
    """
    lines = rows.split(";")
    for at, line in enumerate(lines):
        if len(line) != len(lines) or set(line) - {"0", "1"}:
            raise ValueError(
                f"row {at + 1} of the painted mask is {line[:40]!r}, not {len(lines)} cells of 0 or 1; "
                "paint as many cells in a row as there are rows"
            )
    return torch.tensor([[cell == "1" for cell in line] for line in lines])[None, None]


def _of_head(first: Tensor, second: Tensor, head: int | None) -> Tensor:
    if head not in (None, 0, 1):
        raise ValueError(f"head={head} is neither 0 nor 1; leave it out for both patterns at once")
    return first | second if head is None else (first, second)[head]


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}; try {name}={max(least, 4)}")
