"""The edges of a graph whose nodes are the tokens."""

import re
from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from ....mask_names import MaskName, refusal
from ..core import Square, register

ABOUT = MaskName(
    order=9,
    title="graph edges",
    rule="pairs of nodes with spaces between",
    example="0-1 1-2",
    meaning="edges between tokens, counted from 0; empty: a chain",
)


def edges(n: int, pairs: Sequence[tuple[int, int]]) -> Square:
    """Tokens are the nodes of a graph, and a node sees its neighbours; an edge is seen from both ends.

    Graph attention (Velickovic et al. 2018, 2.1), where a node is its own neighbour. Raises ValueError for a
    node outside 0 <= node < n.
    """
    mask = torch.eye(n, dtype=torch.bool)
    one, other = torch.tensor(_checked(n, pairs), dtype=torch.long).reshape(-1, 2).T
    mask[one, other] = mask[other, one] = True
    return mask[None, None]


def _checked(n: int, pairs: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    for a, b in pairs:
        if not (0 <= a < n and 0 <= b < n):
            raise ValueError(f"edge {a}-{b} names a node that is not there; the nodes are 0 to {n - 1}")
    return pairs


def _pairs(argument: str) -> list[tuple[int, int]]:
    matches = [re.fullmatch("([0-9]{1,6})-([0-9]{1,6})", part) for part in argument.split()]
    if not all(matches):
        raise ValueError(refusal("edges", argument, ABOUT.example))
    return [(int(pair[1]), int(pair[2])) for pair in matches if pair]


def _part(query: Tensor, key: Tensor, n: int, argument: str) -> Tensor:
    """Edges with an end among these queries and the other among these keys."""
    mask = query == key
    rows, columns = _ends(n, argument) - torch.stack([query[0], key[:1]])
    here = (rows >= 0) & (rows < len(mask)) & (columns >= 0) & (columns < mask.shape[1])
    mask[rows[here], columns[here]] = True
    return mask


@lru_cache(maxsize=4)
def _ends(n: int, argument: str) -> Tensor:
    """Both ends of each edge, in both orders: [2, edge]."""
    one, other = torch.tensor(_checked(n, _pairs(argument)), dtype=torch.long).reshape(-1, 2).T
    return torch.stack([torch.cat([one, other]), torch.cat([other, one])])


register(
    "edges",
    lambda n, a: edges(n, _pairs(a)),
    part=_part,
    usual=lambda n: " ".join(f"{node}-{node + 1}" for node in range(n - 1)),
    least=lambda a: 1 + max((max(pair) for pair in _pairs(a)), default=0),
    code=edges,
)
