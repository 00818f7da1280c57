"""What every position scheme can do, and the registry of them."""

from collections.abc import Callable
from typing import ClassVar, NamedTuple, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from models.config import POSITION_SCHEMES, ModelConfig
from models.engine.long_bias import Added, Computed

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

    def added(self, q: OneText, k: OneText, *, layer: int, scale: float, causal: bool) -> Added | None:
        """`bias` over a long text, a part at a time. Raises ValueError for a scheme that cannot."""
        if type(self).bias is PositionScheme.bias:
            return None
        if not causal:
            raise ValueError(
                f"positions of {type(self).__name__} add to the scores of an encoder what long texts cannot "
                "take in parts; take a decoder, or other positions"
            )

        def of(rows: slice) -> Tensor:
            found = self.bias(q[None, :, rows], k[None, :, : rows.stop], layer=layer, scale=scale)
            assert found is not None
            return found[0]

        return Computed(of)


class LayerPositions(NamedTuple):
    """A scheme as the self-attention of one layer uses it, on tokens from position `start` on."""

    scheme: PositionScheme
    layer: int
    start: int

    def rotate(self, x: Heads, *, before: int = 0) -> Heads:
        """See `PositionScheme.rotate`; the first of x stands so many positions before `start`."""
        return self.scheme.rotate(x, self.start - before)

    def bias(self, q: Queries, k: Keys, scale: float) -> Bias | None:
        """See `PositionScheme.bias`."""
        return self.scheme.bias(q, k, layer=self.layer, scale=scale)

    def added(self, q: OneText, k: OneText, scale: float, *, causal: bool) -> Added | None:
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
