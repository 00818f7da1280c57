"""Attention of long texts, exact and in blocks: no whole pattern is ever in memory.

A text of n tokens has patterns of n x n cells a head, 4 GB at 32,768. Kept are q and k, n x d_head each; what
is looked at is computed from them: a picture of the whole in at most `size` x `size` cells, a window at any
magnification, one row, one column, the brightest pairs. The softmax of a row needs its largest score and
the sum of its exponentials, two numbers a row, which the picture of the whole finds on its way (as
FlashAttention does; Dao et al. 2022, section 3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

CELLS = 1 << 22
"""Cells of a pattern that are in memory at once: 16 MB."""
SIZE = 512
PAIRS = 40
Measure = Literal["largest", "mean"]
Told = Callable[[float], None]
"""Hears which share of the work is done; it may raise, which ends the work."""


def _quiet(share: float) -> None:
    """Hears nothing."""


class Pair(NamedTuple):
    """A query and a key, by their positions, and the weight between them."""

    query: int
    key: int
    weight: float


class Picture(NamedTuple):
    """A part of a pattern in cells of `tall` queries and `wide` keys, from query `q0` and key `k0` on.

    cells: [row, column]; the last row and column may hold fewer.
    """

    cells: Float[Tensor, "row column"]
    q0: int
    k0: int
    tall: int
    wide: int


class Rows(NamedTuple):
    """What the softmax of rows needs of all their keys: the largest score, and the sum of exp(score - it)."""

    peak: Float[Tensor, " row"]
    total: Float[Tensor, " row"]

    def of(self, rows: slice) -> Rows:
        return Rows(self.peak[rows], self.total[rows])


@dataclass
class LongHeads:
    """All heads of one attention over a long text, as far as its patterns need it.

    q: [head, query, d_head]; k: [key head, key, d_head]. cap: scores are cap * tanh(scaled / cap). mask:
    [head or 1, query or 1, key], True where a query may attend. bias: what positions add to the scores
    of some queries, [head, query, key up to the last of them]; only where no query sees a later key.
    """

    q: Float[Tensor, "head query d_head"]
    k: Float[Tensor, "key_head key d_head"]
    scale: float
    causal: bool
    cap: float | None = None
    mask: Bool[Tensor, "_ _ key"] | None = None
    bias: Callable[[slice], Tensor] | None = None
    _softmax: dict[int, Rows] = field(default_factory=dict)

    @property
    def n_queries(self) -> int:
        return self.q.shape[1]

    @property
    def n_keys(self) -> int:
        return self.k.shape[1]

    @property
    def n_bytes(self) -> int:
        """What is kept."""
        return sum(t.numel() * t.element_size() for t in (self.q, self.k))

    def scores(self, head: int, rows: slice, keys: slice) -> Float[Tensor, "row key"]:
        """The scores of some queries and keys; -inf where masked."""
        k = self.k[head * len(self.k) // len(self.q), keys]
        scores = (self.q[head, rows] * self.scale) @ k.T
        if self.cap is not None:
            scores = self.cap * torch.tanh(scores / self.cap)
        if self.bias is not None:
            bias = self.bias(rows)[head]
            scores[:, : max(0, bias.shape[1] - keys.start)] += bias[:, keys]
        if self.mask is not None:
            mask = self.mask[min(head, len(self.mask) - 1)]
            scores.masked_fill_(~(mask if len(mask) == 1 else mask[rows])[:, keys], -torch.inf)
        if self.causal and keys.stop > rows.start + 1:
            # Only keys from the first of these queries on can be later than one of them.
            first = max(keys.start, rows.start)
            later = torch.arange(first, keys.stop) > torch.arange(rows.start, rows.stop)[:, None]
            scores[:, first - keys.start :].masked_fill_(later, -torch.inf)
        return scores

    def weights(self, head: int, rows: slice, keys: slice) -> Float[Tensor, "row key"]:
        """The exact weights of some queries and keys; 0 in a row with all masked."""
        peak, total = self._of_rows(head, rows)
        return self.scores(head, rows, keys).sub_(peak[:, None]).exp_().div_(total[:, None])

    def _of_rows(self, head: int, rows: slice) -> Rows:
        """What the softmax of some rows needs, from all their keys where it is not known yet."""
        if head in self._softmax:
            return self._softmax[head].of(rows)
        blocks = (self.scores(head, part, self._seen(part)) for part in self._blocks(rows, 1))
        return _joined([_exponentials(scores) for scores in blocks])

    def _seen(self, rows: slice) -> slice:
        """The keys that some of these queries may attend to."""
        return slice(0, min(self.n_keys, rows.stop) if self.causal else self.n_keys)

    def _blocks(self, rows: slice, step: int) -> Iterator[slice]:
        """Rows in blocks of at most `CELLS` cells, each a multiple of `step` rows."""
        size = max(1, CELLS // self.n_keys // step) * step
        for start in range(rows.start, rows.stop, size):
            yield slice(start, min(rows.stop, start + size))

    @torch.no_grad()
    def whole(
        self,
        head: int,
        *,
        size: int = SIZE,
        measure: Measure = "largest",
        without: int = 0,
        told: Told = _quiet,
    ) -> Picture:
        """The whole pattern of a head in at most `size` x `size` cells: each one's largest or mean weight.

        without: so many first keys are left out, since they may drown the rest; the others stay as they are.
        """
        tall, wide = -(-self.n_queries // size), -(-self.n_keys // size)
        n_columns = -(-self.n_keys // wide)
        rows_of_cells, known = [], []
        for rows in self._blocks(slice(0, self.n_queries), tall):
            keys = self._seen(rows)
            weights = self.scores(head, rows, keys)
            known.append(_exponentials(weights))
            weights[:, :without] = 0
            cells = _along(weights, wide, measure) / known[-1].total[:, None]  # fewer to divide than before
            cells = _along(cells.T, tall, measure).T
            rows_of_cells.append(F.pad(cells, (0, n_columns - cells.shape[1])))
            told(rows.stop / self.n_queries)
        self._softmax[head] = _joined(known)
        return Picture(torch.cat(rows_of_cells), 0, 0, tall, wide)

    @torch.no_grad()
    def window(
        self,
        head: int,
        rows: slice,
        keys: slice,
        *,
        size: int = SIZE,
        measure: Measure = "largest",
        without: int = 0,
    ) -> Picture:
        """A part of the pattern in at most `size` x `size` cells; one cell a pair, where there are so few."""
        tall, wide = (-(-(part.stop - part.start) // size) for part in (rows, keys))
        found = []
        for block in self._blocks(rows, tall):
            weights = self.weights(head, block, keys)
            weights[:, : max(0, without - keys.start)] = 0
            found.append(_pooled(weights, tall, wide, measure))
        return Picture(torch.cat(found), rows.start, keys.start, tall, wide)

    @torch.no_grad()
    def row(self, head: int, query: int) -> Float[Tensor, " key"]:
        """The weights of one query on all keys."""
        return self.weights(head, slice(query, query + 1), slice(0, self.n_keys))[0]

    @torch.no_grad()
    def column(self, head: int, key: int) -> Float[Tensor, " query"]:
        """The weights of all queries on one key."""
        return self.weights(head, slice(0, self.n_queries), slice(key, key + 1))[:, 0]

    @torch.no_grad()
    def brightest(self, head: int, whole: Picture, count: int = PAIRS, *, without: int = 0) -> list[Pair]:
        """The pairs with the largest weights, from the brightest cells of `whole`, a picture of the largest.

        They are exact: a pair outside of the `count` brightest cells is below the largest of each of these.
        """
        flat = whole.cells.flatten()
        cells = flat.topk(min(count, len(flat))).indices.tolist()
        found: list[Pair] = []
        for cell in cells:
            row, column = divmod(cell, whole.cells.shape[1])
            q0, k0 = row * whole.tall, column * whole.wide
            rows = slice(q0, min(self.n_queries, q0 + whole.tall))
            keys = slice(k0, min(self.n_keys, k0 + whole.wide))
            weights = self.weights(head, rows, keys)
            weights[:, : max(0, without - k0)] = 0
            top = weights.flatten().topk(min(count, weights.numel()))
            for weight, at in zip(top.values.tolist(), top.indices.tolist(), strict=True):
                query, key = divmod(at, weights.shape[1])
                found.append(Pair(q0 + query, k0 + key, weight))
        return sorted(found, key=lambda pair: -pair.weight)[:count]

    def attend(self, v: Float[Tensor, "key_head key d_value"], told: Told) -> Tensor:
        """z [head, query, d_value]: by PyTorch's own kernel where it knows this attention, else in blocks."""
        if self.cap is None and self.bias is None:
            mask = None if self.mask is None else self.mask[None]
            causal = self.causal and mask is None
            if self.causal and mask is not None:
                mask = mask & torch.ones(self.n_queries, self.n_keys, dtype=torch.bool).tril()
            z = F.scaled_dot_product_attention(
                self.q[None], self.k[None], v[None], attn_mask=mask, is_causal=causal, scale=self.scale,
                enable_gqa=len(self.k) < len(self.q),
            )  # fmt: skip
            return z[0].nan_to_num(0.0) if mask is not None else z[0]
        shared = len(self.q) // len(self.k)
        heads = []
        for head in range(len(self.q)):
            parts = []
            for rows in self._blocks(slice(0, self.n_queries), 1):
                keys = self._seen(rows)
                parts.append(
                    self.scores(head, rows, keys).softmax(-1).nan_to_num_(0.0) @ v[head // shared, keys]
                )
                told((head + rows.stop / self.n_queries) / len(self.q))
            heads.append(torch.cat(parts))
        return torch.stack(heads)


def _exponentials(scores: Tensor) -> Rows:
    """Puts exp(score - the row's largest) in the place of scores; where all are masked, 0."""
    peak = scores.amax(-1).clamp(min=torch.finfo(scores.dtype).min)
    total = scores.sub_(peak[:, None]).exp_().sum(-1)
    return Rows(peak, total.clamp(min=torch.finfo(scores.dtype).tiny))


def _joined(parts: list[Rows]) -> Rows:
    return Rows(*(torch.cat(each) for each in zip(*parts, strict=True)))


def _pooled(weights: Tensor, tall: int, wide: int, measure: Measure) -> Tensor:
    """The largest or the mean weight of cells of `tall` rows and `wide` columns; the last may be smaller."""
    return _along(_along(weights, wide, measure).T, tall, measure).T


def _along(values: Tensor, step: int, measure: Measure) -> Tensor:
    """The largest or the mean of each `step` columns."""
    if step == 1:
        return values
    whole = values.shape[1] // step * step
    parts = [values[:, :whole].unflatten(1, (-1, step))] if whole else []
    if whole < values.shape[1]:
        parts.append(values[:, None, whole:])
    return torch.cat([part.amax(2) if measure == "largest" else part.mean(2) for part in parts], dim=1)
