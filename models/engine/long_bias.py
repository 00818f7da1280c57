"""What positions add to the scores of a long text, for a few queries and keys at a time.

A number that depends on the distance alone stands in one vector for all distances; a part of the pattern is a
view of it whose rows begin one number further left each, so that adding it costs one pass over the part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

ROWS = 128
"""Queries whose answers to all distances are in memory at once."""


@runtime_checkable
class Added(Protocol):
    """Something that is added to scores, of all heads of an attention. n_bytes: what is kept for it."""

    @property
    def n_bytes(self) -> int: ...

    def add(self, scores: Tensor, head: int, rows: slice, keys: slice) -> None:
        """Adds, in place, to the scores [row, key] of some queries and keys of a head."""


@dataclass(frozen=True)
class ByDistance:
    """One number for each head and each of key - query, rising: from 1 - n_query to n_key - 1."""

    values: Float[Tensor, "head distance"]
    n_query: int

    @property
    def n_bytes(self) -> int:
        return self.values.numel() * self.values.element_size()

    def add(self, scores: Tensor, head: int, rows: slice, keys: slice) -> None:
        values = self.values[head].numpy()
        first = values[keys.start - rows.start + self.n_query - 1 :]  # PyTorch has no negative strides
        step = values.strides[0]
        view = np.lib.stride_tricks.as_strided(first, tuple(scores.shape), (-step, step), writeable=False)
        array = scores.numpy()
        np.add(array, view, out=array)


@dataclass(frozen=True)
class AskedDistance:
    """Transformer-XL's terms: what each query makes of a distance, and how much a key matters to everybody.

    q: the attention's own; v: [head, 1, channel], what is added to each; answers: [head, distance, channel],
    where distances are as in `ByDistance`, or only those of earlier keys; of_key: [head, key], u . k times
    the scale.
    """

    q: Float[Tensor, "head query channel"]
    v: Float[Tensor, "head 1 channel"]
    scale: float
    answers: Float[Tensor, "head distance channel"]
    of_key: Float[Tensor, "head key"]

    @property
    def n_bytes(self) -> int:
        return sum(t.numel() * t.element_size() for t in (self.answers, self.of_key))

    def add(self, scores: Tensor, head: int, rows: slice, keys: slice) -> None:
        n_query, n_keys = self.q.shape[1], keys.stop - keys.start
        scores += self.of_key[head, keys]
        for start in range(rows.start, rows.stop, ROWS):
            stop = min(start + ROWS, rows.stop)
            n_rows, first = stop - start, keys.start - stop + n_query
            width = n_rows + n_keys - 1
            asks = self.scale * (self.q[head, start:stop] + self.v[head])
            found = asks @ self.answers[head, first : first + width].T
            if found.shape[1] < width:  # what is left are later keys, which nobody sees
                found = F.pad(found, (0, width - found.shape[1]))
            # Each row begins one distance before the row above it.
            shifted = found.as_strided((n_rows, n_keys), (width - 1, 1), n_rows - 1)
            scores[start - rows.start : stop - rows.start] += shifted


@dataclass(frozen=True)
class Computed:
    """What any scheme of a causal stack adds: computed for some queries and all keys up to the last of them.

    of: [head, query, key] of some queries; no query sees a later key.
    """

    of: Callable[[slice], Tensor]
    n_bytes: int = 0

    def add(self, scores: Tensor, head: int, rows: slice, keys: slice) -> None:
        found = self.of(rows)[head]
        scores[:, : max(0, found.shape[1] - keys.start)] += found[:, keys]


@dataclass(frozen=True)
class Whole:
    """Something of no known rule, held as a whole; where queries or heads are all alike, one of them."""

    values: Float[Tensor, "_ _ key"]

    @property
    def n_bytes(self) -> int:
        return self.values.numel() * self.values.element_size()

    def add(self, scores: Tensor, head: int, rows: slice, keys: slice) -> None:
        found = self.values[min(head, len(self.values) - 1)]
        scores += (found if len(found) == 1 else found[rows])[:, keys]


def distances(n_query: int, n_key: int) -> Tensor:
    """Every key - query, rising, as `ByDistance` holds them."""
    return torch.arange(1 - n_query, n_key)
