"""How large a model is, by formula: the numbers it has, and those that a forward pass keeps."""

from collections.abc import Sequence
from typing import NamedTuple

from ..config import ModelConfig
from .normalizers import NORMALIZERS
from .positions import POSITIONS, has_bias
from .trace import GLOSSARY

FLOAT_BYTES = 4
WRITTEN = {"softmax": 1, "sigmoid": 1, "softpick": 5, "scalable-softmax": 4}
"""How often training keeps a cell of the scores, where it writes them out."""
CELL = 400
"""Operations as long as which writing a cell of a trace takes, and measuring it."""


class Parameters(NamedTuple):
    """The parameters of a model by what they are for; `output` is 0 where it shares the embedding."""

    embedding: int
    positions: int
    attention: int
    feed_forward: int
    norms: int  # and what mixes sublayers over depth
    output: int

    @property
    def total(self) -> int:
        return sum(self)


def count_parameters(config: ModelConfig) -> Parameters:
    """The numbers that training changes, by what the config says of each part.

    Building the model on "meta" would say the same, but takes PyTorch seconds the first time.
    """
    d, n_stacks = config.d_model, len(config.stacks)
    n_layers = n_stacks * config.n_layers
    n_crossing = config.n_layers * (n_stacks == 2)  # the decoder's layers then attend twice
    n_sublayers = n_layers * (1 + config.feed_forward) + n_crossing
    embedding = d * (config.vocab_size if config.input_channels is None else config.input_channels + 1)
    embedding += d * config.output_vocab_size * (config.target_vocab_size is not None)
    embedding += d * (config.token_types or 0)
    transforms, ends = config.output_transform, config.norm in ("pre", "after", "both")
    n_norms = n_sublayers * (config.norm != "none") * (1 + (config.norm == "both"))
    n_norms += n_stacks * (config.embedding_norm + ends)
    n_mixed = n_stacks * (config.n_layers - 1) * config.value_residual  # of values with the first layer's
    return Parameters(
        embedding=embedding,
        positions=n_stacks * POSITIONS[config.positions].n_parameters(config),
        attention=(n_layers + n_crossing) * attention_parameters(config) + 2 * n_mixed,
        feed_forward=n_layers * feed_forward_parameters(config),
        norms=n_norms * channel_norm_parameters(config) + n_sublayers * d * config.depth_attention,
        output=d * config.output_vocab_size * (not config.tied_embeddings)
        + transforms * (config.output_vocab_size + d * (d + config.bias) + channel_norm_parameters(config)),
    )


def attention_parameters(config: ModelConfig) -> int:
    """W_Q, W_K, W_V and W_O with their biases, and what the config adds: a latent vector and its norm, norms
    of queries and keys, a gate, what the normalizer learns, and the four vectors of a difference of heads.
    """
    d_head, latent = config.head_size, config.d_latent or 0
    width, key_width = config.n_heads * d_head, config.key_heads * d_head
    biases = width + 2 * key_width + config.d_model + latent + _gates(config)
    norms = latent + {"none": 0, "head": 2 * d_head, "all": width + key_width}[config.qk_norm]
    learnt = NORMALIZERS[config.normalizer].n_parameters(config)
    return (
        attention_weights(config) + config.bias * biases + norms + learnt + 4 * d_head * config.differential
    )


def _gates(config: ModelConfig) -> int:
    """How many numbers open and close the heads of one attention."""
    per_head = {"none": 0, "head": 1, "channel": config.head_size}[config.head_gate]
    return config.n_heads * per_head


def feed_forward_parameters(config: ModelConfig) -> int:
    """[d_model, d_ff] once, or twice where it is gated, [d_ff, d_model], and their biases, of each expert,
    and the router; 0 without.
    """
    if not config.feed_forward:
        return 0
    into = config.ff_size * (config.d_model + config.bias) * (1 + config.gated)
    n_experts = config.n_experts or 0
    router = n_experts * (config.d_model + config.bias)
    return into + config.d_model * (config.ff_size + config.bias * max(1, n_experts)) + router


