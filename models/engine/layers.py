"""The parts between embedding and logits: feed-forward network, layer, stack."""

from collections.abc import Callable
from functools import partial

from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from models.config import ModelConfig
from models.engine.attention import MultiHeadAttention
from models.engine.cache import DecoderCache, KeyValueCache
from models.engine.positions import POSITIONS, LayerPositions
from models.engine.trace import Scope, record, within

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
}
Stream = Float[Tensor, "batch position d_model"]
Mask = Bool[Tensor, "#batch _ #position _"]


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
        mask: Mask | None = None,
        memory: Float[Tensor, "batch source d_model"] | None = None,
        memory_mask: Mask | None = None,
        *,
        causal: bool = False,
        positions: LayerPositions | None = None,
        trace: Scope | None = None,
        caches: tuple[KeyValueCache | None, KeyValueCache | None] = (None, None),
    ) -> Stream:
        """One layer further; masks, positions as in `MultiHeadAttention`, caches for self and cross."""
        self_cache, cross_cache = caches
        x = record(trace, "resid_pre", x)
        h = self._before(x, self.self_norm)
        scope = within(trace, "self")
        out = self.self_attention(
            h, h, mask, causal=causal, positions=positions, trace=scope, cache=self_cache
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


class Stack(nn.Module):
    """Positions and n_layers layers; with pre-norm a last norm too, as there the stream itself has none."""

    def __init__(self, config: ModelConfig, *, causal: bool = False, cross: bool = False) -> None:
        super().__init__()
        self.causal = causal
        self.recompute = False
        self.positions = POSITIONS[config.positions](config, causal=causal)
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(Layer(config, cross=cross) for _ in range(config.n_layers))
        self.norm = layer_norm(config) if config.norm == "pre" else nn.Identity()

    def forward(
        self,
        embeddings: Stream,
        mask: Mask | None = None,
        memory: Float[Tensor, "batch source d_model"] | None = None,
        memory_mask: Mask | None = None,
        *,
        start: int = 0,
        trace: Scope | None = None,
        cache: DecoderCache | None = None,
    ) -> Stream:
        """Embeddings, the first at position `start`, through all layers."""
        embeddings = record(trace, "embed", embeddings)
        x = self.dropout(self.positions(embeddings, start))
        for i, layer in enumerate(self.layers):
            caches = (None, None) if cache is None else cache.layers[i]
            scope = within(trace, str(i))
            run = partial(
                layer,
                causal=self.causal,
                positions=LayerPositions(self.positions, i, start),
                trace=scope,
                caches=caches,
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
    return nn.LayerNorm(config.d_model, bias=config.bias)
