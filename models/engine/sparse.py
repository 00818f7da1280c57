"""Sparse attention that computes the open pairs alone, but for the edges (Child et al. 2019, 5.5).

Strided masks go by `Strides`, all others as follows. Queries go together in groups of neighbours. A group
meets the keys that any of its queries sees and no others: the work falls with the pairs that a mask hides,
where a mask over all pairs computes hidden ones too.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from .differential import fused
from .masks import argument_of, in_parts, kind_of

# Strided masks (Child et al. 2019, 4.3 and 5.5)
# A query sees the `stride` tokens before it, and every `stride`-th token before them. The near ones stand
# side by side. The far ones do so in another order, where those that are a stride apart stand together: each
# query meets its own class alone. One softmax goes over both, by one largest score and one sum a row.

Heads = Float[Tensor, "batch head position d_head"]
Values = Float[Tensor, "batch head position d_value"]


class Strides(NamedTuple):
    """The strided mask over n tokens. group: queries whose near keys are taken together."""

    n: int
    stride: int
    group: int

    @property
    def by_distance(self) -> bool:
        """Whether groups' keys are neighbours, so that a bias by distance can be computed for them."""
        return False

    @property
    def share(self) -> float:
        """How much of all n x n pairs is computed."""
        return (self.stride + self.group + -(-self.n // self.stride)) / self.n

    def attend(
        self,
        q: Heads,
        k: Heads,
        v: Values,
        *,
        scale: float,
        dropout: float = 0.0,
        bias: Callable[[Tensor, Tensor], Tensor | None] | None = None,
    ) -> Values:
        """What softmax(scale * q . k) of the open pairs takes from v. Nothing may be added to the scores."""
        q = q * scale
        near = self._groups(q) @ self._neighbours(k)
        # [group, query, key]: the `stride` tokens before, and the query's own, where there are any
        query, key = torch.arange(self.group)[:, None], torch.arange(self.stride + self.group)
        first = torch.arange(0, self.n, self.group)[:, None, None]
        open_ = (key >= query) & (key <= query + self.stride) & (first + key >= self.stride)
        near.masked_fill_(~open_, -torch.inf)
        far = self._classes(q) @ self._classes(k).mT
        n = far.shape[-1]  # of a class all before but the last one are open, which is near
        far.masked_fill_(torch.ones(n, n, dtype=torch.bool).triu(-1), -torch.inf)
        peak = torch.maximum(  # [batch, head, position, 1]; any number gives the same weights
            self._from_groups(near.detach().amax(-1, keepdim=True)),
            self._from_classes(far.detach().amax(-1, keepdim=True)),
        )
        near, far = (near - self._groups(peak)).exp(), (far - self._classes(peak)).exp()
        total = self._from_groups(near.sum(-1, keepdim=True)) + self._from_classes(far.sum(-1, keepdim=True))
        near, far = F.dropout(near, dropout), F.dropout(far, dropout)
        z = self._from_groups(near @ self._neighbours(v).mT) + self._from_classes(far @ self._classes(v))
        return z / total

    def _groups(self, x: Tensor) -> Tensor:
        """[..., position, channel] as [..., group, position in it, channel]."""
        return F.pad(x, (0, 0, 0, -self.n % self.group)).unflatten(-2, (-1, self.group))

    def _from_groups(self, x: Tensor) -> Tensor:
        return x.flatten(-3, -2)[..., : self.n, :]

    def _neighbours(self, x: Tensor) -> Tensor:
        """Of each group the `stride` positions before it, and its own: [..., group, channel, position]."""
        padded = F.pad(x, (0, 0, self.stride, -self.n % self.group))
        return padded.unfold(-2, self.stride + self.group, self.group)

    def _classes(self, x: Tensor) -> Tensor:
        """[..., position, channel] as [..., class, position in it, channel]: a class's are a stride apart."""
        padded = F.pad(x, (0, 0, 0, -self.n % self.stride))
        return padded.unflatten(-2, (-1, self.stride)).transpose(-3, -2)

    def _from_classes(self, x: Tensor) -> Tensor:
        return x.transpose(-3, -2).flatten(-3, -2)[..., : self.n, :]


GROUP = 128
"""Queries of a group: enough for PyTorch's kernel to be at its best, and few against the texts it is for."""
LEAST = 1_024
"""Tokens from which blocks pay; `python -m benchmarks.sparse_training` measures it."""
MOST = 0.4
"""The largest share of all pairs that blocks may compute; above it, one call over all of them is as fast."""

Bias = Callable[[Tensor, Tensor], Tensor | None]


class Group(NamedTuple):
    """Queries side by side, the keys that they see between them, and which query sees which key."""

    queries: slice
    keys: slice | Tensor
    mask: Bool[Tensor, "1 1 query key"]


class Blocks(NamedTuple):
    """A causal mask over n tokens by its groups.

    share: how much of all n x n pairs is computed. by_distance: each group's keys are neighbours that end
    with its last query, so that a bias by distance can be computed for the group alone.
    """

    groups: tuple[Group, ...]
    share: float
    by_distance: bool

    def attend(
        self, q: Heads, k: Heads, v: Values, *, scale: float, dropout: float = 0.0, bias: Bias | None = None
    ) -> Values:
        """What softmax(scale * q . k + bias) of the open pairs takes from v; bias: of queries and keys."""
        parts = []
        for queries, keys, open_ in self.groups:
            group, keys_seen = q[:, :, queries], k[:, :, keys]
            added = None if bias is None else bias(group, keys_seen)
            mask = open_ if added is None else added.masked_fill(~open_, -torch.inf)
            parts.append(fused(group, keys_seen, v[:, :, keys], attn_mask=mask, dropout=dropout, scale=scale))
        return torch.cat(parts, dim=2)


Sparse = Blocks | Strides
"""Sparse attention that saves arithmetic."""


@lru_cache(maxsize=4)
def blocks(name: str, argument: str, n: int) -> Blocks:
    """The mask `masks.named(name, argument, n)`, causal as well, by groups. Raises ValueError as it does."""
    allowed = in_parts(name, argument, n)
    groups, n_pairs, by_distance = [], 0, True
    for first in range(0, n, GROUP):
        rows = slice(first, min(first + GROUP, n))
        part = allowed(rows, slice(0, rows.stop))[0].tril(first)
        columns = part.any(dim=0).nonzero().flatten()
        side_by_side = len(columns) > 0 and int(columns[-1] - columns[0]) + 1 == len(columns)
        keys = slice(int(columns[0]), int(columns[-1]) + 1) if side_by_side else columns
        groups.append(Group(rows, keys, part[None, None, :, keys].clone()))
        n_pairs += part.shape[0] * len(columns)
        by_distance &= isinstance(keys, slice) and keys.stop == rows.stop
    return Blocks(tuple(groups), n_pairs / n**2, by_distance)


def sparse_if_faster(
    name: str, argument: str, n: int, *, by_distance: bool, device: torch.device
) -> Sparse | None:
    """The mask by groups where that is faster than one call over all pairs, as measured on CPUs, else None.

    by_distance: whether positions add to the scores, which groups with gaps cannot have.
    """
    if n < LEAST or name == "none" or device.type != "cpu" or torch.compiler.is_compiling():
        return None
    sparse: Sparse
    if kind_of(name) == "strided":
        sparse = Strides(n, int(argument_of(name, argument, n)), GROUP)
    else:
        sparse = blocks(name, argument, n)
    return sparse if sparse.share <= MOST and (sparse.by_distance or not by_distance) else None
