"""The three attentions of an encoder-decoder (Vaswani et al. 2017, 3.2.3): one computation, other inputs."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_lab.models.data.tasks import Reading
from attention_lab.models.engine.trace import Trace
from attention_lab.models.zoo.model import Attention, Model
from attention_lab.pages.lab import any_model
from attention_lab.pages.lab.any_model import ANOTHER
from attention_lab.pages.lab.lesson import Answer, Lesson, When, part
from attention_lab.pages.lab.translation.inputs import (
    MOST_HEADS,
    SENTENCE,
    SENTENCE_CONTROLS,
    Inputs,
    reading_of,
)
from attention_lab.pages.shared import cache, on_offer
from attention_lab.pages.shared.phrases import distinct, plain
from attention_lab.viz_core.boards import Colour, Diagram, Matrix, Node, Scrub


class Use(NamedTuple):
    """One of the three: whose tokens ask, whose are looked at, and whether later ones are hidden."""

    name: str
    address: str
    queries: str
    keys: str
    is_causal: bool


USES = (
    Use("encoder self-attention", "encoder.{layer}.self", "source", "source", False),
    Use("decoder self-attention, masked", "decoder.{layer}.self", "target", "target", True),
    Use("cross-attention", "decoder.{layer}.cross", "target", "memory", False),
)


class Vectors(NamedTuple):
    """A layer's queries, keys and values in one of the three attentions."""

    q: Float[Tensor, "head query d_head"]
    k: Float[Tensor, "head key d_head"]
    v: Float[Tensor, "head key d_head"]


def vectors(trace: Trace, use: Use, layer: int) -> Vectors:
    """What the model computed for them."""
    at = use.address.format(layer=layer)
    return Vectors(trace[f"{at}.q"], trace[f"{at}.k"], trace[f"{at}.v"])


def pattern(vectors: Vectors, use: Use) -> tuple[Float[Tensor, "head query key"], Bool[Tensor, "query key"]]:
    """softmax(q k^T / sqrt(d_head)) (equation 1), and where a query may look: causally, or everywhere."""
    n_query, n_key, d_head = vectors.q.shape[1], vectors.k.shape[1], vectors.q.shape[2]
    scores = vectors.q @ vectors.k.mT / math.sqrt(d_head)  # [head, query, key]
    may = torch.ones(n_query, n_key, dtype=torch.bool)
    if use.is_causal:
        may = may.tril()
    return scores.masked_fill(~may, -math.inf).softmax(dim=-1), may


@dataclass(frozen=True)
class AttentionPatterns:
    """One of the three in all layers of a model: its patterns, and what its heads have in common.

    may: where a query looks in some head of some layer.
    """

    attention: Attention
    patterns: Float[Tensor, "layer head query key"]
    may: Bool[Tensor, "query key"]

    def of(self, layer: int, head: int) -> Float[Tensor, "query key"]:
        """The pattern of a head of the layer of this number."""
        return self.patterns[self.attention.layers.index(layer), head]


def stack_of(use: Use) -> str:
    """The family of attentions that it is one of, such as "encoder.self"."""
    return use.address.replace(".{layer}", "")


def computed(trace: Trace, use: Use, attention: Attention) -> AttentionPatterns:
    """Its patterns in every layer of a trace, from queries and keys alone."""
    results = [pattern(vectors(trace, use, layer), use) for layer in attention.layers]
    return AttentionPatterns(attention, torch.stack([weights for weights, _ in results]), results[0][1])


def of_model(model: Model, reading: Reading) -> list[AttentionPatterns]:
    """All three as an encoder-decoder computes them itself, with whatever it adds to its scores.

    Raises ValueError for a model that has not all three.
    """
    there = model.stacks(tuple(reading.tokens))
    if missing := [stack_of(use) for use in USES if stack_of(use) not in there]:
        raise ValueError(
            f"{model.name!r} has no {' and no '.join(missing)}; choose an encoder-decoder, such as the "
            "translator"
        )
    trace = model.trace(reading, reduce=lambda address, x: x if address.endswith(".pattern") else None)
    attentions = []
    for use in USES:
        attention = model.attention(stack_of(use))
        layers = [trace[f"{use.address.format(layer=at)}.pattern"] for at in attention.layers]
        patterns = torch.stack(layers)
        attentions.append(AttentionPatterns(attention, patterns, (patterns > 0).any(dim=0).any(dim=0)))
    return attentions


