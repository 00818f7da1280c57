"""The order in which data flows through an encoder-decoder, and what is looked at on the way."""

from itertools import pairwise
from typing import Literal, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_lab.models.engine.trace import Trace
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.lab.translation.inputs import (
    SENTENCE,
    SENTENCE_CONTROLS,
    Inputs,
    Reading,
    reading_of,
    translate,
)
from attention_lab.pages.shared.phrases import distinct
from attention_lab.viz_core.boards import Bars, Colour, Diagram, Matrix, Node, Scrub, Worded
from attention_lab.viz_core.labels import decimal

Chances = Float[Tensor, "step n"]
Stage = Literal["embed", "self", "cross", "ff", "memory", "linear", "softmax", "word"]


class Moment(NamedTuple):
    """Where the data is: in the encoder (step None), or at a step of the decoder, and in which part of it."""

    step: int | None
    stage: Stage
    layer: int | None = None


def moments(n_layers: int, n_steps: int) -> list[Moment]:
    """The encoder once, then the decoder once for every word (Vaswani et al. 2017, figure 1)."""
    layers = range(n_layers)
    encoder = [Moment(None, stage, layer) for layer in layers for stage in ("self", "ff")]
    timeline = [Moment(None, "embed"), *encoder, Moment(None, "memory")]
    for step in range(n_steps):
        decoder = [Moment(step, stage, layer) for layer in layers for stage in ("self", "cross", "ff")]
        timeline += [Moment(step, "embed"), *decoder]
        timeline += [Moment(step, "linear"), Moment(step, "softmax"), Moment(step, "word")]
    return timeline


def weights_at(trace: Trace, moment: Moment) -> Float[Tensor, "head key"]:
    """Each head's weights from the step's last word; in the encoder, the mean of all rows."""
    if moment.step is None:
        pattern: Tensor = trace[f"encoder.{moment.layer}.self.pattern"]
        return pattern.mean(dim=1)
    pattern = trace[f"decoder.{moment.layer}.{moment.stage}.pattern"]
    keys = pattern.shape[2] if moment.stage == "cross" else moment.step + 1
    return pattern[:, moment.step, :keys]


def crossed(trace: Trace, n_layers: int, step: int) -> Float[Tensor, "layer head source"]:
    """The cross-attention of one step, of all layers."""
    rows = [trace[f"decoder.{layer}.cross.pattern"][:, step] for layer in range(n_layers)]
    return torch.stack(rows)


def likeliest(logits: Float[Tensor, "step vocab"], n: int) -> tuple[Int[Tensor, "step n"], Chances]:
    """The `n` likeliest words of every step, the likeliest first, and their probabilities."""
    words = logits.topk(n).indices
    return words, logits.softmax(dim=-1).gather(1, words)


N_CANDIDATES = 8
RANKS = ("likeliest", *(f"{rank}." for rank in range(2, N_CANDIDATES + 1)))
HIDDEN, FAINT, PLAIN, LIT = range(4)
LABELS = {
    "embed": "embedding", "self": "self-attention", "cross": "cross-attention", "ff": "feed-forward",
    "memory": "memory", "linear": "linear", "softmax": "softmax", "word": "chosen word",
}  # fmt: skip


def sentences(read: Reading, moments: list[Moment]) -> Diagram:
    """The source, and below it <bos> and the words written so far; pressing a word shows how it came."""
    chosen = {moment.step: at for at, moment in enumerate(moments) if moment.stage == "word"}
    source = [
        Node(id=f"s{at}", label=word, column=at, row=0, frame=0, is_token=True)
        for at, word in enumerate(read.source)
    ]
    first = next(at for at, moment in enumerate(moments) if moment.step == 0)
    start = Node(id="t0", label=read.read[0], column=0, row=1, frame=first, is_token=True)
    target = [
        Node(
            id=f"t{at + 1}",
            label=word,
            column=at + 1,
            row=1,
            frame=chosen[at],
            colour="accent",
            is_token=True,
        )
        for at, word in enumerate(read.written)
    ]
    n = len(source)
    levels = np.full((len(moments), n + 1 + len(target)), PLAIN)
    for at, moment in enumerate(moments):
        if moment.step is None:
            levels[at, :n] = LIT
            levels[at, n:] = HIDDEN
            continue
        n_written = moment.step + (moment.stage == "word")  # words written by now
        levels[at, n + 1 + n_written :] = HIDDEN
        if moment.stage == "cross":
            levels[at, int(weights_at(read.trace, moment).mean(dim=0).argmax())] = LIT
        elif moment.stage == "self":
            levels[at, n + int(weights_at(read.trace, moment).mean(dim=0).argmax())] = LIT
        else:
            levels[at, n + n_written] = LIT
    return Diagram(
        title="the source, and the translation so far (press a word)",
        nodes=[*source, start, *target], edges=[], levels=levels, row_height=35,
    )  # fmt: skip


Box = tuple[str, int | None]
"""What a stack is made of: a stage, and its layer if it has one."""


