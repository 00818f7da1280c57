"""The base class and the registry of position schemes; each scheme is a file of `positions`."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Int, Real
from torch import Tensor, nn
from torch.nn import functional as F

from ..config import POSITION_SCHEMES, ModelConfig

# Position terms of long texts, for a few queries and keys at a time
# A number that depends on the distance alone stands in one vector for all distances; a part of the pattern is
# a view of it whose rows begin one number further left each, so that adding it costs one pass over the part.

ROWS = 128
"""Queries whose answers to all distances are in memory at once."""


@runtime_checkable
class ScoreTerm(Protocol):
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
        return self.values.nbytes

    def add(self, scores: Tensor, head: int, rows: slice, keys: slice) -> None:
        values = self.values[head].numpy()
        first = values[keys.start - rows.start + self.n_query - 1 :]  # PyTorch has no negative strides
        step = values.strides[0]
        view = np.lib.stride_tricks.as_strided(first, tuple(scores.shape), (-step, step), writeable=False)
        array = scores.numpy()
        np.add(array, view, out=array)


@dataclass(frozen=True)
class ByQueryAndDistance:
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
        return self.answers.nbytes + self.of_key.nbytes

    def add(self, scores: Tensor, head: int, rows: slice, keys: slice) -> None:
        n_query, n_keys = self.q.shape[1], keys.stop - keys.start
        scores += self.of_key[head, keys]
        for start in range(rows.start, rows.stop, ROWS):
            stop = min(start + ROWS, rows.stop)
            n_rows, first = stop - start, keys.start - stop + n_query
            width = n_rows + n_keys - 1
            asks = self.scale * (self.q[head, start:stop] + self.v[head])
            answers = asks @ self.answers[head, first : first + width].T
            if answers.shape[1] < width:  # what is left are later keys, which nobody sees
                answers = F.pad(answers, (0, width - answers.shape[1]))
            # Each row begins one distance before the row above it.
            shifted = answers.as_strided((n_rows, n_keys), (width - 1, 1), n_rows - 1)
            scores[start - rows.start : stop - rows.start] += shifted


@dataclass(frozen=True)
class ByRule:
    """What any scheme of a causal stack adds: computed for some queries and all keys up to the last of them.

    of: [head, query, key] of some queries; no query sees a later key.
    """

    of: Callable[[slice], Tensor]
    n_bytes: int = 0

    def add(self, scores: Tensor, head: int, rows: slice, keys: slice) -> None:
        values = self.of(rows)[head]
        scores[:, : max(0, values.shape[1] - keys.start)] += values[:, keys]


@dataclass(frozen=True)
class Whole:
    """Something of no known rule, held as a whole; where queries or heads are all alike, one of them."""

    values: Float[Tensor, "_ _ key"]

    @property
    def n_bytes(self) -> int:
        return self.values.nbytes

    def add(self, scores: Tensor, head: int, rows: slice, keys: slice) -> None:
        values = self.values[min(head, len(self.values) - 1)]
        scores += (values if len(values) == 1 else values[rows])[:, keys]


def key_minus_query(n_query: int, n_key: int) -> Tensor:
    """Every key - query, rising, as `ByDistance` holds them."""
    return torch.arange(1 - n_query, n_key)


Heads = Float[Tensor, "batch head position d_head"]
Queries = Float[Tensor, "batch head query d_head"]
Keys = Float[Tensor, "batch head key d_head"]
OneText = Float[Tensor, "head position d_head"]
Bias = Float[Tensor, "#batch head query key"]


class PositionScheme(nn.Module):
    """The base of every scheme, which does nothing at all. `causal`: the stack's queries see no later key.

    `pairs_channels`: it turns channels in pairs, so that d_head must be even. `keeps_bias`: its bias depends
    on the text, and training keeps it for the backward pass. `counted`: it has learnt something for each of
    its positions, so that a model reads no longer texts than it was made for.
    """

    pairs_channels: ClassVar[bool] = False
    keeps_bias: ClassVar[bool] = False
    counted: ClassVar[bool] = False

    def __init__(self, config: ModelConfig, *, causal: bool = False) -> None:
        super().__init__()

    @classmethod
    def n_parameters(cls, config: ModelConfig) -> int:
        """How many numbers training changes in one stack; by a formula where building it takes long."""
        with torch.random.fork_rng(devices=[]):
            return sum(parameter.numel() for parameter in cls(config).parameters())

    def forward(
        self, embeddings: Float[Tensor, "batch position d_model"], start: int = 0
    ) -> Float[Tensor, "batch position d_model"]:
        """Embeddings that know their positions; `start` is the first one's (above 0 under a cache)."""
        return embeddings

    def rotate(self, x: Heads, start: int = 0) -> Heads:
        """Queries or keys as they enter the dot product; the first is at position `start`."""
        return x

    def bias(self, q: Queries, k: Keys, *, layer: int, scale: float) -> Bias | None:
        """What is added to the dot products times `scale`; the last query stands at the last key."""
        return None

    def added(self, q: OneText, k: OneText, *, layer: int, scale: float, causal: bool) -> ScoreTerm | None:
        """`bias` over a long text, a part at a time. Raises ValueError for a scheme that cannot."""
        if type(self).bias is PositionScheme.bias:
            return None
        if not causal:
            raise ValueError(
                f"positions={type(self).__name__} cannot be split over an encoder's long text; "
                "take a decoder, or other positions"
            )

        def of(rows: slice) -> Tensor:
            bias = self.bias(q[None, :, rows], k[None, :, : rows.stop], layer=layer, scale=scale)
            assert bias is not None
            return bias[0]

        return ByRule(of)