MOST_TOKENS = 72
MOST_NUMBERS = 1_500_000
SEE = (
    "{who}One equation, three uses: **$Q$, $K$ and $V$ come from** different places. The encoder looks at "
    "the whole source; the decoder at its own words, **never ahead** (grey), then into the memory (**not "
    "square**). **Drag to another head.**"
)
QKV = (
    r"\q{Q}=X_{\text{asks}}\,\q{W_Q},\;\k{K}=X_{\text{is seen}}\,\k{W_K},\;"
    r"\v{V}=X_{\text{is seen}}\,\v{W_V}\end{gathered}"
)


@dataclass(frozen=True)
class ThreeAttentions:
    """The words of both sides, those written after each of the target, and the three attentions between
    them, as in USES.
    """

    source: list[str]
    target: list[str]
    written: list[str]
    uses: list[AttentionPatterns]

    @property
    def rows(self) -> list[str]:
        """Of cross-attention: a query stands at a word that is read, and looks for the one to be written."""
        pairs = zip(self.target, self.written, strict=True)
        return distinct([f"{read}→{following}" for read, following in pairs])

    @property
    def heads(self) -> list[tuple[int, int]]:
        """Every layer and head that one of the three has."""
        kinds = [use.attention for use in self.uses]
        layers = sorted({layer for kind in kinds for layer in kind.layers})
        return [(layer, head) for layer in layers for head in range(max(kind.n_heads for kind in kinds))]


def lesson(inputs: Inputs) -> Lesson:
    other = inputs.reader == ANOTHER
    read = _of_another(inputs) if other else _of_the_translator(inputs.text, inputs.direction)
    n, t = len(read.source), len(read.target)
    encoder, decoder, cross = (use.attention for use in read.uses)
    return Lesson(
        see=SEE.format(who=f"**{plain(on_offer.title(inputs.other))}** reads and writes. " if other else ""),
        rows=[[_sources(read)], _patterns(read)],
        notice=[
            f"Layer {layer} head {head}: {_self_attention(read.uses[0], read.uses[1], layer, head)}."
            for layer, head in read.heads
        ],
        scrub=Scrub(
            "head", "head", np.arange(len(read.heads)),
            [f"layer {layer} head {head}" for layer, head in read.heads],
        ),
        formula=_formula(read) if other else (
            r"\begin{gathered}\mathrm{pattern}=\mathrm{softmax}\!\left(\frac{\q{Q}\,\k{K}^{\top}}"
            r"{\sqrt{d_{head}}}\right)\\" + QKV
        ),
        sizes=rf"n={n}\ \text{{source}},\; t={t}\ \text{{target}},\; d_{{head}}={cross.d_head}",
        axes={
            "encoder head": encoder.n_heads, "decoder head": decoder.n_heads, "head": cross.n_heads,
            "key head": cross.n_key_heads, "source": n, "target": t, "d_head": cross.d_head,
        },
        code=(of_model,) if other
        else (vectors, pattern, computed),
    )  # fmt: skip


def _of_the_translator(text: str, direction: str) -> ThreeAttentions:
    """A sentence and its translation; ValueError, with a sentence, where there is none."""
    read = reading_of(text, direction)
    lm = cache.translator()
    uses = [computed(read.trace, use, lm.attention(stack_of(use))) for use in USES]
    return ThreeAttentions(read.source, read.read, read.written, uses)


def _of_another(inputs: Inputs) -> ThreeAttentions:
    """What another encoder-decoder reads and writes; ValueError, with a sentence, where none can be shown."""
    read = any_model.read(inputs, most=MOST_TOKENS)
    target = read.reading.tokens.get("decoder", [])
    sides = ThreeAttentions(
        read.reading.tokens.get("encoder", []), target, [*target[1:], read.reading.following or "…"],
        of_model(read.model, read.reading),
    )  # fmt: skip
    n, t, n_heads = len(sides.source), len(sides.target), len(sides.heads)
    if n_heads > MOST_HEADS or n_heads * (n * n + t * t + t * n) > MOST_NUMBERS:
        raise ValueError(
            f"{n_heads:,} heads with {n} and {t} tokens have {n_heads * (n * n + t * t + t * n):,} weights; "
            f"the limits are {MOST_HEADS:,} heads and {MOST_NUMBERS:,} weights: shorten the text."
        )
    return sides


