"""The transformer as encoder-only, decoder-only or encoder-decoder, with its layers and stacks."""

from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, TypeVar, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from ..config import ModelConfig
from . import masks
from .attention import DecoderCache, KeyValueCache, MultiHeadAttention
from .depth import DepthMix
from .feed_forward import ACTIVATIONS, FeedForward
from .long_text import LongTrace, mask_in_parts
from .masks import Allowed
from .norms import channel_norm, norm_of
from .position_scheme import PositionScheme, has_bias
from .positions import POSITIONS, LayerPositions
from .sparse import Sparse, sparse_if_faster
from .trace import Scope, Trace, check_one_prompt, record, within

Stream = Float[Tensor, "batch position d_model"]

LayerMask = Bool[Tensor, "#batch _ #position _"] | Allowed


class Layer(nn.Module):
    """Self-attention, with `cross` also attention to the encoder's memory, then the feed-forward network.

    Each adds to the residual stream: x + f(norm(x)) with pre-norm (Xiong et al. 2020), norm(x + f(x)) with
    post-norm (Vaswani et al. 2017, 3.1), x + norm(f(x)) with a norm after it, x + norm(f(norm(x))) with both,
    x + f(x) without norm; without `residual`, each "x +" is left out; with `depth_attention`, a `DepthMix`
    stands in the place of each sum. In `parallel` layers the feed-forward network reads what entered the
    layer. `layer`: its number in the stack.
    """

    def __init__(self, config: ModelConfig, *, cross: bool = False, layer: int = 0) -> None:
        super().__init__()
        self.norm = config.norm
        self.pre_norm = config.norm in ("pre", "both")
        self.residual, self.parallel = config.residual, config.parallel
        both, feeds = config.norm == "both", config.feed_forward
        self.self_attention = MultiHeadAttention(config, layer=layer)
        self.self_norm = norm_of(config)
        self.self_out_norm = norm_of(config) if both else None
        self.cross_attention = MultiHeadAttention(config, layer=layer, cross=True) if cross else None
        self.cross_norm = norm_of(config) if cross else None
        self.cross_out_norm = norm_of(config) if cross and both else None
        self.feed_forward = FeedForward(config) if feeds else None
        self.ff_norm = norm_of(config) if feeds else None
        self.ff_out_norm = norm_of(config) if feeds and both else None
        self.dropout = nn.Dropout(config.dropout)
        n_sublayers = 1 + cross + feeds
        self.n_before = 1 + layer * n_sublayers  # sources: the embedding, and what earlier sublayers gave
        mixes = (DepthMix(config) for _ in range(n_sublayers))
        self.depth = nn.ModuleList(mixes) if config.depth_attention else None

    def forward(
        self,
        x: Stream,
        mask: LayerMask | Sparse | None = None,
        memory: Float[Tensor, "batch source d_model"] | None = None,
        memory_mask: LayerMask | None = None,
        *,
        causal: bool = False,
        positions: LayerPositions | None = None,
        trace: Scope | None = None,
        caches: tuple[KeyValueCache | None, KeyValueCache | None] = (None, None),
        carried: dict[str, Tensor] | None = None,
        sources: list[Tensor] | None = None,
    ) -> Stream:
        """Computes the layer. Masks, positions and `carried` are as in `MultiHeadAttention`; `caches` are
        those of self and cross attention. A `DepthMix` mixes `sources`, to which this layer adds its own.
        """
        self_cache, cross_cache = caches
        entered = x = record(trace, "resid_pre", x)
        if self.depth is not None:
            assert sources is not None
            sources[:] = sources[: self.n_before] or [x]  # once more, where the layer is computed again
        h, scope = self._before(x, self.self_norm), within(trace, "self")
        out = self.self_attention(
            h, h, mask, causal=causal, positions=positions, trace=scope, cache=self_cache, carried=carried
        )
        x = record(
            trace, "resid_self", self._after(x, out, self.self_norm, self.self_out_norm, scope, sources)
        )
        if self.cross_attention is not None:
            h, scope = self._before(x, self.cross_norm), within(trace, "cross")
            out = self.cross_attention(h, memory, memory_mask, trace=scope, cache=cross_cache)
            x = self._after(x, out, self.cross_norm, self.cross_out_norm, scope, sources)
            x = record(trace, "resid_cross", x)
        if self.feed_forward is not None:
            h, scope = self._before(entered if self.parallel else x, self.ff_norm), within(trace, "ff")
            out = self.feed_forward(h, trace=scope)
            x = self._after(x, out, self.ff_norm, self.ff_out_norm, scope, sources)
        return record(trace, "resid_post", x)

    def _before(self, x: Stream, norm: nn.Module | None) -> Stream:
        return norm(x) if self.pre_norm and norm is not None else x

    def _after(
        self,
        x: Stream,
        out: Stream,
        norm: nn.Module | None,
        out_norm: nn.Module | None,
        trace: Scope | None,
        sources: list[Tensor] | None,
    ) -> Stream:
        """Adds a sublayer's output to the stream, and traces it as it is added: after the norm, if any."""
        after = norm if self.norm == "after" else out_norm
        if after is not None:
            out = record(trace, "out", after(out))
        out = self.dropout(out)
        if self.depth is not None:
            assert sources is not None
            sources.append(out)
            mix = self.depth[len(sources) - 1 - self.n_before]
            return cast(Tensor, mix(sources, trace=trace))
        x = x + out if self.residual else out
        return norm(x) if self.norm == "post" and norm is not None else x


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
        self.norm = channel_norm(config)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """d_model -> d_model."""
        return self.norm(self.activation(self.linear(x)))


