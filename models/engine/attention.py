"""Multi-head attention (Vaswani et al. 2017, 3.2): one fused call untraced, step by step when traced; and its
cache of keys and values.
"""

from functools import partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from ..config import ModelConfig
from . import masks
from .differential import Difference, fused
from .head_output import HeadGate, exclusive
from .long_text import LongHeads, LongTrace
from .masks import Allowed
from .normalizers import NORMALIZERS
from .norms import head_norm
from .position_scheme import LayerPositions
from .sparse import Sparse
from .trace import Scope, record

# The cache of keys and values

Heads = Float[Tensor, "batch head key d_head"]


class KeyValueCache:
    """One attention's keys and values, [batch, head, key, d_head], or the latent vectors that both are made
    of: of self-attention they grow, of cross-attention they are made once.
    """

    def __init__(self, *, grows: bool) -> None:
        self.grows = grows
        self.kept: tuple[Tensor, ...] | None = None

    def fixed(self) -> tuple[Tensor, ...] | None:
        """Returns keys and values that will not change any more, or None while there are none."""
        return None if self.grows else self.kept

    def extend(self, *new: Float[Tensor, "batch head new _"]) -> tuple[Tensor, ...]:
        """Adds the newest positions; returns all of them."""
        if self.kept is not None:
            new = tuple(torch.cat(pair, dim=2) for pair in zip(self.kept, new, strict=True))
        self.kept = new
        return new

    def select(self, rows: Int[Tensor, " row"]) -> None:
        """Keeps these rows of the batch, in this order, repeats allowed."""
        if self.kept is not None:
            self.kept = tuple(each[rows] for each in self.kept)


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


class Latent(nn.Sequential):
    """The vector of which keys and values are made: a linear map and a norm."""

    def __init__(self, config: ModelConfig, width: int) -> None:
        down = nn.Linear(config.d_model, width, bias=config.bias)
        super().__init__(down, nn.RMSNorm(width, eps=config.norm_eps))


class ValueMix(nn.Module):
    """The values of a layer and those of the first, each times a number that is learnt.

    Zhou et al. 2024 (arXiv 2410.17897), ResFormer with learnt weights, which start at a half.
    """

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.full((2,), 0.5))

    def forward(self, own: Heads, first: Heads) -> Heads:
        return self.weights[0] * own + self.weights[1] * first


