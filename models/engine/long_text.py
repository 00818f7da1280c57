"""Attention of long texts, exact and in blocks: no whole pattern is ever in memory.

A text of n tokens has patterns of n x n cells a head, 4 GB at 32,768. Kept are q and k, n x d_head each; what
is looked at is computed from them: a picture of the whole in at most `size` x `size` cells, a window at any
magnification, one row, one column, the brightest pairs. The softmax of a row needs its largest score and the
sum of its exponentials, two numbers a row, which the picture of the whole finds on its way (as FlashAttention
does; Dao et al. 2022, section 3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from ..config import ModelConfig
from . import masks
from .differential import fused
from .masks import Allowed
from .position_scheme import ScoreTerm
from .trace import Trace

# Pictures of a pattern: each cell is the largest or the mean weight of many pairs

Measure = Literal["largest", "mean"]


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


def pooled(weights: Tensor, tall: int, wide: int, measure: Measure) -> Tensor:
    """The largest or the mean weight of cells of `tall` rows and `wide` columns; the last may be smaller."""
    return along(along(weights, wide, measure).T, tall, measure).T


def along(values: Tensor, step: int, measure: Measure) -> Tensor:
    """The largest or the mean of each `step` columns."""
    if step == 1:
        return values
    whole = values.shape[1] // step * step
    parts = [values[:, :whole].unflatten(1, (-1, step))] if whole else []
    if whole < values.shape[1]:
        parts.append(values[:, None, whole:])
    return torch.cat([part.amax(2) if measure == "largest" else part.mean(2) for part in parts], dim=1)


CELLS = 1 << 22
"""Cells of a pattern that are in memory at once: 16 MB."""
SIZE = 512
PAIRS = 40
Progress = Callable[[float], None]
"""Hears which share of the work is done; it may raise, which ends the work."""


class Rows(NamedTuple):
    """What the softmax of rows needs of all their keys: the largest score, and the sum of exp(score - it)."""

    peak: Float[Tensor, " row"]
    total: Float[Tensor, " row"]

    def of(self, rows: slice) -> Rows:
        return Rows(self.peak[rows], self.total[rows])


@dataclass
class LongHeads:
    """All heads of one attention over a long text, as far as its patterns need it.

    q: [head, query, d_head]; k: [key head, key, d_head]. added: what positions add to the scaled products.
    cap: scores are cap * tanh((scaled + added) / cap). allowed: who may attend to whom, beside `causal`.
    sinks: a score for each head that belongs to no key, but takes its part of every row's softmax.
    """

    q: Float[Tensor, "head query d_head"]
    k: Float[Tensor, "key_head key d_head"]
    scale: float
    causal: bool
    cap: float | None = None
    allowed: Allowed | None = None
    added: ScoreTerm | None = None
    sinks: Float[Tensor, " head"] | None = None
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
        return self.q.nbytes + self.k.nbytes + (0 if self.added is None else self.added.n_bytes)

    def scores(self, head: int, rows: slice, keys: slice) -> Float[Tensor, "row key"]:
        """The scores of some queries and keys; -inf where masked."""
        k = self.k[head * len(self.k) // len(self.q), keys]
        scores = (self.q[head, rows] * self.scale) @ k.T
        if self.added is not None:
            self.added.add(scores, head, rows, keys)
        if self.cap is not None:
            scores = self.cap * torch.tanh(scores / self.cap)
        if self.allowed is not None:
            scores.masked_fill_(~_of_head(self.allowed(rows, keys), head), -torch.inf)
        if self.causal and keys.stop > rows.start + 1:
            # Only keys from the first of these queries on can be later than one of them.
            first = max(keys.start, rows.start)
            later = torch.arange(first, keys.stop) > torch.arange(rows.start, rows.stop)[:, None]
            scores[:, first - keys.start :].masked_fill_(later, -torch.inf)
        return scores

    def _exponentials(self, head: int, scores: Tensor) -> Rows:
        """Puts exp(score - the row's largest) in the place of scores; where all are masked, 0."""
        peak = scores.amax(-1).clamp(min=torch.finfo(scores.dtype).min)
        if self.sinks is not None:
            peak = peak.clamp(min=float(self.sinks[head]))
        total = scores.sub_(peak[:, None]).exp_().sum(-1)
        if self.sinks is not None:
            total += (self.sinks[head] - peak).exp()
        return Rows(peak, total.clamp(min=torch.finfo(scores.dtype).tiny))

    def weights(self, head: int, rows: slice, keys: slice) -> Float[Tensor, "row key"]:
        """The exact weights of some queries and keys; 0 in a row with all masked."""
        peak, total = self._of_rows(head, rows)
        return self.scores(head, rows, keys).sub_(peak[:, None]).exp_().div_(total[:, None])

    def _of_rows(self, head: int, rows: slice) -> Rows:
        """What the softmax of some rows needs, from all their keys where it is not known yet."""
        if head in self._softmax:
            return self._softmax[head].of(rows)
        blocks = (self.scores(head, part, self._seen(part)) for part in self._blocks(rows, 1))
        return _joined([self._exponentials(head, scores) for scores in blocks])

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
        progress: Progress = lambda share: None,
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
            known.append(self._exponentials(head, weights))
            weights[:, :without] = 0
            cells = along(weights, wide, measure) / known[-1].total[:, None]  # fewer to divide than before
            cells = along(cells.T, tall, measure).T
            rows_of_cells.append(F.pad(cells, (0, n_columns - cells.shape[1])))
            progress(rows.stop / self.n_queries)
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
        blocks = []
        for block in self._blocks(rows, tall):
            weights = self.weights(head, block, keys)
            weights[:, : max(0, without - keys.start)] = 0
            blocks.append(pooled(weights, tall, wide, measure))
        return Picture(torch.cat(blocks), rows.start, keys.start, tall, wide)

    @torch.no_grad()
    def row(self, head: int, query: int) -> Float[Tensor, " key"]:
        """The weights of one query on all keys."""
        return self.weights(head, slice(query, query + 1), slice(0, self.n_keys))[0]

    @torch.no_grad()
    def column(self, head: int, key: int) -> Float[Tensor, " query"]:
        """The weights of all queries on one key."""
        return self.weights(head, slice(0, self.n_queries), slice(key, key + 1))[:, 0]

    @torch.no_grad()
    def lone(self, head: int) -> Bool[Tensor, " query"]:
        """The queries that may attend to one key alone: whatever the text, its weight is 1."""
        if self.sinks is not None:
            return torch.zeros(self.n_queries, dtype=torch.bool)
        _, total = self._of_rows(head, slice(0, self.n_queries))
        lone = total == 1  # of one key, or of one beside which all others are next to nothing
        if self.allowed is None:
            lone[1 if self.causal else 0 :] &= self.n_keys == 1
            return lone
        for query in lone.nonzero().flatten().tolist():
            row = slice(query, query + 1)
            lone[query] = int(_of_head(self.allowed(row, self._seen(row)), head).sum()) == 1
        return lone

    @torch.no_grad()
    def brightest(self, head: int, whole: Picture, count: int = PAIRS, *, without: int = 0) -> list[Pair]:
        """The pairs with the largest weights, from the brightest cells of `whole`, a picture of the largest.

        They are exact: a pair outside of the `count` brightest cells is below the largest of each of these.
        Queries that are `lone` say nothing, and are left out.
        """
        lone = self.lone(head)
        cells = self._without_lone(head, whole, lone, without)
        pairs: list[Pair] = []
        for cell in cells.flatten().topk(min(count, cells.numel())).indices.tolist():
            row, column = divmod(cell, cells.shape[1])
            q0, k0 = row * whole.tall, column * whole.wide
            rows = slice(q0, min(self.n_queries, q0 + whole.tall))
            keys = slice(k0, min(self.n_keys, k0 + whole.wide))
            weights = self._shown(head, rows, keys, without, lone)
            top = weights.flatten().topk(min(count, weights.numel()))
            for weight, at in zip(top.values.tolist(), top.indices.tolist(), strict=True):
                query, key = divmod(at, weights.shape[1])
                pairs.append(Pair(q0 + query, k0 + key, weight))
        return sorted((pair for pair in pairs if pair.weight > 0), key=lambda pair: -pair.weight)[:count]

    def _without_lone(self, head: int, whole: Picture, lone: Tensor, without: int) -> Tensor:
        """The cells of a picture of the largest as they are without some queries."""
        cells = whole.cells.clone()
        for row in (lone.nonzero().flatten() // whole.tall).unique().tolist():
            rows = slice(row * whole.tall, min(self.n_queries, (row + 1) * whole.tall))
            weights = self._shown(head, rows, slice(0, self.n_keys), without, lone)
            cells[row] = pooled(weights, whole.tall, whole.wide, "largest")[0]
        return cells

    def _shown(self, head: int, rows: slice, keys: slice, without: int, lone: Tensor) -> Tensor:
        """Weights, 0 for the first keys and for lone queries."""
        weights = self.weights(head, rows, keys)
        weights[:, : max(0, without - keys.start)] = 0
        weights[lone[rows]] = 0
        return weights

    def attend(self, v: Float[Tensor, "key_head key d_value"], progress: Progress) -> Tensor:
        """z [head, query, d_value]: by PyTorch's own kernel where it knows this attention, else in blocks."""
        if self.cap is not None or self.added is not None or self.sinks is not None:
            return self._attend_in_blocks(v, progress)
        if self.allowed is None:
            return self._kernel(v, slice(0, self.n_queries), slice(0, self.n_keys), None)
        parts = []
        for rows in self._blocks(slice(0, self.n_queries), 1):
            keys = self._seen(rows)
            open_ = self.allowed(rows, keys)
            if self.causal:
                later = torch.arange(keys.stop) > torch.arange(rows.start, rows.stop)[:, None]
                open_ = open_ & ~later
            parts.append(self._kernel(v, rows, keys, open_).nan_to_num_(0.0))
            progress(rows.stop / self.n_queries)
        return torch.cat(parts, dim=1)

    def _kernel(self, v: Tensor, rows: slice, keys: slice, open_: Tensor | None) -> Tensor:
        z = fused(
            self.q[None, :, rows], self.k[None, :, keys], v[None, :, keys],
            attn_mask=None if open_ is None else open_[None], is_causal=self.causal and open_ is None,
            scale=self.scale, enable_gqa=len(self.k) < len(self.q),
        )  # fmt: skip
        return z[0]

    def _attend_in_blocks(self, v: Tensor, progress: Progress) -> Tensor:
        shared = len(self.q) // len(self.k)
        heads = []
        for head in range(len(self.q)):
            parts = []
            for rows in self._blocks(slice(0, self.n_queries), 1):
                keys = self._seen(rows)
                weights = self.scores(head, rows, keys)
                total = self._exponentials(head, weights).total
                parts.append(weights @ v[head // shared, keys] / total[:, None])
                progress((head + rows.stop / self.n_queries) / len(self.q))
            heads.append(torch.cat(parts))
        return torch.stack(heads)


def _of_head(allowed: Tensor, head: int) -> Tensor:
    return allowed[min(head, len(allowed) - 1)]


def _joined(parts: list[Rows]) -> Rows:
    return Rows(*(torch.cat(each) for each in zip(*parts, strict=True)))


# The trace of a long text, which keeps queries and keys alone


class LongTrace(Trace):
    """A pass over a long text: of each attention it keeps q and k, under an address like "decoder.0.self".

    wanted: whether those of an address are kept. told: hears after each attention how many there were.
    """

    def __init__(
        self,
        wants: Callable[[str], bool] = lambda address: True,
        progress: Callable[[int], None] = lambda n: None,
    ) -> None:
        super().__init__()
        self.heads: dict[str, LongHeads] = {}
        self.n_attended = 0
        self._wanted, self._told = wants, progress

    def record(self, address: str, tensor: Tensor) -> Tensor:
        """Keeps nothing of what a short text's trace would hold."""
        return tensor

    def attend(self, address: str, heads: LongHeads, v: Tensor) -> Tensor:
        """z of an attention, whose q and k are kept if they are wanted."""
        z = heads.attend(v, lambda share: self._told(self.n_attended))
        if self._wanted(address):
            self.heads[address] = heads
        self.n_attended += 1
        self._told(self.n_attended)
        return z


def mask_in_parts(config: ModelConfig, n: int, *more: Tensor | None) -> masks.Allowed | None:
    """A model's own mask over n tokens and those that were given, [1, _, query or 1, key], in parts."""
    own = None if config.mask == "none" else masks.in_parts(config.mask, config.mask_argument, n)
    return masks.both(own, *(masks.of_tensor(mask[0]) for mask in more if mask is not None))