class Stack(nn.Module):
    """Positions and n_layers layers; a last norm too, where no post-norm has normalised the stream."""

    def __init__(self, config: ModelConfig, *, causal: bool = False, cross: bool = False) -> None:
        super().__init__()
        self.causal = causal
        self.recompute = False
        self.config = config
        self.positions = POSITIONS[config.positions](config, causal=causal)
        self.local_positions: PositionScheme | None = None
        if config.local_rotary_base is not None:
            local = replace(config, rotary_base=config.local_rotary_base)
            self.local_positions = POSITIONS[config.positions](local, causal=causal)
        n_types = config.token_types
        self.types = None if n_types is None else TokenTypes(config, n_types)
        self.embedding_norm = channel_norm(config) if config.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(Layer(config, cross=cross, layer=i) for i in range(config.n_layers))
        self.norm = channel_norm(config) if config.norm in ("pre", "after", "both") else nn.Identity()

    def forward(
        self,
        embeddings: Stream,
        mask: LayerMask | Sparse | None = None,
        memory: Float[Tensor, "batch source d_model"] | None = None,
        memory_mask: LayerMask | None = None,
        *,
        start: int = 0,
        trace: Scope | None = None,
        cache: DecoderCache | None = None,
        types: Int[Tensor, "batch position"] | None = None,
    ) -> Stream:
        """Embeddings from position `start` on, through all layers; `types` of the tokens."""
        x = self.positions(record(trace, "embed", embeddings), start)
        x = x if self.types is None else self.types(x, types)
        x = self.dropout(self.embedding_norm(x))
        carried: dict[str, Tensor] | None = {} if self.config.value_residual else None
        sources = list[Tensor]()
        local = None if self.config.local_window is None else self._near(mask, start + x.shape[1], x, trace)
        for i, layer in enumerate(self.layers):
            caches = (None, None) if cache is None else cache.layers[i]
            run = partial(
                layer,
                causal=self.causal,
                positions=self._positions_of(i, start),
                trace=within(trace, str(i)),
                caches=caches,
                carried=carried,
                sources=sources,
            )
            seen = local if self.config.is_local(i) else mask
            if self.recompute and self.training and trace is None:  # a trace records each value once
                x = checkpoint(run, x, seen, memory, memory_mask, use_reentrant=False)
            else:
                x = run(x, seen, memory, memory_mask)
        return record(trace, "norm", self.norm(x))

    def _positions_of(self, layer: int, start: int) -> LayerPositions | None:
        """Gives a layer the positions of its self-attention; None where it has none."""
        every = self.config.positionless_every
        if every and (layer + 1) % every == 0:
            return None
        own = self.local_positions if self.config.is_local(layer) else None
        return LayerPositions(own or self.positions, layer, start)

    def _near(
        self, mask: LayerMask | Sparse | None, n_key: int, x: Stream, trace: Scope | None
    ) -> LayerMask | None:
        """The mask of local layers: of what `mask` allows, the keys within the window."""
        width = str(self.config.local_window)
        if trace is not None and isinstance(trace.trace, LongTrace):
            assert not isinstance(mask, Tensor | Sparse)
            return masks.both(masks.in_parts("window", width, n_key), mask)
        assert mask is None or isinstance(mask, Tensor)
        near = square_mask("window", width, n_key, self.config.max_len, x.device, n_query=x.shape[1])
        return masks.combine(mask, near)