def _formula(read: ThreeAttentions) -> str:
    """With what this model multiplies its scores by, and whatever its positions add to them."""
    kinds = [use.attention for use in read.uses]
    scales = sorted({scale for kind in kinds for scale in kind.scales})
    scale = r"\text{ or }".join(f"{each:.4g}" for each in scales)
    bias = r"+\text{bias of positions (self-attention)}" if any(kind.has_bias for kind in kinds) else ""
    inside = rf"{scale}\cdot\q{{Q}}\,\k{{K}}^{{\top}}{bias}"
    cap = next((kind.cap for kind in kinds if kind.cap), None)
    inside = inside if cap is None else rf"{cap:g}\tanh(({inside})/{cap:g})"
    return rf"\begin{{gathered}}\mathrm{{pattern}}=\mathrm{{softmax}}\!\left({inside}\right)\\" + QKV


def _patterns(read: ThreeAttentions) -> list[Matrix]:
    """A frame for every layer and head; grey where a model lacks it, too."""
    names = {"source": distinct(read.source), "target": distinct(read.target)}
    names["memory"] = names["source"]
    panels = []
    for use, of_use in zip(USES, read.uses, strict=True):
        values = np.full((len(read.heads), *of_use.may.shape), -np.inf, dtype=np.float32)
        for at, (layer, head) in enumerate(read.heads):
            if _has(of_use, layer, head):
                values[at] = np.where(of_use.may.numpy(), of_use.of(layer, head).numpy(), -np.inf)
        panels.append(
            Matrix(
                title=use.name, values=values, scale="weights", picture=True,
                rows=read.rows if use.keys == "memory" else names[use.queries], row_axis="query",
                columns=names[use.keys], column_axis="key", named=True,
            )
        )  # fmt: skip
    return panels


def _has(of_use: AttentionPatterns, layer: int, head: int) -> bool:
    return layer in of_use.attention.layers and head < of_use.attention.n_heads


def _sources(read: ThreeAttentions) -> Diagram:
    """The vectors from which the queries, keys and values of each use are made."""
    lengths = {"source": len(read.source), "target": len(read.target), "memory": len(read.source)}
    roles: tuple[tuple[str, Colour], ...] = (("Q", "query"), ("K", "key"), ("V", "value"))
    nodes, edges = [], []
    for at, (use, of_use) in enumerate(zip(USES, read.uses, strict=True)):
        for place, (letter, role) in enumerate(roles):
            asks = role == "query"
            stream, kind = use.queries if asks else use.keys, of_use.attention
            h, d_head = kind.n_heads if asks else kind.n_key_heads, kind.d_head
            above, below, column = f"{at}{letter} from", f"{at}{letter}", 3.4 * at + place
            size, whole = f"[{h}, {lengths[stream]}, {d_head}]", f"[{lengths[stream]}, {h * d_head}]"
            nodes.append(Node(id=above, label=stream, note=whole, column=column, row=0))
            nodes.append(Node(id=below, label=letter, note=size, column=column, row=1, colour=role))
            edges.append((above, below))
    return Diagram(
        title="where Q, K and V come from: encoder · decoder · cross-attention",
        nodes=nodes, edges=edges, row_height=62,
    )  # fmt: skip


def _self_attention(encoder: AttentionPatterns, decoder: AttentionPatterns, layer: int, head: int) -> str:
    """How much weight queries give on average to keys after them in both, or which has no such head."""
    ahead = [
        float(of_use.of(layer, head).triu(1).sum(dim=1).mean()) if _has(of_use, layer, head) else None
        for of_use in (encoder, decoder)
    ]
    if ahead[0] is None:
        return (
            f"the encoder has no such head; in the decoder **{ahead[1]:.0f}** of the weight goes to later "
            "words"
        )
    decoder_too = f"**{ahead[1]:.0f}** in the decoder" if ahead[1] is not None else "the decoder has none"
    return f"**{ahead[0]:.2f}** of the weight goes to later words in the encoder, {decoder_too}"


def questions() -> tuple[Answer, ...]:
    read = _of_the_translator(SENTENCE, "en-fr")
    patterns = [use.patterns.flatten(0, 1).numpy() for use in read.uses]
    n, t = len(read.source), len(read.target)
    shapes = (f"{n} × {n}", f"{n} × {t}", f"{t} × {n}")
    rows, columns = patterns[2].shape[1:]
    first = patterns[1][:, 0, 0]
    return (
        Answer.of(shapes.index(f"{rows} × {columns}"), options=shapes, n=n, t=t),
        Answer.of(1 if bool((first == 1).all()) else 2, t=t, weight=first.min(), n_heads=len(first)),
        Answer.of(0 if columns == n else 1, n=n),
    )


CONTROLS = ("reader", When("reader", ANOTHER, (any_model.MODEL,), SENTENCE_CONTROLS))
PART = part(__name__, CONTROLS, lesson, questions, scrub="head")