class MultiHeadAttention(nn.Module):
    """n_heads queries per position, each taking a weighted mean of values.

    Where `n_kv_heads` are fewer, n_heads / n_kv_heads neighbouring queries share keys and values (Shazeer
    2019; Ainslie et al. 2023). With `d_latent`, keys and values of all heads are made of one vector a
    position, which is normalised and which the cache keeps (DeepSeek-V2, arXiv 2405.04434, 2.1.2; its keys
    that turn apart from it are left out: here the keys made of it turn). `layer`: its number in the stack; a
    `value_residual` hands on the values of the first. `differential`: z and v are 2 * d_head wide.
    """

    def __init__(self, config: ModelConfig, *, layer: int = 0, cross: bool = False) -> None:
        super().__init__()
        width, key_width = config.n_heads * config.head_size, config.key_heads * config.head_size
        read, latent = config.d_model, config.d_latent
        self.n_heads = config.n_heads
        self.n_key_heads = config.key_heads
        self.scale = config.scale
        self.cap = config.score_cap
        self.dropout = config.dropout
        self.exclusive = config.exclusive and not cross
        self.normalizer = NORMALIZERS[config.normalizer](config)
        self.q_proj = nn.Linear(read, width, bias=config.bias)
        self.latent = Latent(config, latent) if latent else None
        self.k_proj = nn.Linear(latent or read, key_width, bias=config.bias)
        self.v_proj = nn.Linear(latent or read, key_width, bias=config.bias)
        self.out_proj = nn.Linear(width, config.d_model, bias=config.bias)
        self.q_norm, self.k_norm = head_norm(config, config.n_heads), head_norm(config, config.key_heads)
        self.norms_all = config.qk_norm == "all"
        self.norm_follows = config.norm in ("after", "both")  # the layer then records what it adds
        self.gate = HeadGate(config) if config.head_gate != "none" else None
        self.value_mix = ValueMix() if config.value_residual and layer and not cross else None
        self.difference = Difference(config, layer) if config.differential else None

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
        carried: dict[str, Tensor] | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Attends from `query_input` to `key_value_input`; the same tensor twice is self-attention.

        `mask` is boolean, True = may attend, broadcastable to [batch, head, query, key]; of long texts it may
        come in parts, `Allowed`. `causal` forbids later keys on top of it, as `Sparse` does anyway. A query
        that may attend to nothing gets z = 0. `positions` are those of self-attention. With a `cache`, the
        keys include those computed before. `carried`: the first layer's values,
        which layers of one pass hand on. Raises ValueError when the mask does not fit.
        """
        q = self._split(self.q_proj(query_input), self.q_norm)  # [batch, head, query, d_head]
        k, v = self._keys_and_values(key_value_input, positions, cache, carried)
        if positions is not None:
            q = positions.rotate(q)
        q, k, v = record(trace, "q", q), record(trace, "k", k), record(trace, "v", self._paired(v))
        mixture = z = record(trace, "z", self._mixed(q, k, v, mask, causal, positions, trace))
        if self.exclusive:
            z = exclusive(z, self._of_queries(v[:, :, -q.shape[2] :]))
        if self.gate is not None:
            z = self.gate(query_input, z)
        if z is not mixture:
            z = record(trace, "head_out", z)
        side_by_side = z.transpose(1, 2).flatten(2)  # [batch, query, head * d_head]
        if self.difference is not None:
            side_by_side = self.difference(side_by_side, trace=trace)
        out: Tensor = self.out_proj(side_by_side)
        return out if self.norm_follows else record(trace, "out", out)

    def own_values(
        self, x: Float[Tensor, "batch position d_model"]
    ) -> Float[Tensor, "batch head position _"]:
        """The value that each head would take from vectors of the stream, normalised as the layer does."""
        v = self._split(self.v_proj(x if self.latent is None else self.latent(x)))
        return self._of_queries(self._paired(v))

    @property
    def reads_heads(self) -> nn.Module:
        """The module that reads all heads' z side by side."""
        return self.out_proj if self.difference is None else self.difference

    def _paired(self, v: Tensor) -> Tensor:
        return v if self.difference is None else self.difference.values(v)

    def _split(
        self, x: Float[Tensor, "batch position width"], norm: nn.Module | None = None
    ) -> Float[Tensor, "batch head position d_head"]:
        """Into heads, normalised."""
        if norm is not None and self.norms_all:
            x = norm(x)
        x = x.view(*x.shape[:2], -1, self.out_proj.in_features // self.n_heads).transpose(1, 2)
        return x if norm is None or self.norms_all else norm(x)

    def _keys_and_values(
        self,
        x: Float[Tensor, "batch new d_model"],
        positions: LayerPositions | None,
        cache: KeyValueCache | None,
        carried: dict[str, Tensor] | None,
    ) -> tuple[Heads, Heads]:
        kept = None if cache is None else cache.fixed()
        if self.latent is not None:
            c = self.latent(x)[:, None] if kept is None else kept[0]  # [batch, 1, key, d_latent]
            c = cache.extend(c)[0] if cache is not None and kept is None else c
            return self._made(c[:, 0], None if positions is None else positions.from_start(), carried)
        if kept is not None:
            return kept[0], kept[1]
        k, v = self._made(x, positions, carried)
        if cache is not None:
            k, v = cache.extend(k, v)
        return k, v

    def _made(
        self, x: Tensor, positions: LayerPositions | None, carried: dict[str, Tensor] | None
    ) -> tuple[Heads, Heads]:
        """Turned keys, and values, of x: of the stream, or of the latent vectors."""
        k, v = self._split(self.k_proj(x), self.k_norm), self._split(self.v_proj(x))
        if carried is not None:
            first = carried.setdefault("values", v)
            v = v if self.value_mix is None else self.value_mix(v, first)
        return (k if positions is None else positions.rotate(k)), v

    def _of_queries(self, x: Float[Tensor, "batch key_head key _"]) -> Float[Tensor, "batch head key _"]:
        """Keys or values once for each query head."""
        sharing = self.n_heads // self.n_key_heads
        return x if sharing == 1 else x.repeat_interleave(sharing, dim=1)

    def _mixed(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Bool[Tensor, "#batch #head #query _"] | Sparse | Allowed | None,
        causal: bool,
        positions: LayerPositions | None,
        trace: Scope | None,
    ) -> Float[Tensor, "batch head query _"]:
        """Each head's mixture of values, by the fastest way that gives what is asked."""
        if trace is not None and isinstance(trace.trace, LongTrace):
            assert not isinstance(mask, Sparse)
            return trace.trace.attend(trace.prefix, self._long(q, k, mask, causal, positions), v[0])[None]
        k, v = self._of_queries(k), self._of_queries(v)
        if isinstance(mask, Sparse):
            bias_of = None if positions is None else partial(positions.bias, scale=self.scale)
            dropout = self.dropout if self.training else 0.0
            return mask.attend(q, k, v, scale=self.scale, dropout=dropout, bias=bias_of)
        assert mask is None or isinstance(mask, Tensor)
        bias = None if positions is None else positions.bias(q, k, self.scale)
        if bias is not None:
            bias = record(trace, "bias", bias)  # [batch or 1, head, query, key]
        if mask is not None:
            masks.check(mask, (q.shape[0], q.shape[1], q.shape[2], k.shape[2]))
        if trace is None and self.normalizer.fused and self.cap is None:
            return self._fast(q, k, v, mask, causal, bias)
        return self._traced(q, k, v, mask, causal, bias, trace)

    def _fast(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, bias: Tensor | None
    ) -> Tensor:
        # PyTorch's own causal kernel skips the masked half, but knows no other masks, biases or cached keys.
        sinks = self.normalizer.sinks()
        is_causal = causal and mask is None and bias is None and q.shape[2] == k.shape[2] and sinks is None
        if not is_causal:
            mask = _with_causal(mask, causal, q, k)
        if bias is not None:
            mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
        if sinks is not None:
            k, v, mask = _with_sinks(k, v, mask, sinks)
        dropout = self.dropout if self.training else 0.0
        return fused(q, k, v, attn_mask=mask, dropout=dropout, is_causal=is_causal, scale=self.scale)

    def _long(
        self,
        q: Tensor,
        k: Tensor,
        mask: Tensor | Allowed | None,
        causal: bool,
        positions: LayerPositions | None,
    ) -> LongHeads:
        """What the patterns of a long text, one that is alone in its batch, are computed from."""
        each = self._of_queries(k)[0]
        added = None if positions is None else positions.added(q[0], each, self.scale, causal=causal)
        allowed = masks.of_tensor(mask[0]) if isinstance(mask, Tensor) else mask
        if not self.normalizer.fused:
            raise ValueError(
                f"{type(self.normalizer).__name__} cannot read long texts; give a shorter text, or a model "
                "with another normalizer"
            )
        sinks = self.normalizer.sinks()
        sinks = None if sinks is None else sinks.detach()
        return LongHeads(q[0], k[0], self.scale, causal, self.cap, allowed, added, sinks)

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
        if self.cap is not None:  # after all that makes a score, as the terms of Transformer-XL do
            scores = self.cap * torch.tanh(scores / self.cap)
        mask = _with_causal(mask, causal, q, k)
        if mask is not None:
            # Adding one matrix to all heads is several times faster than filling each head's.
            forbidden = torch.zeros(mask.shape, dtype=q.dtype, device=q.device)
            scores += forbidden.masked_fill_(~mask, -torch.inf)
        computed, scores = scores, record(trace, "scores", scores)
        if scores is not computed:  # an edit decides anew which keys are open
            mask = scores != -torch.inf
        pattern = record(trace, "pattern", self.normalizer(scores, mask))
        return F.dropout(pattern, self.dropout, self.training) @ v  # [batch, head, query, d_head]


def _with_sinks(
    k: Heads, v: Tensor, mask: Tensor | None, sinks: Float[Tensor, " head"]
) -> tuple[Tensor, Tensor, Tensor]:
    """Keys, values and mask (open or not, or what is added to scores) with one key more, whose value is 0 and
    whose score is the head's sink: the softmax over them is one that kernels know.
    """
    k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
    if mask is None:
        mask = k.new_zeros(1, 1, 1, k.shape[2] - 1)
    elif mask.dtype == torch.bool:
        mask = torch.zeros_like(mask, dtype=k.dtype).masked_fill_(~mask, -torch.inf)
    mask = mask.expand(mask.shape[0], len(sinks), *mask.shape[2:])
    column = sinks.to(k.dtype)[None, :, None, None].expand(*mask.shape[:3], 1)
    return k, v, torch.cat([mask, column], dim=-1)


def _with_causal(mask: Tensor | None, causal: bool, q: Tensor, k: Tensor) -> Tensor | None:
    """The mask, causal as well if asked; a single query is the last position, which may see every key."""
    n_query, n_key = q.shape[2], k.shape[2]
    if not causal or n_query == 1:
        return mask
    return masks.combine(mask, masks.causal(n_query, n_key, device=q.device))