def stacks(moments: list[Moment]) -> Diagram:
    """Encoder on the left, decoder on the right, upwards as in figure 1 of the paper."""
    passed: dict[bool, list[Box]] = {True: [], False: []}
    for moment in moments:
        column = passed[moment.step is None]
        if (moment.stage, moment.layer) not in column:
            column.append((moment.stage, moment.layer))
    nodes: list[Node] = []
    edges: list[tuple[str, str]] = []
    top = len(passed[False]) - 1
    for is_encoder, column in passed.items():
        ids = [_id(is_encoder, *stage) for stage in column]
        for at, (stage, layer) in enumerate(column):
            label = LABELS[stage] if layer is None else f"{layer}: {LABELS[stage]}"
            colour: Colour | None = "accent" if stage in ("memory", "word") else None
            side = 0 if is_encoder else 1
            nodes.append(Node(id=ids[at], label=label, column=side, row=top - at, colour=colour))
        edges += pairwise(ids)
    edges += [(_id(True, "memory", None), node.id) for node in nodes if node.id.startswith("d.cross")]
    rows = {  # the same at every step
        (is_encoder, *part): [_level(node.id, is_encoder, part, passed) for node in nodes]
        for is_encoder, column in passed.items()
        for part in column
    }
    levels = np.array([rows[moment.step is None, moment.stage, moment.layer] for moment in moments])
    return Diagram(
        title="encoder, and decoder with its layers 0 and 1", nodes=nodes, edges=edges, levels=levels,
        row_height=42,
    )  # fmt: skip


def _id(is_encoder: bool, stage: str, layer: int | None) -> str:
    return f"{'e' if is_encoder else 'd'}.{stage}.{layer}"


def _level(node: str, in_encoder: bool, part: Box, passed: dict[bool, list[Box]]) -> int:
    """How far a box stands out while the data is in this part of the encoder or of the decoder."""
    now = _id(in_encoder, *part)
    if node == now:
        return LIT
    if node == _id(True, "memory", None):
        return LIT if part[0] == "cross" else FAINT if in_encoder else PLAIN
    if not node.startswith("e" if in_encoder else "d"):
        return FAINT
    ids = [_id(in_encoder, *each) for each in passed[in_encoder]]
    return PLAIN if ids.index(node) < ids.index(now) else FAINT


def cross(read: Reading, moments: list[Moment]) -> Matrix:
    """Every head's cross-attention at the present step; empty until its layer is reached."""
    n_layers, n_heads = read.model.config.n_layers, read.model.config.n_heads
    steps = [crossed(read.trace, n_layers, step).numpy() for step in range(len(read.written))]
    values = np.full((len(moments), n_layers, n_heads, len(read.source)), np.nan, dtype=np.float32)
    for at, moment in enumerate(moments):
        if moment.step is not None:
            if moment.layer is None:
                reached = 0 if moment.stage == "embed" else n_layers
            else:
                reached = moment.layer + (moment.stage != "self")
            values[at, :reached] = steps[moment.step][:reached]
    return Matrix(
        title="cross-attention of this step, each head over the source",
        values=values.reshape(len(moments), n_layers * n_heads, -1), scale="weights",
        rows=[f"layer {layer} head {head}" for layer in range(n_layers) for head in range(n_heads)],
        row_heads=list(range(n_heads)) * n_layers,
        columns=distinct(read.source), column_axis="key", nan_is_empty=True,
    )  # fmt: skip


def words(read: Reading, moments: list[Moment]) -> Bars:
    """The likeliest words of each step and their logits below the bars of their probabilities.

    Nothing of a step is shown before it is computed: what comes is not given away.
    """
    ids, chances = (tensor.numpy() for tensor in likeliest(read.logits, N_CANDIDATES))  # [step, rank]
    heights = np.full((len(moments), N_CANDIDATES), np.nan, dtype=np.float32)
    shown = np.zeros(len(moments), dtype=int)  # the row of words: none, or those of a step
    for at, moment in enumerate(moments):
        if moment.stage in ("softmax", "word"):
            heights[at] = chances[moment.step]
        if moment.stage in ("linear", "softmax", "word"):
            shown[at] = 1 + cast(int, moment.step)
    rows = [
        [f"{read.vocabulary[id_]}\t{decimal(read.logits[step, id_], 1)}" for id_ in row]
        for step, row in enumerate(ids.tolist())
    ]
    return Bars(
        title=f"the {N_CANDIDATES} likeliest of {len(read.vocabulary):,} words: logits, and their softmax",
        values=heights, labels=RANKS, words=Worded([[""] * N_CANDIDATES, *rows], shown),
        y_label="probability", reach=1.1, nan_is_empty=True,
    )  # fmt: skip