class LayerPositions(NamedTuple):
    """A scheme as the self-attention of one layer uses it, on tokens from position `start` on."""

    scheme: PositionScheme
    layer: int
    start: int

    def rotate(self, x: Heads) -> Heads:
        """See `PositionScheme.rotate`."""
        return self.scheme.rotate(x, self.start)

    def from_start(self) -> "LayerPositions":
        """As it is used on all tokens that were read."""
        return self._replace(start=0)

    def bias(self, q: Queries, k: Keys, scale: float) -> Bias | None:
        """See `PositionScheme.bias`."""
        return self.scheme.bias(q, k, layer=self.layer, scale=scale)

    def added(self, q: OneText, k: OneText, scale: float, *, causal: bool) -> ScoreTerm | None:
        """See `PositionScheme.added`."""
        return self.scheme.added(q, k, layer=self.layer, scale=scale, causal=causal)


POSITIONS: dict[str, type[PositionScheme]] = {}
Scheme = TypeVar("Scheme", bound=type[PositionScheme])


def register(name: str) -> Callable[[Scheme], Scheme]:
    """Enters a scheme into `POSITIONS`, its name into what pages read before PyTorch is imported.

    A file of `models.engine.positions` is found by itself. A scheme from elsewhere is known to the processes
    that register it; the server offers it on every page if it does so before it serves, and a run needs it
    in its own process. Raises ValueError when the name is taken.
    """

    def enter(scheme: Scheme) -> Scheme:
        if name in POSITIONS:
            raise ValueError(f"positions={name!r} is registered already; choose a name of its own")
        POSITIONS[name] = scheme
        if name not in POSITION_SCHEMES:
            POSITION_SCHEMES.append(name)
        return scheme

    return enter


def has_bias(name: str) -> bool:
    """Whether a scheme adds something to the scores."""
    return POSITIONS[name].bias is not PositionScheme.bias


def turns(name: str) -> bool:
    """Whether a scheme turns queries and keys."""
    return POSITIONS[name].rotate is not PositionScheme.rotate


def distances(n_query: int, n_key: int, *, device: torch.device | None = None) -> Int[Tensor, " distance"]:
    """Every query position minus key position there is, rising: 1 - n_query to n_key - 1."""
    return torch.arange(1 - n_query, n_key, device=device)


def by_query_and_key(
    per_distance: Float[Tensor, "*batch n_query distance"], n_key: int
) -> Float[Tensor, "*batch n_query n_key"]:
    """From one number for each of `distances`, in each query's row, to one for each key."""
    n_query = per_distance.shape[-2]
    query = torch.arange(n_key - n_query, n_key, device=per_distance.device)[:, None]
    key = torch.arange(n_key, device=per_distance.device)
    index = query - key + n_query - 1  # [query, key]: where `distances` holds query - key
    return per_distance.gather(-1, index.expand(*per_distance.shape[:-1], n_key))


# Sinusoids, which schemes add, turn by, or read as distances

WITHOUT_FLOAT64 = ("mps",)
"""The devices that compute no float64; the CPU does it for them."""


def angles(
    positions: Real[Tensor, " position"], n_channels: int, base: int | float
) -> Float[Tensor, "position pair"]:
    """position / base^(2i / n_channels) in radians for channel pair i, float64 (Vaswani et al. 2017, 3.5)."""
    positions = positions.cpu() if positions.device.type in WITHOUT_FLOAT64 else positions
    even_channel = torch.arange(0, n_channels, 2, dtype=torch.float64, device=positions.device)
    return positions.double()[:, None] * torch.exp(-math.log(base) * even_channel / n_channels)


def waves(
    positions: Real[Tensor, " position"], d_model: int, base: int | float = 10_000.0
) -> Float[Tensor, "position d_model"]:
    """`sinusoids` at any positions, whole or not, below 0 too."""
    angle = angles(positions, d_model, base)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :d_model]
