"""One layer step by step: what is on the residual stream at every point between embedding and output.

Vaswani et al. 2017, 3.1 and 3.3 (post-norm); Xiong et al. 2020, figure 1 (pre-norm).
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention_lab.models.config import ModelConfig
from attention_lab.models.data.tasks import Reading
from attention_lab.models.engine.depth import check_adds
from attention_lab.models.engine.feed_forward import FeedForward
from attention_lab.models.engine.trace import Trace, within
from attention_lab.models.engine.transformer import Layer
from attention_lab.models.zoo.engine_model import UntrainedModel
from attention_lab.models.zoo.model import Model
from attention_lab.pages.lab import any_model
from attention_lab.pages.lab.any_model import ANOTHER, Translator, check_known, check_length
from attention_lab.pages.lab.block.inputs import MAX_WORDS, SWITCHES, TRAINED, Inputs
from attention_lab.pages.lab.lesson import Answer, Lesson, When, part
from attention_lab.pages.shared import cache, on_offer
from attention_lab.pages.shared.phrases import distinct, numbered, plain
from attention_lab.viz_core.boards import Diagram, Fact, Facts, Matrix, Node, Scrub
from attention_lab.viz_core.labels import short

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


_ORDER = (
    ("stream", "resid_pre"), ("attention", "self.out"), ("add", "resid_self"), ("cross", "cross.out"),
    ("add", "resid_cross"), ("feed-forward", "ff.out"), ("leaves", "resid_post"),
)  # fmt: skip
WRITES = ("attention", "cross", "feed-forward")
"""The kinds of points that are written onto the stream."""


def of_model(model: Model, reading: Reading, layer: str) -> Walk:
    """The points that a trace holds of a layer, such as "decoder.0", in the order of computation.

    Norms are not among them. Raises ValueError for a model whose stream is not known.
    """
    check_adds(model, model.name)
    addresses = {f"{layer}.{name}" for _, name in _ORDER} | {f"{layer}.ff.post"}
    trace = model.trace(reading, reduce=lambda address, x: x if address in addresses else None)
    tensors = {address.removeprefix(f"{layer}."): trace[address] for address in trace}
    points = [Point(kind, tensors[name].float()) for kind, name in _ORDER if name in tensors]
    if not {"resid_pre", "resid_post"} <= tensors.keys():
        raise ValueError(f"the stream of {model.name!r} is not known; choose another model")
    hidden = tensors.get("ff.post")
    if hidden is not None and len(hidden) != len(points[0].x):  # experts that read some tokens each
        hidden = None
    return Walk(points, hidden)


def summed(walked: Walk) -> Vectors:
    """What enters and all that the layer writes, added up: what leaves, where no norm is on the stream."""
    return torch.stack([p.x for p in walked.points if p.kind in ("stream", *WRITES)]).sum(dim=0)


def is_sum(walked: Walk) -> bool:
    """Whether what leaves is that sum, but for rounding."""
    end = walked.points[-1].x
    return bool((summed(walked) - end).norm() <= 1e-3 * end.norm())


LABELS = {
    "stream": "x enters", "norm": "norm", "attention": "attention", "add": "add",
    "feed-forward": "feed-forward", "cross": "cross-attention", "leaves": "x leaves",
}  # fmt: skip
STREAM, BRANCH = 1, 0
MOST_CHANNELS = 128


def names(walked: Walk) -> list[str]:
    """A name for each point: attention, add 1, norm 2."""
    return numbered([LABELS[point.kind] for point in walked.points])


def diagram(walked: Walk, rows: list[int]) -> Diagram:
    """The stream below, what is computed from it above; the present point is lit, a press leads to others."""
    n = len(walked.points)
    nodes = [
        Node(
            id=str(at), label=name, note=f"‖x‖ = {mean_length(point.x):.1f}", column=at, row=rows[at],
            frame=at,
        )
        for at, (name, point) in enumerate(zip(names(walked), walked.points, strict=True))
    ]  # fmt: skip
    return Diagram(
        nodes=nodes,
        edges=[(str(at), str(to)) for at, to in _edges(walked, rows)],
        levels=np.where(np.eye(n, dtype=bool), 3, 2),
    )


def rows_of(walked: Walk, config: ModelConfig) -> list[int]:
    """Branches stand above the stream; without residual there is only one line."""
    if not config.residual:
        return [BRANCH] * len(walked.points)
    branch = {"attention", "feed-forward", *(("norm",) if config.norm == "pre" else ())}
    return [BRANCH if point.kind in branch else STREAM for point in walked.points]


def _edges(walked: Walk, rows: list[int]) -> list[tuple[int, int]]:
    """Each point comes from the one before; an add also from where its branch left the stream."""
    edges, start = [], 0
    for at in range(1, len(walked.points)):
        edges.append((at - 1, at))
        if walked.points[at].kind in ("add", "leaves") and start != at - 1:
            edges.append((start, at))
        if rows[at] == STREAM:
            start = at
    return edges


def entering_notice(x: Vectors, entering: str) -> str:
    return (
        f"x is {entering}: a vector of {x.shape[1]} channels for each token, on average "
        f"**{mean_length(x):.1f}** long."
    )


def _notice(walked: Walk, at: int, config: ModelConfig) -> str:
    x, kind = walked.points[at].x, walked.points[at].kind
    length = mean_length(x)
    before = mean_length(walked.points[at - 1].x)
    if kind == "norm":
        _, deviation, _ = token_statistics(x).mean(dim=0).tolist()
        lengths = x.norm(dim=-1)
        alike = bool(lengths.max() - lengths.min() < 0.1)
        return (
            f"Rows were {before:.1f} long; now they have deviation **{deviation:.2f}** and length "
            f"**{length:.1f}**{'' if alike else ' on average, since its gains are trained'}."
        )
    if kind == "add":
        branch_start = next(
            start for start, end in _edges(walked, rows_of(walked, config)) if end == at and start != at - 1
        )
        length_there = mean_length(walked.points[branch_start].x)
        return (
            f"The sum keeps what was there ({length_there:.1f} long) and adds {before:.1f}: "
            f"**{length:.1f}** long."
        )
    alone = "" if config.residual else " Without residual, it **replaces** the input."
    if kind == "attention":
        return (
            f"Only attention links tokens: it reads vectors {before:.1f} long and "
            f"writes vectors **{length:.1f}** long.{alone}"
        )
    zeros = share_of_zeros(walked.hidden) if walked.hidden is not None else 0.0
    return (
        f"The feed-forward treats tokens singly: {x.shape[1]} → {config.ff_size} → {x.shape[1]} channels; "
        f"{config.activation} zeroes **{zeros:.0%}**.{alone}"
    )


def tensor(tokens: list[str], walked: Walk) -> Matrix:
    """[frame, token, channel]."""
    values = torch.stack([point.x for point in walked.points]).numpy()
    return _channels("the tensor at this point", values, tokens, "channel")


def hidden(tokens: list[str], walked: Walk, after: str) -> list[Matrix]:
    """[token, hidden unit], where it is known; `after` says what computed it."""
    if walked.hidden is None:
        return []
    title = f"the feed-forward's hidden layer, {after}"
    return [_channels(title, walked.hidden.numpy(), tokens, "hidden unit")]


def _channels(title: str, values: np.ndarray, tokens: list[str], axis: str) -> Matrix:
    n = values.shape[-1]
    cut = f", its first {MOST_CHANNELS} of {n:,} {axis}s" if n > MOST_CHANNELS else ""
    return Matrix(
        title=title + cut, values=values[..., :MOST_CHANNELS], rows=distinct(tokens), row_axis="token",
        column_axis=axis, picture=True,
    )  # fmt: skip


def statistics(tokens: list[str], walked: Walk) -> Matrix:
    """[frame, 3, token]."""
    return Matrix(
        title="each token's channels at this point",
        values=np.stack([token_statistics(point.x).T.numpy() for point in walked.points]), scale="plain",
        digits=1, rows=("mean", "deviation", "length"), columns=distinct(tokens), column_axis="token",
    )  # fmt: skip


MOST_TOKENS = 24
MOST_READ = 128
"""With what the other side of an encoder-decoder reads, which is not drawn."""


def lesson_of_another(inputs: Inputs) -> Lesson:
    read, title = any_model.read(inputs, most=MOST_READ), on_offer.title(inputs.other)
    if len(read.queries) > MOST_TOKENS:
        raise ValueError(
            f"The {read.side} of {title} has {len(read.queries)} tokens; "
            f"{MOST_TOKENS} have room here; shorten the text."
        )
    walked = of_model(read.model, read.reading, f"{read.side}.{inputs.other_layer}")
    rows = [BRANCH if point.kind in WRITES else STREAM for point in walked.points]
    gap = (summed(walked) - walked.points[-1].x).abs().max().item()
    return Lesson(
        variant="another",
        numbers={
            "layer": inputs.other_layer,
            "title": plain(title),
            "side": read.side,
            "sums": "" if any(point.kind == "add" for point in walked.points) else " and the sums between",
            "hidden": "" if walked.hidden is not None else ", nor its feed-forward's hidden layer",
        },
        notice=[_notice_of(walked, place, inputs.other_layer) for place in range(len(walked.points))],
        code=(of_model, summed, is_sum),
        **_board(walked, read.queries, rows, "before its last matrix", gap),
    )


def _board(
    walked: Walk, tokens: list[str], rows: list[int], hidden_after: str, gap: float | None = None
) -> dict[str, Any]:
    """What both lessons show of a layer's points, and its sizes. hidden_after: what made the hidden layer.

    gap: between what leaves and the sum of what entered and was written, where norms are not known.
    """
    n, d_model = walked.points[0].x.shape
    axes = {"token": n, "d_model": d_model}
    facts = [Fact("mean length here", np.array([mean_length(point.x) for point in walked.points]))]
    if gap is not None:
        label = "x enters + all outputs, against x leaves: largest difference"
        facts.append(Fact(label, short(gap)))
    if walked.hidden is not None:
        axes["d_ff"] = walked.hidden.shape[1]
        label = f"of the hidden layer's {walked.hidden.shape[-1]:,} units, exactly 0"
        facts.append(Fact(label, f"{share_of_zeros(walked.hidden):.0%}"))
    return {
        "rows": [
            [diagram(walked, rows)],
            [tensor(tokens, walked), *hidden(tokens, walked, hidden_after)],
            [statistics(tokens, walked), Facts(facts=facts)],
        ],
        "scrub": Scrub("point", "point", np.arange(len(walked.points)), names(walked), speed=1.2),
        "sizes": rf"n={n},\; d_{{model}}={d_model}",
        "axes": axes,
    }


def _notice_of(walked: Walk, at: int, layer: int) -> str:
    point, length = walked.points[at], mean_length(walked.points[at].x)
    if point.kind == "stream":
        entering = f"what layer {layer - 1} leaves" if layer else "the embedding"
        return entering_notice(point.x, entering)
    if point.kind == "leaves" and is_sum(walked):
        return f"What leaves is **{length:.1f}** long: the input and all outputs, added up."
    if point.kind == "leaves":
        return (
            f"What leaves is **{length:.1f}** long, not the plain sum of "
            f"**{mean_length(summed(walked)):.1f}**: a norm or a factor stands on the stream, or after a "
            "branch."
        )
    if point.kind == "add":
        return f"The sum of the stream and what was written last is **{length:.1f}** long."
    beside = f"**{length:.1f}** long, onto a stream that came in {mean_length(walked.points[0].x):.1f} long"
    if point.kind == "feed-forward":
        return f"The feed-forward treats tokens singly and writes vectors {beside}."
    where = "looks into the encoder's memory" if point.kind == "cross" else "lets tokens exchange something"
    return f"Attention {where}. It writes vectors {beside}."


D_MODEL, N_HEADS = 32, 4
ENTERING = {
    "random": "embedding plus position", "layer0": "embedding plus position", "layer1": "what layer 0 leaves",
}  # fmt: skip


def lesson(inputs: Inputs) -> Lesson:
    if inputs.subject == ANOTHER:
        return lesson_of_another(inputs)
    block, config = _block(inputs)
    walked = walk(block.layer, block.x)
    board = _board(walked, block.tokens, rows_of(walked, config), f"after {config.activation}")
    if config.feed_forward:
        board["sizes"] += rf",\; d_{{ff}}={config.ff_size}"
    return Lesson(
        variant="own",
        notice=[
            entering_notice(block.x, ENTERING[inputs.subject]),
            *(_notice(walked, at, config) for at in range(1, len(walked.points))),
        ],
        formula=_formula(config),
        code=(walk, sublayer, Layer.forward, Layer._before, Layer._after, FeedForward.forward),
        **board,
    )


def _block(inputs: Inputs) -> tuple[Block, ModelConfig]:
    """The layer that the inputs choose, with the sentence before it; ValueError where it cannot be read."""
    check_length(len(inputs.text.split()), MAX_WORDS)
    if inputs.subject != "random":
        translator = cache.translator()
        return of_translator(translator, inputs.text, int(inputs.subject[-1])), translator.config
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=N_HEADS, d_model=D_MODEL, d_ff=D_MODEL * inputs.ff or None,
        vocab_size=MAX_WORDS + 1, max_len=MAX_WORDS + UntrainedModel.PADDING, residual=inputs.residual,
        norm=cast(Any, inputs.norm), feed_forward=inputs.ff > 0, activation=cast(Any, inputs.activation),
    )  # fmt: skip
    return of_untrained(UntrainedModel(config, seed=inputs.seed), inputs.text), config


def _formula(config: ModelConfig) -> str:
    """x' = x + f(norm(x)), norm(x + f(x)), or what the switches leave of it."""
    lines = []
    for name, f in (("x'", r"\mathrm{attention}"), ("x''", r"\mathrm{FFN}"))[: 1 + config.feed_forward]:
        x = name[:-1]
        plus = f"{x}+" if config.residual else ""
        right = {
            "pre": rf"{plus}{f}(\mathrm{{LN}}({x}))",
            "post": rf"\mathrm{{LN}}({plus}{f}({x}))",
            "none": rf"{plus}{f}({x})",
        }[config.norm]
        lines.append(f"{name}={right}")
    below = [r"\mathrm{LN}(x)=\gamma\,\frac{x-\mu}{\sqrt{\sigma^2+\epsilon}}+\beta"] * (config.norm != "none")
    if config.feed_forward:
        below.append(rf"\mathrm{{FFN}}(x)=h\,W_2+b_2,\; h=\mathrm{{{config.activation}}}(x\,W_1+b_1)")
    return r"\begin{gathered}" + r"\\".join([*lines, *below]) + r"\end{gathered}"


def questions() -> tuple[Answer, ...]:
    pre, post, bare = (
        walk((block := _block(Inputs(**fields))[0]).layer, block.x)
        for fields in ({}, {"norm": "post"}, {"norm": "post", "residual": False})
    )
    zeros = share_of_zeros(cast(Any, pre.hidden))
    start, end = mean_length(pre.points[0].x), mean_length(pre.points[-1].x)
    after = token_statistics(post.points[-1].x)
    return (
        Answer.of(0 if zeros == 0 else 1 if zeros < 0.2 else 2, zeros=zeros),
        Answer.of(0 if end > start * 1.05 else 1 if end < start * 0.95 else 2, start=start, end=end),
        Answer.of(
            [1, 32**0.5].index(min((1, 32**0.5), key=lambda size: abs(size - after[:, 2].mean().item()))),
            length=after[:, 2].mean(),
            bare_length=mean_length(bare.points[-1].x),
        ),
    )


OWN = ("text", When("subject", "random", SWITCHES, (TRAINED,)))
PART = part(
    __name__, ("subject", When("subject", ANOTHER, any_model.LAYER, OWN)), lesson, questions, scrub="point"
)
