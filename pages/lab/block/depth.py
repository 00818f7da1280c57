"""Activations and gradients, layer by layer, in stacks of 1 to 48 layers that nobody has trained yet.

Xiong et al. 2020, On Layer Normalization in the Transformer Architecture: at initialisation the gradient of
the last layer's W_2 is O(d sqrt(ln d)) with post-norm whatever the depth L, and O(d sqrt(ln d / L)) with
pre-norm (theorem 1); large gradients are why post-norm needs a learning rate that warms up.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from attention_lab.models.config import Activation, ModelConfig, Norm
from attention_lab.models.engine.transformer import Layer, Stack, Transformer
from attention_lab.pages.lab.block.inputs import DEPTHS, SWITCHES, Inputs
from attention_lab.pages.lab.lesson import Answer, Lesson, Shape, part
from attention_lab.pages.shared import cache
from attention_lab.viz_core.boards import Colour, Curves, Line, Scrub
from attention_lab.viz_core.labels import short

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
    gradients = torch.autograd.grad(torch.stack(losses).sum(), [*stream, *written])
    to_stream, to_written = gradients[: len(stream)], gradients[len(stream) :]
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


def _table(columns: Sequence[Tensor], n_depths: int) -> Tensor:
    """[depth, column]: a column has numbers of the deepest stacks, and NaN for those that end before it."""
    table = torch.full((n_depths, len(columns)), torch.nan, dtype=torch.float64)
    for at, column in enumerate(columns):
        table[n_depths - len(column) :, at] = column
    return table


SMALLEST, ROUNDING = 1e-30, 1e-14


def lesson(inputs: Inputs) -> Lesson:
    norm, activation = cast(Any, inputs.norm), cast(Any, inputs.activation)
    chosen = Switches(inputs.residual, norm, inputs.ff, activation)
    signals = measure(_model(chosen), inputs.seed)
    n, d, width = N_TOKENS, D_MODEL, chosen.ff * D_MODEL
    matrix, axes, sizes = ("W_2", "d_ff", (width, d)) if chosen.ff else ("W_O", "h · d_head", (d, d))
    layers = np.arange(DEPTHS[-1] + 1, dtype=float)
    of_weights = np.pad(signals.weights.numpy(), ((0, 0), (1, 0)), constant_values=np.nan)
    last = _of_last_layer(signals)
    lengths = {"length": signals.lengths.numpy()}
    gradients = {"of the stream": signals.stream.numpy(), f"of {matrix}": of_weights}
    last_gradients = {"measured": last, "as 1/√L": last[0] / np.sqrt(DEPTHS)}
    depths = np.array(DEPTHS, dtype=float)
    return Lesson(
        rows=[
            [
                _curves("length of the stream's vectors", lengths, x=layers, x_label="after layer"),
                _curves("norm of the gradient", gradients, x=layers, x_label="layer"),
            ],
            [
                _curves(
                    "how much tokens differ, as a share of their size", {"share": signals.apart.numpy()},
                    x=layers, x_label="after layer",
                ),
                _curves(
                    f"gradient of the last layer's {matrix}", last_gradients, x=depths, at=depths,
                    log_x=True, x_label="layers in the stack",
                ),
            ],
        ],
        notice=[_notice(signals, chosen, at) for at in range(len(DEPTHS))],
        scrub=Scrub("depth", "layers", np.array(DEPTHS), speed=2),
        sizes=rf"n={n},\; d_{{model}}={d},\; d_{{ff}}={width},\; h={N_HEADS}",
        shapes=(
            Shape("x_l", "stack, token, d_model", (len(DEPTHS), n, d)),
            Shape(r"\partial\mathcal{L}/\partial x_l", "stack, token, d_model", (len(DEPTHS), n, d)),
            Shape(rf"\partial\mathcal{{L}}/\partial {matrix}", f"stack, {axes}, d_model", (11, *sizes)),
            Shape(r"\mathrm{logits}", "token, word", (n, VOCABULARY)),
        ),
        code=(
            measure, config_of, last_matrix, apart, sentence,
            Transformer.initialise, Layer._before, Layer._after,
        ),
    )  # fmt: skip


@cache.kept(cache.models, lambda model: sum(parameter.nbytes for parameter in model.parameters()))
def _model(chosen: Switches) -> Transformer:
    """The deepest stack, kept because building it takes as long as measuring it; seeds redraw its weights."""
    return deep_model(chosen)


def _curves(title: str, lines: dict[str, np.ndarray], **axes: Any) -> Curves:
    """On an axis of whole powers of ten around all numbers, at least two."""
    values = np.concatenate([y.ravel() for y in lines.values()])
    drawable = values[np.isfinite(values) & (values > SMALLEST)]
    low, high = np.floor(np.log10(drawable.min())), np.ceil(np.log10(drawable.max()))
    colours: tuple[Colour, ...] = ("accent", "muted")
    return Curves(
        title=title, log_y=True, y_range=(float(10 ** min(low, high - 2)), float(10**high)),
        lines=[
            Line(y, name, colour, dashed=colour == "muted")
            for (name, y), colour in zip(lines.items(), colours, strict=False)
        ],
        **axes,
    )  # fmt: skip


def _of_last_layer(signals: Signals) -> np.ndarray:
    """[depth]: the gradient of the last matrix in the last layer of each stack."""
    return np.array([signals.weights[at, depth - 1].item() for at, depth in enumerate(DEPTHS)])


def _notice(signals: Signals, chosen: Switches, at: int) -> str:
    depth, last = DEPTHS[at], _of_last_layer(signals)
    longer = (signals.lengths[at, depth] / signals.lengths[at, 0]).item()
    back = (signals.stream[at, 0] / signals.stream[at, depth]).item()
    share, differ = last[at] / last[0], signals.apart[at, depth].item()
    layers = f"{depth} layer{'s' * (depth > 1)}"
    passed = f"Through {layers}, vectors scale by **{short(longer)}**, gradients by **{short(back)}**"
    if chosen.norm == "none":
        how = (
            "each layer adds in proportion, and scores grow as its square"
            if chosen.residual
            else "each layer shrinks what passes"
        )
        return f"{passed}: {how}."
    if not chosen.residual:
        difference = short(differ) if differ > ROUNDING else "0, but for rounding,"
        return (
            f"After {layers} tokens differ by **{difference}** of their size: without residual, attention "
            "averages them."
        )
    measured = f"After {layers} the last matrix gets **{share:.2f}** of a single layer's gradient"
    if chosen.norm == "pre":
        return f"{measured}; 1/√{depth} is {depth**-0.5:.2f}."
    return f"{measured}, at any depth: the reason for warm-up."


def questions() -> tuple[Answer, ...]:
    pre, post, bare = (
        measure(_model(Switches(**fields)), seed=0)
        for fields in ({}, {"norm": "post"}, {"norm": "none", "residual": False})
    )
    post_sizes, pre_sizes = (_of_last_layer(signals) for signals in (post, pre))
    reached = (bare.stream[-1, 0] / bare.stream[-1, -1]).item()
    apart, alike = (signals.apart[-1, -1].item() for signals in (pre, post))
    choices = {"all of it": 1.0, "about a hundredth": 1e-2, "less than a billionth": 1e-15}
    nearest = min(choices.values(), key=lambda size: abs(np.log10(size / reached)))
    return (
        Answer.of(list(choices.values()).index(nearest), options=tuple(choices), reached=reached),
        Answer.of(
            0 if post_sizes[-1] / post_sizes[0] > 0.5 > pre_sizes[-1] / pre_sizes[0] else 2,
            post_share=post_sizes[-1] / post_sizes[0],
            pre_share=pre_sizes[-1] / pre_sizes[0],
            expected=48**-0.5,
        ),
        Answer.of(2 if apart > 0.1 > alike else 1, apart=apart, alike=alike),
    )


PART = part(__name__, SWITCHES, lesson, questions, scrub="depth")