def lesson(inputs: Inputs) -> Lesson:
    read = reading_of(inputs.text, inputs.direction)
    config, n_words = read.model.config, len(read.vocabulary)
    n_steps, n_source, d_model = len(read.written), len(read.source), config.d_model
    timeline = moments(config.n_layers, n_steps)
    return Lesson(
        rows=[
            [sentences(read, timeline)],
            [stacks(timeline)],
            [cross(read, timeline)],
            [words(read, timeline)],
        ],
        across=1,
        notice=[_encoding(read, m) if m.step is None else _decoding(read, m, m.step) for m in timeline],
        scrub=Scrub(
            "moment", "moment", np.arange(len(timeline)),
            [
                f"{'encoder' if m.step is None else f'step {m.step + 1}'}: {LABELS[m.stage]}"
                + ("" if m.layer is None else f" {m.layer}")
                for m in timeline
            ],
            speed=4, plays=True,
        ),
        sizes=rf"n={n_source},\; t=1\dots{n_steps},\; d_{{model}}={d_model},\; W:{n_words:,}\times{d_model}",
        axes={
            "source": n_source, "key": n_source, "query": 1, "head": config.n_heads,
            "d_head": config.head_size, "d_model": d_model, "vocab": n_words,
        },
        code=(translate, moments, weights_at, likeliest),
    )  # fmt: skip


def _encoding(read: Reading, moment: Moment) -> str:
    n, d_model = len(read.source), read.model.config.d_model
    layer = f"**Encoder, layer {moment.layer}.**"
    if moment.stage == "embed":
        return f"**Encoder.** {n} tokens become {n} vectors of {d_model} numbers, positions added."
    if moment.stage == "self":
        return f"{layer} Every one of the {n} words looks at all {n}."
    if moment.stage == "ff":
        return f"{layer} The feed-forward network changes each of the {n} vectors alone."
    return f"**Memory:** {n} vectors of {d_model} numbers."


def _decoding(read: Reading, moment: Moment, step: int) -> str:
    reads, config = read.read[step], read.model.config
    now = f"Step {step + 1}" if moment.layer is None else f"Step {step + 1}, layer {moment.layer}"
    if moment.stage == "embed":
        sentence = f"The decoder reads one more word, “{reads}”, at position {step}."
    elif moment.stage in ("self", "cross"):
        sentence = _looking(read, moment, reads)
    elif moment.stage == "ff":
        sizes = f"{config.d_model} → {config.ff_size} → {config.d_model}"
        sentence = f"Feed-forward, {sizes} numbers, at this position alone."
    else:
        sentence = _choosing(read, moment, step)
    return f"**{now}.** {sentence}"


def _looking(read: Reading, moment: Moment, reads: str) -> str:
    mean = weights_at(read.trace, moment).mean(dim=0)
    weight, key = mean.max().item(), int(mean.argmax())
    if moment.stage == "cross":
        where = f"into the memory, most at “{distinct(read.source)[key]}”"
    else:
        where = f"at tokens up to itself, most at “{distinct(read.read)[key]}”"
    return f"“{reads}” looks {where}: **{weight:.2f}**, a mean of {read.model.config.n_heads} heads."


def _choosing(read: Reading, moment: Moment, step: int) -> str:
    logits, word = read.logits[step], read.written[step]
    best = logits.topk(2)
    second = read.vocabulary[int(best.indices[1])]
    if moment.stage == "linear":
        return (
            f"{read.model.config.d_model} numbers become {len(logits):,} logits: “{word}” has "
            f"**{decimal(best.values[0], 1)}**, the next, “{second}”, {decimal(best.values[1], 1)}."
        )
    if moment.stage == "softmax":
        p = logits.softmax(dim=-1)[best.indices]
        return f"Softmax gives “{word}” **{p[0]:.3f}** and “{second}” {p[1]:.3f}; all words together 1."
    if word == "<eos>":
        return f"“<eos>” ends the sentence: {step + 1} steps for “**{read.text}**”."
    if step + 1 == len(read.written):
        return f"“**{word}**” is written: {step + 1} words and no end; this page stops."
    return f"“**{word}**” is written, and is what the next step reads."


def questions() -> tuple[Answer, ...]:
    read, wide = reading_of(SENTENCE, "en-fr"), reading_of(SENTENCE.replace("tired", "wide"), "en-fr")
    n_steps = len(read.written)
    runs = moments(read.model.config.n_layers, n_steps)
    encoders = sum(moment.stage == "memory" for moment in runs)
    changed = [a != b for a, b in zip(read.written, wide.written, strict=True)].index(True)
    before, after = read.written[changed], wide.written[changed]
    counts = (f"1 and {n_steps}", f"{n_steps} and {n_steps}", "1 and 1")
    reads = ("nothing", "<bos> alone", "the whole source")
    return (
        Answer.of(
            counts.index(f"{encoders} and {n_steps}"), options=counts, n_words=n_steps - 1, n_steps=n_steps
        ),
        Answer.of(1 if read.read[0] == "<bos>" else 0, options=reads, n_source=len(read.source)),
        Answer.of(2 if 0 < changed < n_steps - 2 else 0, before=before, number=changed + 1, after=after),
    )


PART = part(__name__, SENTENCE_CONTROLS, lesson, questions, scrub="moment")
