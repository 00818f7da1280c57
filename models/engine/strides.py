"""Strided sparse attention that computes little but the open pairs (Child et al. 2019, 4.3 and 5.5).

A query sees the `stride` tokens before it, and every `stride`-th token before them. The near ones stand side
by side. The far ones do so in another order, where those that are a stride apart stand together: each query
meets its own class alone. One softmax goes over both, by one largest score and one sum a row.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

Heads = Float[Tensor, "batch head position d_head"]


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
        v: Heads,
        *,
        scale: float,
        dropout: float = 0.0,
        bias: Callable[[Tensor, Tensor], Tensor | None] | None = None,
    ) -> Heads:
        """What softmax(scale * q . k) of the open pairs takes from v. Nothing may be added to the scores."""
        q = q * scale
        near = self._groups(q) @ self._neighbours(k)
        near.masked_fill_(~self._open_near(), -torch.inf)
        far = self._classes(q) @ self._classes(k).mT
        far.masked_fill_(~self._open_far(), -torch.inf)
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

    def _open_near(self) -> Tensor:
        """[group, query, key]: the `stride` tokens before, and the query's own, where there are any."""
        query, key = torch.arange(self.group)[:, None], torch.arange(self.stride + self.group)
        first = torch.arange(0, self.n, self.group)[:, None, None]
        return (key >= query) & (key <= query + self.stride) & (first + key >= self.stride)

    def _classes(self, x: Tensor) -> Tensor:
        """[..., position, channel] as [..., class, position in it, channel]: a class's are a stride apart."""
        padded = F.pad(x, (0, 0, 0, -self.n % self.stride))
        return padded.unflatten(-2, (-1, self.stride)).transpose(-3, -2)

    def _from_classes(self, x: Tensor) -> Tensor:
        return x.transpose(-3, -2).flatten(-3, -2)[..., : self.n, :]

    def _open_far(self) -> Tensor:
        """[query, key] of a class: all before but the last one, which is near."""
        n = -(-self.n // self.stride)
        return torch.ones(n, n, dtype=torch.bool).tril(-2)