# The mask of a config


def square_mask(
    name: str, argument: str, n: int, max_len: int, device: torch.device, *, n_query: int
) -> Tensor:
    """The last queries of a mask over n tokens of at most max_len, [batch or 1, head or 1, n_query, n],
    True = may attend.
    """
    if torch.compiler.is_exporting():
        # A graph for all lengths keeps no mask of one length.
        return masks.named(name, argument, max_len)[..., :n, :n].to(device)[:, :, -n_query:]
    if n_query < n and masks.grows(name):  # a text that is being written: one mask serves its next tokens
        longest = min(max_len, 1 << (n - 1).bit_length())
        return _named(name, argument, longest, device)[:, :, n - n_query : n, :n]
    return _named(name, argument, n, device)[:, :, -n_query:]


@lru_cache(maxsize=8)
def _named(name: str, argument: str, n: int, device: torch.device) -> Tensor:
    """A mask is the same for every batch of a training run: make it once."""
    return masks.named(name, argument, n).to(device)


Tokens = Int[Tensor, "batch position"]
Logits = Float[Tensor, "batch position vocab"]
Vectors = Float[Tensor, "batch position channel"]
Mask = Bool[Tensor, "#batch _ _ _"]
Types = Int[Tensor, "_ _"]


class Transformer(nn.Module):
    """Token ids in, logits out (Vaswani et al. 2017).

    Embeddings are multiplied by sqrt(d_model) (3.4) and start with variance 1 / d_model: tokens then enter
    the stream as loud as positions, while the same matrix, tied, starts with logits of variance about 1.
    Linear maps start Xavier-uniform with zero biases. `seed` fixes all weights; None draws a fresh one.
    Neither reads nor changes PyTorch's global random state. Raises ValueError for a config whose mask does
    not exist, or fits no length up to max_len.
    """

    def __init__(self, config: ModelConfig, *, seed: int | None = None) -> None:
        super().__init__()
        masks.check_fits(config.mask, config.mask_argument, config.max_len)
        self.config = config
        has_memory = config.kind == "encoder-decoder"
        generator = torch.Generator()
        generator.manual_seed(seed) if seed is not None else generator.seed()
        # Modules draw from global randomness as they are built: lend it the seed, then put it back.
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(generator.initial_seed())
            self.embedding: nn.Embedding | nn.Linear = (
                nn.Embedding(config.vocab_size, config.d_model)
                if config.input_channels is None
                else nn.Linear(config.input_channels, config.d_model)
            )
            own_target = config.target_vocab_size is not None
            self.target_embedding = (
                nn.Embedding(config.output_vocab_size, config.d_model) if own_target else None
            )
            self.encoder = Stack(config) if "encoder" in config.stacks else None
            has_decoder = "decoder" in config.stacks
            self.decoder = Stack(config, causal=True, cross=has_memory) if has_decoder else None
            tied = config.tied_embeddings
            transforms = config.output_transform
            self.transform = OutputTransform(config) if transforms else None
            n_outputs = config.output_vocab_size
            self.output = None if tied else nn.Linear(config.d_model, n_outputs, bias=transforms)
        self.initialise(generator)

    @property
    def recompute(self) -> bool:
        """Trades time for memory in training: what is inside a layer is computed again for its gradient
        (gradient checkpointing, Chen et al. 2016). The numbers stay the same.
        """
        return any(stack.recompute for stack in self._stacks())

    @recompute.setter
    def recompute(self, on: bool) -> None:
        for stack in self._stacks():
            stack.recompute = on

    @property
    def _plain(self) -> bool:
        """Says whether blocks of a sparse mask give what all layers compute: a softmax, no cap, no window."""
        config = self.config
        return config.normalizer == "softmax" and config.score_cap is None and config.local_window is None

    def _stacks(self) -> list[Stack]:
        return [stack for stack in (self.encoder, self.decoder) if stack is not None]

    def forward(
        self,
        tokens: Int[Tensor, "batch first"] | Vectors,
        target: Int[Tensor, "batch second"] | None = None,
        *,
        mask: Mask | None = None,
        trace: Trace | None = None,
        positions: Bool[Tensor, "batch _"] | None = None,
        types: Types | None = None,
    ) -> Float[Tensor, "... vocab"]:
        """Logits [batch, position, vocab]; of an encoder-decoder, for each position of `target`; with
        pooling, [batch, 1, n_outputs]. With `input_channels`, tokens are vectors [batch, position, channel].

        `mask` (boolean, True = may attend, broadcastable to [batch, head, query, key]) further restricts the
        self-attention of the first stack; causal and padding masks are added here. With `positions`
        (boolean), only where these are True are there logits, in one axis: [asked, vocab]. `types` says of
        which of the config's `token_types` each token is; left out, all are of type 0. Raises ValueError for
        token ids outside the vocabulary, types that there are not, sequences longer than max_len, and a trace
        of more than one row.
        """
        self._check_types(types, tokens)
        if self.config.kind == "encoder-decoder":
            if target is None:
                raise ValueError(
                    "target=None, but an encoder-decoder writes a target; call model(source, target)"
                )
            memory = self.encode(tokens, mask=mask, trace=trace)
            return self.decode(target, memory, tokens, trace=trace, positions=positions)
        if target is not None:
            raise ValueError(
                f"target given, but kind={self.config.kind!r} has one sequence; leave target out"
            )
        if self.config.kind == "decoder-only":
            return self.decode(tokens, mask=mask, trace=trace, positions=positions)
        x = self.encode(tokens, mask=mask, trace=trace, types=types)
        return self._logits(self._pooled(x, tokens), trace, positions)

    def encode(
        self,
        tokens: Tokens | Vectors,
        *,
        mask: Mask | None = None,
        trace: Trace | None = None,
        types: Types | None = None,
    ) -> Stream:
        """The encoder's output, the decoder's memory. Raises ValueError as `forward` does."""
        self._check_types(types, tokens)
        if self.encoder is None:
            raise ValueError(f"kind={self.config.kind!r} has no encoder; call the model itself, or decode")
        x = self._embed(tokens, self.embedding, 0, trace)
        own = self._self_mask(mask, tokens.shape[1], tokens, trace)
        return self.encoder(x, own, trace=within(trace, "encoder"), types=types)

    def decode(
        self,
        target: Tokens,
        memory: Float[Tensor, "batch source d_model"] | None = None,
        source: Int[Tensor, "batch source"] | Bool[Tensor, "#batch _ #position #source"] | None = None,
        *,
        mask: Mask | None = None,
        cache: DecoderCache | None = None,
        trace: Trace | None = None,
        positions: Bool[Tensor, "batch position"] | None = None,
    ) -> Float[Tensor, "... vocab"]:
        """Logits for what follows each position of `target`; a decoder-only model needs no memory.

        `source` says which memory is padding: its token ids [batch, source], or a boolean mask broadcastable
        to [batch, head, position, source], True = may attend. With a `cache`, `target` holds only the
        tokens that the cache has not read. `positions` is as in `forward`, and so are the errors.
        """
        self._check_decode(memory, cache, trace)
        assert self.decoder is not None
        start = 0 if cache is None else cache.length
        x = self._embed(target, self.target_embedding or self.embedding, start, trace)
        read = target if cache is None else cache.read(target)
        alone = mask is None and trace is None and cache is None and self._plain
        in_blocks = self._blocks(read) if alone else None
        own = in_blocks or self._self_mask(mask, target.shape[1], read, trace)
        if source is not None and source.dtype != torch.bool:
            source = self._padding(source)
        scope = within(trace, "decoder")
        x = self.decoder(x, own, memory, source, start=start, trace=scope, cache=cache)
        return self._logits(x, trace, positions)

    def unembed(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab"]:
        """The output layer: a vector's score for each word of the output vocabulary.

        No bias is added, except after the config's `output_transform`, which belongs to this layer. Logits
        are bent by `logit_cap`, where there is one.
        """
        if self.output is not None:
            logits = self.output(x if self.transform is None else self.transform(x))
        else:
            logits = F.linear(x, (self.target_embedding or self.embedding).weight)
        cap = self.config.logit_cap
        return logits if cap is None else cap * torch.tanh(logits / cap)

    def new_cache(self) -> DecoderCache:
        """An empty key-value cache for `decode`."""
        return DecoderCache(self.config.n_layers)

    def _logits(
        self, x: Float[Tensor, "batch _ d_model"], trace: Trace | None, positions: Tensor | None
    ) -> Float[Tensor, "... vocab"]:
        logits = self.unembed(x if positions is None else x[positions])
        return logits if trace is None else trace.record("logits", logits)

    def _pooled(self, x: Stream, tokens: Tokens | Vectors) -> Float[Tensor, "batch _ d_model"]:
        """The vectors that the output layer reads: all, the first, or the mean over what is no padding."""
        if self.config.pooling == "none":
            return x
        if self.config.pooling == "first" or self.config.pad_id is None:
            return x[:, :1] if self.config.pooling == "first" else x.mean(dim=1, keepdim=True)
        real = (tokens != self.config.pad_id).to(x.dtype)[:, None]  # [batch, 1, position]
        return (real @ x) / real.sum(dim=-1, keepdim=True).clamp(min=1)

    def _self_mask(
        self, mask: Tensor | None, n_query: int, read: Tokens | Vectors, trace: Trace | None
    ) -> Tensor | masks.Allowed | None:
        """The caller's mask, the model's own and that of padding, over all tokens read."""
        n_key = read.shape[1]
        if mask is not None:
            masks.check(mask, (read.shape[0], self.config.n_heads, n_query, n_key))
        if isinstance(trace, LongTrace):
            return mask_in_parts(self.config, n_key, mask, self._padding(read))
        if self.config.mask != "none":
            name, argument, longest = self.config.mask, self.config.mask_argument, self.config.max_len
            own = square_mask(name, argument, n_key, longest, read.device, n_query=n_query)
            mask = masks.combine(mask, own)
        return masks.combine(mask, self._padding(read))

    def _blocks(self, read: Tokens | Vectors) -> Sparse | None:
        """The model's own mask by groups of queries, where that is faster and nothing is padding."""
        by_distance = has_bias(self.config.positions)
        mask, argument, n = self.config.mask, self.config.mask_argument, read.shape[1]
        sparse = sparse_if_faster(mask, argument, n, by_distance=by_distance, device=read.device)
        return None if sparse is None or self._padding(read) is not None else sparse

    def _padding(self, tokens: Tokens | Vectors) -> Tensor | None:
        """Mask for padding; None when there is none, so that attention keeps its unmasked kernel."""
        if self.config.pad_id is None:
            return None
        mask = masks.padding(tokens, self.config.pad_id)
        # A graph for all inputs decides nothing by one of them, and a GPU is not waited for.
        known = tokens.device.type == "cpu" and not torch.compiler.is_compiling()
        return None if known and bool(mask.all()) else mask

    def _embed(
        self, tokens: Tokens | Vectors, embedding: nn.Embedding | nn.Linear, start: int, trace: Trace | None
    ) -> Stream:
        check_one_prompt(trace, tokens.shape[0])
        if tokens.shape[1] == 0:
            raise ValueError("0 tokens: a sequence has at least one; give tokens of shape [batch, 1 or more]")
        end = start + tokens.shape[1]
        if end > self.config.max_len:
            raise ValueError(
                f"{end} tokens do not fit max_len={self.config.max_len}; cut the sequence, or raise max_len"
            )
        if isinstance(embedding, nn.Linear):
            if tokens.dim() != 3 or tokens.shape[2] != embedding.in_features:
                raise ValueError(
                    f"input of shape {list(tokens.shape)} does not fit input_channels="
                    f"{embedding.in_features}; give vectors [batch, position, {embedding.in_features}]"
                )
            return embedding(tokens)
        try:
            return embedding(tokens) * self.config.d_model**0.5
        except IndexError:
            # PyTorch has looked already; only to say which token it was, look again.
            outside = tokens[(tokens < 0) | (tokens >= embedding.num_embeddings)]
            raise ValueError(
                f"token id {outside[0].item()} is outside the vocabulary of {embedding.num_embeddings}; "
                f"ids go from 0 to {embedding.num_embeddings - 1}"
            ) from None

    def _check_types(self, types: Tensor | None, tokens: Tokens | Vectors) -> None:
        if types is None:
            return
        known = self.config.token_types
        if known is None:
            raise ValueError("types given, but token_types=None tells no tokens apart; leave types out")
        if types.shape != tokens.shape[:2]:
            raise ValueError(
                f"types of shape {list(types.shape)} do not fit tokens of shape {list(tokens.shape[:2])}; "
                "give one type for each token"
            )
        # A GPU is not waited for: there, the embedding refuses them.
        outside = types[(types < 0) | (types >= known)] if types.device.type == "cpu" else ()
        if len(outside):
            raise ValueError(
                f"type {outside[0].item()} is none of the types 0 to {known - 1}; give one of them"
            )

    def _check_decode(self, memory: Tensor | None, cache: DecoderCache | None, trace: Trace | None) -> None:
        kind = self.config.kind
        if self.decoder is None:
            raise ValueError(f"kind={kind!r} has no decoder; call the model itself, or encode")
        if (memory is None) == (kind == "encoder-decoder"):
            remedy = "give memory=model.encode(source)" if memory is None else "leave memory out"
            raise ValueError(f"memory {'missing' if memory is None else 'given'} for kind={kind!r}; {remedy}")
        if trace is not None and cache is not None:
            raise ValueError("trace given with a cache, but a trace shows whole sequences; leave cache out")

    @torch.no_grad()
    def initialise(self, generator: torch.Generator) -> None:
        """Draws the weights of linear maps and embeddings anew and zeroes biases, as a new model has them."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight, generator=generator)
                if module.bias is not None:
                    module.bias.zero_()
            elif isinstance(module, nn.Embedding):
                module.weight.normal_(0.0, self.config.d_model**-0.5, generator=generator)

    def anew(self, seed: int) -> "Transformer":
        """Another model, as `Transformer(config, seed=seed)` makes it, in half of the time. What `initialise`
        draws may be on the device "meta" here, where it takes no memory.
        """
        owners = (module for module in self.modules() if module._parameters)
        if not all(isinstance(each, _FILLED) for each in owners):  # some draw while they are made
            return Transformer(self.config, seed=seed)
        twin = _copied(self)
        twin.initialise(torch.Generator().manual_seed(seed))
        return twin


_FILLED = (nn.Linear, nn.Embedding, nn.LayerNorm, nn.RMSNorm)
"""Modules whose parameters `initialise` draws, or that are the same in every new model."""
Part = TypeVar("Part", bound=nn.Module)


def _value_of(parameter: Tensor) -> Tensor:
    if parameter.is_meta:  # `empty_like` takes twenty times as long of these
        return torch.empty(parameter.shape, dtype=parameter.dtype)
    return parameter.detach().clone()


def _copied(module: Part) -> Part:
    """The same modules with parameters and hooks of their own; `copy.deepcopy` takes ten times as long."""
    twin, parts = object.__new__(type(module)), vars(module)
    own: dict[str, Any] = {name: type(each)() for name, each in parts.items() if "_hooks" in name}
    own["_buffers"] = copy(module._buffers)
    own["_parameters"] = {
        name: each if each is None else nn.Parameter(_value_of(each))
        for name, each in module._parameters.items()
    }
    own["_modules"] = {
        name: each if each is None else _copied(each) for name, each in module._modules.items()
    }
    vars(twin).update(parts | own)
    return twin
