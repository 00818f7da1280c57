"""One layer step by step: what is on the residual stream at every point between embedding and output.

Vaswani et al. 2017, 3.1 and 3.3 (post-norm); Xiong et al. 2020, figure 1 (pre-norm).
"""

from collections.abc import Callable
from typing import NamedTuple, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from models.engine.layers import Layer
from models.engine.trace import Trace, within
from models.lessons.known_words import check_known
from models.zoo.engine_model import Translator, UntrainedModel

Vectors = Float[Tensor, "token d_model"]


class Block(NamedTuple):
    """A layer, and the vectors that enter it: one for each token."""

    tokens: list[str]
    layer: Layer
    x: Vectors


class Point(NamedTuple):
    """The vectors at one place of a layer.

    kind: "stream" (what enters), "norm", "attention", "feed-forward" (what it writes), or "add".
    """

    kind: str
    x: Vectors


class Walk(NamedTuple):
    """All points in the order of computation, and the feed-forward's hidden layer, if it has one."""

    points: list[Point]
    hidden: Float[Tensor, "token d_ff"] | None


def of_untrained(model: UntrainedModel, text: str) -> Block:
    """The first layer of a model with random weights. Raises ValueError for a text it cannot read."""
    trace = model.trace(text)
    assert model.model.encoder is not None
    layer = cast(Layer, model.model.encoder.layers[0])
    return Block(trace.tokens["encoder"], layer, trace["encoder.0.resid_pre"])


def of_translator(translator: Translator, text: str, number: int) -> Block:
    """A layer of the trained encoder. Raises ValueError for a text with a word that it does not know."""
    check_known(translator.task.encode_source(text).unknown, len(translator.task.words))
    trace = translator.trace(translator.task.read(text, direction="en-fr"))
    assert translator.model.encoder is not None
    layer = cast(Layer, translator.model.encoder.layers[number])
    return Block(trace.tokens["encoder"], layer, trace[f"encoder.{number}.resid_pre"])


@torch.no_grad()
def walk(layer: Layer, x: Vectors) -> Walk:
    """Runs the layer's own modules one after the other and keeps what each returns.

    Positions that act inside attention (rotary, ALiBi, ...) are not applied, so use sinusoidal ones.
    """
    points, trace = [Point("stream", x)], Trace()

    def attend(h: Vectors) -> Vectors:
        return layer.self_attention(h[None], h[None])[0]

    sublayer(layer, "attention", attend, layer.self_norm, points)
    if layer.feed_forward is None or layer.ff_norm is None:
        return Walk(points, None)
    network = layer.feed_forward

    def feed(h: Vectors) -> Vectors:
        return network(h[None], trace=within(trace, "ff"))[0]

    sublayer(layer, "feed-forward", feed, layer.ff_norm, points)
    return Walk(points, trace["ff.post"])


def sublayer(
    layer: Layer, kind: str, compute: Callable[[Vectors], Vectors], norm: nn.Module, points: list[Point]
) -> None:
    """x + f(norm(x)), norm(x + f(x)), or what is left of them without norm or residual."""
    x = points[-1].x
    normed = not isinstance(norm, nn.Identity)
    if normed and layer.pre_norm:
        points.append(Point("norm", norm(x)))
    points.append(Point(kind, compute(points[-1].x)))
    if layer.residual:
        points.append(Point("add", x + points[-1].x))
    if normed and not layer.pre_norm:
        points.append(Point("norm", norm(points[-1].x)))


def token_statistics(x: Vectors) -> Float[Tensor, "token 3"]:
    """Mean, standard deviation (over n, as a norm takes it) and Euclidean length of each token's channels."""
    return torch.stack([x.mean(-1), x.std(-1, correction=0), x.norm(dim=-1)], dim=-1)


def share_of_zeros(hidden: Float[Tensor, "token d_ff"]) -> float:
    """How much of a hidden layer is exactly 0, as relu leaves it."""
    return (hidden == 0).double().mean().item()


def mean_length(x: Vectors) -> float:
    """Mean over tokens of the Euclidean length."""
    return x.norm(dim=-1).mean().item()
