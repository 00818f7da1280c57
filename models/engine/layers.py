"""The parts between embedding and logits: feed-forward network, layer, stack."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from models.config import ModelConfig
from models.engine.attention import DecoderCache, KeyValueCache, MultiHeadAttention
from models.engine.masks import Allowed
from models.engine.positions import POSITIONS, LayerPositions
from models.engine.sparse import Sparse
from models.engine.trace import Scope, record, within

# A text read segment by segment, as Transformer-XL reads it (Dai et al. 2019, 3.2).

Stream = Float[Tensor, "batch position d_model"]


class SegmentMemory:
    """What a decoder keeps of the segments before: each layer's inputs, at the last `length` positions.

    They are kept without their past: no gradient flows into them (the paper's SG). Keys and values are
    computed from them again with each segment, so that the maps that make keys and values learn from them.
    Raises ValueError for a negative length.
    """

    def __init__(self, n_layers: int, length: int) -> None:
        if length < 0:
            raise ValueError(f"length={length} positions cannot be kept; give 0, for none, or more")
        self.length = length
        self.n_read = 0
        self.tokens: Tensor | None = None
        self._layers: list[Tensor | None] = [None] * n_layers

    def read(self, tokens: Int[Tensor, "batch new"]) -> Int[Tensor, "batch key"]:
        """Notes a segment's tokens; returns all that its queries may see."""
        seen = tokens if self.tokens is None else torch.cat([self.tokens, tokens], dim=1)
        self.tokens, self.n_read = self._last(seen), self.n_read + tokens.shape[1]
        return seen

    def before(self, layer: int, x: Stream) -> Float[Tensor, "batch earlier d_model"] | None:
        """What the layer kept of the segments before x, its input; x is kept for the segment after."""
        kept = self._layers[layer]
        seen = x.detach() if kept is None else torch.cat([kept, x.detach()], dim=1)
        self._layers[layer] = self._last(seen)
        return None if kept is None or not kept.shape[1] else kept

    def _last(self, seen: Tensor) -> Tensor:
        return seen[:, max(seen.shape[1] - self.length, 0) :]


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
}

Mask = Bool[Tensor, "#batch _ #position _"] | Allowed


class FeedForward(nn.Module):
    """Two linear maps with an activation between them, position by position (Vaswani et al. 2017, 3.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.linear_in = nn.Linear(config.d_model, config.ff_size, bias=config.bias)
        self.linear_out = nn.Linear(config.ff_size, config.d_model, bias=config.bias)
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Stream, *, trace: Scope | None = None) -> Stream:
        """d_model -> d_ff -> d_model."""
        pre = record(trace, "pre", self.linear_in(x))
        post = record(trace, "post", self.activation(pre))
        return record(trace, "out", self.linear_out(self.dropout(post)))


class Layer(nn.Module):
    """Self-attention, with `cross` also attention to the encoder's memory, then the feed-forward network.

    Each adds to the residual stream: x + f(norm(x)) with pre-norm (Xiong et al. 2020), norm(x + f(x)) with
    post-norm (Vaswani et al. 2017, 3.1), x + f(x) without norm; without `residual`, each "x +" is left out.
    """

    def __init__(self, config: ModelConfig, *, cross: bool = False) -> None:
        super().__init__()
        self.pre_norm = config.norm == "pre"
        self.residual = config.residual
        self.self_attention = MultiHeadAttention(config)
        self.self_norm = layer_norm(config)
        self.cross_attention = MultiHeadAttention(config) if cross else None
        self.cross_norm = layer_norm(config) if cross else None
        self.feed_forward = FeedForward(config) if config.feed_forward else None
        self.ff_norm = layer_norm(config) if config.feed_forward else None
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Stream,
        mask: Mask | Sparse | None = None,
        memory: Float[Tensor, "batch source d_model"] | None = None,
        memory_mask: Mask | None = None,
        *,
        causal: bool = False,
        positions: LayerPositions | None = None,
        trace: Scope | None = None,
        caches: tuple[KeyValueCache | None, KeyValueCache | None] = (None, None),
        before: Float[Tensor, "batch before d_model"] | None = None,
    ) -> Stream:
        """One layer further; masks, positions as in `MultiHeadAttention`, caches for self and cross.

        `before`: the layer's inputs at the positions before x, which x attends to as well.
        """
        self_cache, cross_cache = caches
        x = record(trace, "resid_pre", x)
        h = self._before(x, self.self_norm)
        scope = within(trace, "self")
        seen = h if before is None else torch.cat([self._before(before, self.self_norm), h], dim=1)
        out = self.self_attention(
            h, seen, mask, causal=causal, positions=positions, trace=scope, cache=self_cache
        )
        x = record(trace, "resid_self", self._after(x, out, self.self_norm))
        if self.cross_attention is not None and self.cross_norm is not None:
            h = self._before(x, self.cross_norm)
            out = self.cross_attention(
                h, memory, memory_mask, trace=within(trace, "cross"), cache=cross_cache
            )
            x = record(trace, "resid_cross", self._after(x, out, self.cross_norm))
        if self.feed_forward is not None and self.ff_norm is not None:
            out = self.feed_forward(self._before(x, self.ff_norm), trace=within(trace, "ff"))
            x = self._after(x, out, self.ff_norm)
        return record(trace, "resid_post", x)

    def _before(self, x: Stream, norm: nn.Module) -> Stream:
        return norm(x) if self.pre_norm else x

    def _after(self, x: Stream, out: Stream, norm: nn.Module) -> Stream:
        out = self.dropout(out)
        x = x + out if self.residual else out
        return x if self.pre_norm else norm(x)


class TokenTypes(nn.Module):
    """Adds one trained vector per type (Devlin et al. 2019), stored and scaled as token embeddings are."""

    def __init__(self, config: ModelConfig, n_types: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(n_types, config.d_model)
        self.scale = config.d_model**0.5

    def forward(self, x: Stream, types: Int[Tensor, "batch position"] | None) -> Stream:
        """The stream with the vector of each token's type; without `types`, all are of the first."""
        vectors = self.embedding.weight[0] if types is None else self.embedding(types)
        return x + vectors * self.scale