def norm_parameters(config: ModelConfig) -> int:
    """One norm of a sublayer: a gain for every channel, and a bias where there is one; 0 without norm."""
    return channel_norm_parameters(config) * (config.norm != "none")


def channel_norm_parameters(config: ModelConfig) -> int:
    """A norm of d_model channels."""
    return config.d_model * (1 + (config.bias and config.norm_type == "layer"))


def attention_weights(config: ModelConfig) -> int:
    """The numbers of one attention's matrices: a position costs two operations for each."""
    d, latent = config.d_model, config.d_latent
    width, key_width = config.n_heads * config.head_size, config.key_heads * config.head_size
    return 2 * key_width * (latent or d) + d * (2 * width + (latent or 0) + _gates(config))


def cache_bytes(config: ModelConfig, n_sequences: int, t: int) -> int:
    """The key-value cache of decoding, in float32: t keys and values for each head of them and layer, or the
    latent vectors that they are made of.

    An encoder-decoder keeps those of its memory, of t tokens, too. Without a decoder there is none: 0.
    """
    if "decoder" not in config.stacks:
        return 0
    a_position = config.d_latent or 2 * config.key_heads * config.head_size
    return len(config.stacks) * config.n_layers * n_sequences * t * a_position * FLOAT_BYTES


def trace_operations(config: ModelConfig, lengths: Sequence[int]) -> int:
    """The arithmetic of a traced forward pass over one example, in floating-point operations; `lengths` in
    positions, one a stack.

    A trace also writes every cell of every head several times (scores, pattern, what is measured of them),
    which takes as long as `CELL` operations; where positions look at content, too, twice as much again.
    """
    width, d = config.n_heads * config.head_size, config.d_model
    mixing = 2 * (1 + config.differential) * config.head_size  # the values of a pair are twice as wide
    cell = config.n_heads * (2 * config.head_size + mixing + CELL)
    own = config.n_heads * (6 * config.head_size + mixing + 3 * CELL) if keeps_bias(config) else cell
    total = 0
    for stack, n in zip(config.stacks, lengths, strict=True):
        crossing = stack == "decoder" and len(config.stacks) == 2
        read = lengths[0] * crossing
        weights = attention_weights(config) + (2 + config.gated) * d * config.ff_size
        products = weights * n + 2 * d * width * (n * crossing + read)
        total += config.n_layers * (2 * products + n * (n * own + read * cell))
    return total + 2 * lengths[-1] * d * (config.output_vocab_size + d * config.output_transform)


def keeps_bias(config: ModelConfig) -> bool:
    """Whether its positions make scores of their own from what was read."""
    return POSITIONS[config.positions].keeps_bias


