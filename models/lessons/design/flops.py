"""Operations and bytes of a whole model, by formula.

A multiplication and an addition count as two. Only matrix products are counted, as PyTorch's FlopCounterMode
does: every query with every key, whether a mask hides it or not. Softmax, norms, biases, looked-up embeddings
and what Transformer-XL's positions multiply are left out.
"""

from typing import NamedTuple

from models.config import ModelConfig
from models.engine.size import FLOAT_BYTES, activation_bytes, count_parameters
from models.lessons.heads import cost


class Flops(NamedTuple):
    """Operations of a forward pass by what they are for; `pairs`: scores and mixing, every q with every k."""

    projections: int
    pairs: int
    feed_forward: int
    output: int

    @property
    def total(self) -> int:
        return sum(self)


def forward(config: ModelConfig, t: int) -> Flops:
    """A forward pass over one sequence of t tokens; an encoder-decoder reads t and writes t."""
    n_stacks = len(config.stacks)
    n_attending = config.n_layers * (3 if n_stacks == 2 else 1)  # encoder, decoder, and across
    width = config.n_heads * config.head_size
    attention = cost.flops(config.n_heads, config.d_model, config.head_size, t)
    pairs = 2 * 2 * t * t * width
    return Flops(
        projections=n_attending * (attention - pairs),
        pairs=n_attending * pairs,
        feed_forward=n_stacks * config.n_layers * 2 * 2 * t * config.d_model * config.ff_size,
        output=2 * t * config.d_model * config.output_vocab_size,
    )


def training(config: ModelConfig, t: int) -> int:
    """Forward and backward: the backward pass multiplies twice as often, for inputs and for weights."""
    return 3 * forward(config, t).total


def kaplan_parameters(config: ModelConfig) -> int:
    """N = 2 d_model n_layer (2 d_attn + d_ff), no embeddings, no biases (Kaplan et al. 2020, eq. 2.1)."""
    width = config.n_heads * config.head_size
    return 2 * config.d_model * config.n_layers * (2 * width + config.ff_size)


def kaplan_forward(config: ModelConfig, t: int) -> int:
    """A decoder: 2 N + 2 n_layer n_ctx d_attn operations per token (Kaplan et al. 2020, table 1, eq. 2.2)."""
    width = config.n_heads * config.head_size
    return 2 * kaplan_parameters(config) + 2 * config.n_layers * t * width


class TrainingMemory(NamedTuple):
    """Bytes in float32; `moments` are Adam's two running means (Kingma and Ba 2015, algorithm 1)."""

    weights: int
    gradients: int
    moments: int
    activations: int

    @property
    def total(self) -> int:
        return sum(self)


def training_memory(config: ModelConfig, n_sequences: int, t: int) -> TrainingMemory:
    """What training holds for a batch of sequences of t tokens; attention is fused, as in the engine."""
    weights = FLOAT_BYTES * count_parameters(config).total
    lengths = [t] * len(config.stacks)
    return TrainingMemory(weights, weights, 2 * weights, activation_bytes(config, lengths, n_sequences))


def cache_bytes(config: ModelConfig, n_sequences: int, t: int) -> int:
    """The key-value cache of decoding, in float32: t keys and values for each head and layer.

    An encoder-decoder keeps those of its memory, of t tokens, too. Without a decoder there is none: 0.
    """
    if "decoder" not in config.stacks:
        return 0
    width = config.n_heads * config.head_size
    return len(config.stacks) * config.n_layers * 2 * n_sequences * t * width * FLOAT_BYTES
