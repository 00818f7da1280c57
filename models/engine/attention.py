"""Multi-head attention (Vaswani et al. 2017, 3.2): one fused call untraced, step by step when traced; and its
cache of keys and values.
"""

from functools import partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from ..config import ModelConfig
from . import masks, normalizers
from .long_text import LongHeads, LongTrace
from .masks import Allowed
from .position_scheme import LayerPositions
from .sparse import Sparse
from .trace import Scope, record

# The cache of keys and values

Heads = Float[Tensor, "batch head key d_head"]
NewHeads = Float[Tensor, "batch head new d_head"]


class KeyValueCache:
    """One attention's keys and values: of self-attention they grow, of cross-attention they are made once."""

    def __init__(self, *, grows: bool) -> None:
        self.grows = grows
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def fixed(self) -> tuple[Heads, Heads] | None:
        """Keys and values that will not change any more, or None while there are none."""
        if self.grows or self.keys is None or self.values is None:
            return None
        return self.keys, self.values

    def extend(self, keys: NewHeads, values: NewHeads) -> tuple[Heads, Heads]:
        """Adds the newest positions; returns all of them."""
        if self.keys is not None and self.values is not None:
            keys = torch.cat([self.keys, keys], dim=2)  # [batch, head, key, d_head]
            values = torch.cat([self.values, values], dim=2)
        self.keys, self.values = keys, values
        return keys, values

    def select(self, rows: Int[Tensor, " row"]) -> None:
        """Keeps these rows of the batch, in this order, repeats allowed."""
        if self.keys is not None and self.values is not None:
            self.keys, self.values = self.keys[rows], self.values[rows]


class DecoderCache:
    """What a decoder remembers of what it has read: the token ids, and each layer's keys and values."""

    def __init__(self, n_layers: int) -> None:
        self.tokens: Tensor | None = None
        self.layers = [(KeyValueCache(grows=True), KeyValueCache(grows=False)) for _ in range(n_layers)]

    @property
    def length(self) -> int:
        """Number of positions read."""
        return 0 if self.tokens is None else self.tokens.shape[1]

    def read(self, tokens: Int[Tensor, "batch new"]) -> Int[Tensor, "batch key"]:
        """Notes new tokens; returns all that were read."""
        self.tokens = tokens if self.tokens is None else torch.cat([self.tokens, tokens], dim=1)
        return self.tokens

    def select(self, rows: Int[Tensor, " row"]) -> None:
        """Keeps these rows of the batch, in this order, repeats allowed (beams that live on)."""
        if self.tokens is not None:
            self.tokens = self.tokens[rows]
        for layer in self.layers:
            for attention in layer:
                attention.select(rows)