def activation_bytes(
    config: ModelConfig,
    lengths: Sequence[int],
    n_examples: int,
    *,
    recompute: bool = False,
    half: bool = False,
) -> int:
    """What a forward pass keeps for the backward pass, in bytes; `lengths` in positions, one a stack.

    Per position and layer: the stream before and after each norm, q, k and v, the heads' answers
    before and after they are put side by side, and the feed-forward network after its activation (before it,
    too, but for relu). Dropout keeps what it dropped, and with it the scores are written out, three times;
    with a bias that the positions keep, too. Per position of the output: three times the logits. `recompute`
    keeps one layer at a time, and the stream at each; `half` is autocast, where norms and sums stay float32.
    """
    heads = config.n_heads * config.head_size
    of_heads = heads * (5 + 2 * (config.qk_norm != "none") + 3 * config.exclusive)
    of_heads += 2 * heads * (config.head_gate != "none") + 2 * (config.d_latent or 0)
    of_heads += 6 * heads * config.differential
    n_ff = 1 + (config.activation != "relu") + 2 * bool(config.dropout) + 2 * config.gated
    n_ff += (config.n_experts is not None) + (1 + config.gated) * (config.ff_limit is not None)
    fused = NORMALIZERS[config.normalizer].fused and config.score_cap is None
    written = WRITTEN.get(config.normalizer, 2) + 2 * (config.score_cap is not None)
    per_layer = 0.0
    for stack, length in zip(config.stacks, lengths, strict=True):
        crossing = stack == "decoder" and len(config.stacks) == 2
        n_sublayers = 1 + crossing + config.feed_forward
        n_normed = (config.norm != "none") + (config.norm == "both")
        numbers = n_sublayers * (1 + n_normed + config.depth_attention) * config.d_model
        numbers += of_heads * (1 + crossing) + n_ff * config.ff_size
        numbers += 2 * config.d_model * bool(config.dropout)
        written_out = 3 * bool(config.dropout) + 3 * keeps_bias(config) + (not fused) * written
        scores = config.n_heads * (length + lengths[0] * crossing)
        per_layer += length * (numbers + written_out * scores)
    n_kept = 1 if recompute else config.n_layers
    n_streams = 3 + config.n_layers * recompute  # embedding, last norm
    stream = sum(lengths) * config.d_model * n_streams
    outputs = 3 * config.output_vocab_size * (lengths[-1] if config.pooling == "none" else 1)
    inner = per_layer * n_kept * (0.6 if half else 1.0)
    return round(n_examples * FLOAT_BYTES * (inner + stream + outputs))


def addresses(config: ModelConfig) -> list[str]:
    """The addresses that a forward pass of such a model records, in the glossary's order, stack by stack."""
    names, biased, every = [], has_bias(config.positions), config.positionless_every
    for stack in config.stacks:
        has_cross = config.kind == "encoder-decoder" and stack == "decoder"
        per_stack = [e.address for e in GLOSSARY if e.address.startswith("{stack}")]
        per_layer = [a for a in per_stack if "{layer}" in a and (has_cross or "cross" not in a)]
        per_layer = [a for a in per_layer if config.feed_forward or ".ff." not in a]
        per_layer = [a for a in per_layer if config.gated or not a.endswith(".ff.gated")]
        per_layer = [a for a in per_layer if config.n_experts or not a.endswith(".ff.experts")]
        gates = config.head_gate != "none" or config.differential
        paired = () if config.differential else (".lambda", ".difference")
        mixed = () if config.depth_attention else (".depth",)
        per_layer = [a for a in per_layer if not a.endswith((*paired, *mixed))]
        changed = {"self": gates or config.exclusive, "cross": gates}
        per_layer = [a for a in per_layer if not a.endswith("head_out") or changed[a.split(".")[2]]]
        names.append(f"{stack}.embed")
        for layer in range(config.n_layers):
            placed = biased and not (every and (layer + 1) % every == 0)
            own = [a for a in per_layer if placed or not a.endswith(".bias")]
            names += [a.format(stack=stack, layer=layer) for a in own]
        names.append(f"{stack}.norm")
    return [*names, "logits"]


def operations_of_token(config: ModelConfig, length: int) -> float:
    """Floating-point operations of training on one of `length` positions, forward and backward: 6 for each
    weight, and 12 for each layer, channel of its heads and key (Chowdhery et al. 2022, appendix B).
    """
    crossing = 1.3 if len(config.stacks) == 2 else 1.0  # positions of the decoder attend twice
    layers = crossing * config.n_layers * operations_of_layer(config, length)
    return layers + 6.0 * config.d_model * config.output_vocab_size


def operations_of_layer(config: ModelConfig, length: int) -> float:
    """The same of one layer alone."""
    heads = config.n_heads * config.head_size
    feeding = (2 + config.gated) * config.d_model * config.ff_size
    return 6.0 * (attention_weights(config) + feeding + (2 + config.differential) * heads * length)
