"""Activations and gradients, layer by layer, in stacks of 1 to 48 layers that nobody has trained yet.

Xiong et al. 2020, On Layer Normalization in the Transformer Architecture: at initialisation the gradient of
the last layer's W_2 is O(d sqrt(ln d)) with post-norm whatever the depth L, and O(d sqrt(ln d / L)) with
pre-norm (theorem 1); large gradients are why post-norm needs a learning rate that warms up.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from models.config import Activation, ModelConfig, Norm
from models.engine.layers import Layer, Stack
from models.engine.transformer import Transformer

DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
D_MODEL, N_HEADS, VOCABULARY, N_TOKENS = 32, 2, 64, 16


class Switches(NamedTuple):
    """What a layer is made of; `ff` is the feed-forward's width over d_model; 0 leaves it out."""

    residual: bool = True
    norm: Norm = "pre"
    ff: int = 4
    activation: Activation = "relu"


class Signals(NamedTuple):
    """What is measured in a stack of each depth, NaN where a stack is not that deep.

    Entry i of the stream enters layer i; the last entry leaves the stack. lengths: mean over tokens of the
    Euclidean norm. apart: how much of the stream differs between tokens, 1 to 0. stream, weights: norms of
    the loss's gradient, taken over the whole stream there, and over all entries of a layer's last matrix.
    """

    lengths: Float[Tensor, "depth boundary"]
    apart: Float[Tensor, "depth boundary"]
    stream: Float[Tensor, "depth boundary"]
    weights: Float[Tensor, "depth layer"]
    losses: Float[Tensor, "depth"]


def deep_model(switches: Switches, *, n_layers: int = DEPTHS[-1]) -> Transformer:
    """A stack as deep as the deepest, in double precision; `initialise` draws its weights."""
    return Transformer(config_of(switches, n_layers), seed=0).double()


def config_of(switches: Switches, n_layers: int) -> ModelConfig:
    """An encoder without positions that predicts one of 64 words at each of 16 tokens."""
    return ModelConfig(
        kind="encoder-only",
        n_layers=n_layers,
        n_heads=N_HEADS,
        d_model=D_MODEL,
        d_ff=D_MODEL * switches.ff or None,
        vocab_size=VOCABULARY,
        max_len=N_TOKENS,
        activation=switches.activation,
        norm=switches.norm,
        residual=switches.residual,
        feed_forward=switches.ff > 0,
        positions="none",
        tied_embeddings=False,
        pad_id=None,
    )


def sentence(seed: int) -> tuple[Int[Tensor, "position"], Int[Tensor, "position"]]:
    """Random words to read, and random words to predict."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(VOCABULARY, (2, N_TOKENS), generator=generator)
    return ids[0], ids[1]


def measure(model: Transformer, seed: int, depths: Sequence[int] = DEPTHS) -> Signals:
    """Signals of stacks of all `depths`, ascending, from one pass through the deepest.

    The stack of depth L is made of the model's first L layers, its last norm and its output layer: weights of
    all layers are drawn alike, so each is what a new model of that depth would be. All stacks run side by
    side as rows of a batch, and each leaves it at its own depth, so that the gradients of their losses do not
    mix.
    """
    model.initialise(torch.Generator().manual_seed(seed))
    ids, targets = sentence(seed)
    x = (model.embedding(ids) * D_MODEL**0.5).expand(len(depths), -1, -1)  # [depth, position, channel]
    stream, losses = [x], []
    with _watched(model) as products:
        for number, layer in enumerate(_stack(model).layers, start=1):
            x = layer(x)
            stream.append(x)
            if number in depths:  # the shallowest stack that still runs
                logits = model.unembed(_stack(model).norm(x[0]))  # [position, word]
                losses.append(F.cross_entropy(logits, targets))
                x = x[1:]
    written = [output for _, output in products]
    to_stream, to_written = _split(
        torch.autograd.grad(torch.stack(losses).sum(), [*stream, *written]), len(stream)
    )
    to_weights = [g.mT @ read for g, (read, _) in zip(to_written, products, strict=True)]  # [depth, out, in]
    return Signals(
        _table([s.detach().norm(dim=-1).mean(dim=-1) for s in stream], len(depths)),
        _table([apart(s.detach()) for s in stream], len(depths)),
        _table([g.flatten(1).norm(dim=-1) for g in to_stream], len(depths)),
        _table([g.flatten(1).norm(dim=-1).detach() for g in to_weights], len(depths)),
        torch.stack(losses).detach(),
    )


def last_matrix(layer: Layer) -> nn.Linear:
    """W_2 of the feed-forward network, the matrix of Xiong et al.'s theorem 1; without the network, W_O."""
    return layer.self_attention.out_proj if layer.feed_forward is None else layer.feed_forward.linear_out


def apart(x: Float[Tensor, "*batch token d_model"]) -> Float[Tensor, "*batch"]:
    """What is left of the vectors without their mean over tokens, as a share of all: 0 where all are alike.

    Dong et al. 2021, Attention is not all you need, section 2: without skip connections it falls with depth.
    """
    return (x - x.mean(dim=-2, keepdim=True)).flatten(-2).norm(dim=-1) / x.flatten(-2).norm(dim=-1)


def _stack(model: Transformer) -> Stack:
    assert model.encoder is not None
    return model.encoder


@contextmanager
def _watched(model: Transformer) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """Collects what each layer's last matrix reads and writes while the model runs."""
    products: list[tuple[Tensor, Tensor]] = []
    matrices = [last_matrix(cast(Layer, layer)) for layer in _stack(model).layers]
    hooks = [m.register_forward_hook(lambda _, read, out: products.append((read[0], out))) for m in matrices]
    try:
        yield products
    finally:
        for hook in hooks:
            hook.remove()


def _split(tensors: Sequence[Tensor], at: int) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    return tensors[:at], tensors[at:]


def _table(columns: Sequence[Tensor], n_depths: int) -> Tensor:
    """[depth, column]: a column has numbers of the deepest stacks, and NaN for those that end before it."""
    table = torch.full((n_depths, len(columns)), torch.nan, dtype=torch.float64)
    for at, column in enumerate(columns):
        table[n_depths - len(column) :, at] = column
    return table