class MultiHeadAttention(nn.Module):
    """n_heads queries per position, each taking a weighted mean of values."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.n_heads * config.head_size
        self.n_heads = config.n_heads
        self.scale = config.scale
        self.dropout = config.dropout
        self.normalizer = config.normalizer
        self.q_proj = nn.Linear(config.d_model, width, bias=config.bias)
        self.k_proj = nn.Linear(config.d_model, width, bias=config.bias)
        self.v_proj = nn.Linear(config.d_model, width, bias=config.bias)
        self.out_proj = nn.Linear(width, config.d_model, bias=config.bias)

    def forward(
        self,
        query_input: Float[Tensor, "batch query d_model"],
        key_value_input: Float[Tensor, "batch key d_model"],
        mask: Bool[Tensor, "#batch #head #query _"] | Sparse | Allowed | None = None,
        *,
        causal: bool = False,
        positions: LayerPositions | None = None,
        trace: Scope | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Attends from `query_input` to `key_value_input`; the same tensor twice is self-attention.

        `mask` is boolean, True = may attend, broadcastable to [batch, head, query, key]; of long texts it may
        come in parts, `Allowed`. `causal` forbids later keys on top of it, as `Sparse` does anyway. A query
        that may attend to nothing gets z = 0. `positions` are those of self-attention. With a `cache`, the
        keys include those computed before. Raises ValueError when the mask does not fit.
        """
        q = self._split(self.q_proj(query_input))  # [batch, head, query, d_head]
        k, v = self._keys_and_values(key_value_input, positions, cache)  # [batch, head, key, d_head]
        if positions is not None:
            q = positions.rotate(q)
        q, k, v = record(trace, "q", q), record(trace, "k", k), record(trace, "v", v)
        if isinstance(mask, Sparse):
            bias_of = None if positions is None else partial(positions.bias, scale=self.scale)
            dropout = self.dropout if self.training else 0.0
            z = mask.attend(q, k, v, scale=self.scale, dropout=dropout, bias=bias_of)
            return self.out_proj(z.transpose(1, 2).flatten(2))
        if trace is not None and isinstance(trace.trace, LongTrace):
            z = trace.trace.attend(trace.prefix, self._long(q, k, mask, causal, positions), v[0])[None]
            return self.out_proj(z.transpose(1, 2).flatten(2))
        assert mask is None or isinstance(mask, Tensor)
        bias = None if positions is None else positions.bias(q, k, self.scale)
        if bias is not None:
            bias = record(trace, "bias", bias)  # [batch or 1, head, query, key]
        if mask is not None:
            masks.check(mask, (q.shape[0], q.shape[1], q.shape[2], k.shape[2]))
        if trace is None and self.normalizer != "sigmoid":
            z = self._fast(q, k, v, mask, causal, bias)
        else:
            z = self._traced(q, k, v, mask, causal, bias, trace)
        out = self.out_proj(z.transpose(1, 2).flatten(2))  # [batch, query, head * d_head] -> d_model
        return record(trace, "out", out)

    def _split(self, x: Float[Tensor, "batch position width"]) -> Float[Tensor, "batch head position d_head"]:
        return x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

    def _keys_and_values(
        self,
        x: Float[Tensor, "batch new d_model"],
        positions: LayerPositions | None,
        cache: KeyValueCache | None,
    ) -> tuple[Heads, Heads]:
        if cache is not None and (known := cache.fixed()) is not None:
            return known
        k, v = self._split(self.k_proj(x)), self._split(self.v_proj(x))
        if positions is not None:
            k = positions.rotate(k)
        return (k, v) if cache is None else cache.extend(k, v)

    def _fast(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, bias: Tensor | None
    ) -> Tensor:
        # PyTorch's own causal kernel skips the masked half, but knows no other masks, biases or cached keys.
        to_nothing = self.normalizer == "softmax-plus-one"
        is_causal = causal and mask is None and bias is None and q.shape[2] == k.shape[2] and not to_nothing
        if not is_causal:
            mask = _with_causal(mask, causal, q, k)
        if bias is not None:
            mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
        if to_nothing:
            k, v, mask = normalizers.with_nothing(k, v, mask)
        dropout = self.dropout if self.training else 0.0
        return F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, dropout_p=dropout, is_causal=is_causal, scale=self.scale
        )

    def _long(
        self,
        q: Tensor,
        k: Tensor,
        mask: Tensor | Allowed | None,
        causal: bool,
        positions: LayerPositions | None,
    ) -> LongHeads:
        """What the patterns of a long text, one that is alone in its batch, are computed from."""
        added = None if positions is None else positions.added(q[0], k[0], self.scale, causal=causal)
        allowed = masks.of_tensor(mask[0]) if isinstance(mask, Tensor) else mask
        sinks = normalizers.sinks(self.normalizer, q[0])
        return LongHeads(q[0], k[0], self.scale, causal, allowed=allowed, added=added, sinks=sinks)

    def _traced(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        causal: bool,
        bias: Tensor | None,
        trace: Scope | None,
    ) -> Tensor:
        scores = (q * self.scale) @ k.mT  # [batch, head, query, key]
        if bias is not None:
            scores += bias
        mask = _with_causal(mask, causal, q, k)
        if mask is not None:
            # Adding one matrix to all heads is several times faster than filling each head's.
            forbidden = torch.zeros(mask.shape, dtype=q.dtype, device=q.device)
            scores += forbidden.masked_fill_(~mask, -torch.inf)
        computed, scores = scores, record(trace, "scores", scores)
        if scores is not computed:  # an edit decides anew which keys are open
            mask = scores != -torch.inf
        pattern = record(trace, "pattern", normalizers.weights(self.normalizer, scores, mask))
        z = F.dropout(pattern, self.dropout, self.training) @ v  # [batch, head, query, d_head]
        return record(trace, "z", z)


def _with_causal(mask: Tensor | None, causal: bool, q: Tensor, k: Tensor) -> Tensor | None:
    """The mask, causal as well if asked; a single query is the last position, which may see every key."""
    n_query, n_key = q.shape[2], k.shape[2]
    if not causal or n_query == 1:
        return mask
    return masks.combine(mask, masks.causal(n_query, n_key, device=q.device))
