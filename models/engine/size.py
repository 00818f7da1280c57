"""How large a model is, by formula: the numbers it has, and those that a forward pass keeps."""

from collections.abc import Sequence
from typing import NamedTuple

from ..config import ModelConfig
from .positions import POSITIONS, has_bias
from .trace import GLOSSARY

FLOAT_BYTES = 4
CELL = 400
"""Operations as long as which writing a cell of a trace takes, and measuring it."""


class Parameters(NamedTuple):
    """The parameters of a model by what they are for; `output` is 0 where it shares the embedding."""

    embedding: int
    positions: int
    attention: int
    feed_forward: int
    norms: int
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
    last_norms = norm_parameters(config) * n_stacks * (config.norm == "pre")
    a_norm, transforms = d * (1 + config.bias), config.output_transform
    return Parameters(
        embedding=embedding,
        positions=n_stacks * POSITIONS[config.positions].n_parameters(config),
        attention=(n_layers + n_crossing) * attention_parameters(config),
        feed_forward=n_layers * feed_forward_parameters(config),
        norms=n_sublayers * norm_parameters(config) + last_norms + a_norm * n_stacks * config.embedding_norm,
        output=d * config.output_vocab_size * (not config.tied_embeddings)
        + transforms * (config.output_vocab_size + d * (d + config.bias) + a_norm),
    )


def attention_parameters(config: ModelConfig) -> int:
    """W_Q, W_K, W_V [d_model, n_heads * d_head], W_O [n_heads * d_head, d_model], and their biases."""
    width = config.n_heads * config.head_size
    return 4 * config.d_model * width + config.bias * (3 * width + config.d_model)


def feed_forward_parameters(config: ModelConfig) -> int:
    """[d_model, d_ff] and [d_ff, d_model], and their biases; 0 where the network is left out."""
    if not config.feed_forward:
        return 0
    return 2 * config.d_model * config.ff_size + config.bias * (config.ff_size + config.d_model)


def norm_parameters(config: ModelConfig) -> int:
    """One norm: a gain for every channel, and a bias; 0 without norm."""
    return config.d_model * (1 + config.bias) * (config.norm != "none")


def trace_operations(config: ModelConfig, lengths: Sequence[int]) -> int:
    """The arithmetic of a traced forward pass over one example, in floating-point operations; `lengths` in
    positions, one a stack.

    A trace also writes every cell of every head several times (scores, pattern, what is measured of them),
    which takes as long as `CELL` operations; where positions look at content, too, twice as much again.
    """
    width, d = config.n_heads * config.head_size, config.d_model
    cell = config.n_heads * (4 * config.head_size + CELL)
    own = config.n_heads * (8 * config.head_size + 3 * CELL) if keeps_bias(config) else cell
    total = 0
    for stack, n in zip(config.stacks, lengths, strict=True):
        crossing = stack == "decoder" and len(config.stacks) == 2
        read = lengths[0] * crossing
        weights = 4 * d * width + 2 * d * config.ff_size * config.feed_forward
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
    n_ff = 1 + (config.activation != "relu") + 2 * bool(config.dropout)
    per_layer = 0.0
    for stack, length in zip(config.stacks, lengths, strict=True):
        crossing = stack == "decoder" and len(config.stacks) == 2
        n_sublayers = 1 + crossing + config.feed_forward
        numbers = n_sublayers * (1 + (config.norm != "none")) * config.d_model
        numbers += 5 * heads * (1 + crossing) + n_ff * config.ff_size
        numbers += 2 * config.d_model * bool(config.dropout)
        written_out = 3 * bool(config.dropout) + 3 * keeps_bias(config) + (config.normalizer == "sigmoid")
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
    names, biased = [], has_bias(config.positions)
    for stack in config.stacks:
        has_cross = config.kind == "encoder-decoder" and stack == "decoder"
        per_stack = [e.address for e in GLOSSARY if e.address.startswith("{stack}")]
        per_layer = [a for a in per_stack if "{layer}" in a and (has_cross or "cross" not in a)]
        per_layer = [a for a in per_layer if biased or not a.endswith(".bias")]
        per_layer = [a for a in per_layer if config.feed_forward or ".ff." not in a]
        names.append(f"{stack}.embed")
        names += [a.format(stack=stack, layer=layer) for layer in range(config.n_layers) for a in per_layer]
        names.append(f"{stack}.norm")
    return [*names, "logits"]