class OutputTransform(nn.Module):
    """What BERT computes of the stream before its output layer: a linear map, the activation, a norm."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.linear = nn.Linear(config.d_model, config.d_model, bias=config.bias)
        self.activation = ACTIVATIONS[config.activation]
        self.norm = _layer_norm(config)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """d_model -> d_model."""
        return self.norm(self.activation(self.linear(x)))


class Stack(nn.Module):
    """Positions and n_layers layers; with pre-norm a last norm too, as there the stream itself has none."""

    def __init__(self, config: ModelConfig, *, causal: bool = False, cross: bool = False) -> None:
        super().__init__()
        self.causal = causal
        self.recompute = False
        self.positions = POSITIONS[config.positions](config, causal=causal)
        n_types = config.token_types
        self.types = None if n_types is None else TokenTypes(config, n_types)
        self.embedding_norm = _layer_norm(config) if config.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(Layer(config, cross=cross) for _ in range(config.n_layers))
        self.norm = layer_norm(config) if config.norm == "pre" else nn.Identity()

    def forward(
        self,
        embeddings: Stream,
        mask: Mask | Sparse | None = None,
        memory: Float[Tensor, "batch source d_model"] | None = None,
        memory_mask: Mask | None = None,
        *,
        start: int = 0,
        trace: Scope | None = None,
        cache: DecoderCache | None = None,
        types: Int[Tensor, "batch position"] | None = None,
        past: SegmentMemory | None = None,
    ) -> Stream:
        """Embeddings, the first at position `start`, through all layers; `types` are those of the tokens,
        `past` what was read before them.
        """
        x = self.positions(record(trace, "embed", embeddings), start)
        x = x if self.types is None else self.types(x, types)
        x = self.dropout(self.embedding_norm(x))
        for i, layer in enumerate(self.layers):
            caches = (None, None) if cache is None else cache.layers[i]
            scope = within(trace, str(i))
            run = partial(
                layer,
                causal=self.causal,
                positions=LayerPositions(self.positions, i, start),
                trace=scope,
                caches=caches,
                before=None if past is None else past.before(i, x),
            )
            if self.recompute and self.training and trace is None:  # a trace records each value once
                x = checkpoint(run, x, mask, memory, memory_mask, use_reentrant=False)
            else:
                x = run(x, mask, memory, memory_mask)
        return record(trace, "norm", self.norm(x))


def layer_norm(config: ModelConfig) -> nn.Module:
    """Layer normalisation over channels, biased as the rest of the model is; nothing where norm is "none"."""
    if config.norm == "none":
        return nn.Identity()
    return _layer_norm(config)


def _layer_norm(config: ModelConfig) -> nn.LayerNorm:
    return nn.LayerNorm(config.d_model, eps=config.norm_eps, bias=config.bias)
