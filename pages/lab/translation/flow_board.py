"""The panels of the translator at work: one frame for each moment of the data's way."""

from itertools import pairwise

import numpy as np

from models.lessons.translation.flow import Moment, crossed, likeliest, looks
from models.lessons.translation.reading import Reading
from pages.shared.wording import distinct
from viz_core.boards import Bars, Colour, Diagram, Matrix, Node
from viz_core.labels import decimal

N_CANDIDATES = 8
RANKS = ("likeliest", *(f"{rank}." for rank in range(2, N_CANDIDATES + 1)))
HIDDEN, FAINT, PLAIN, LIT = range(4)
LABELS = {
    "embed": "embedding",
    "self": "self-attention",
    "cross": "cross-attention",
    "ff": "feed-forward",
    "memory": "memory",
    "linear": "linear",
    "softmax": "softmax",
    "word": "chosen word",
}


def sentences(read: Reading, moments: list[Moment]) -> Diagram:
    """The source, and below it <bos> and the words written so far; pressing a word shows how it came."""
    chosen = {moment.step: at for at, moment in enumerate(moments) if moment.stage == "word"}
    source = [Node(id=f"s{at}", label=word, column=at, row=0, frame=0) for at, word in enumerate(read.source)]
    first = next(at for at, moment in enumerate(moments) if moment.step == 0)
    start = Node(id="t0", label=read.read[0], column=0, row=1, frame=first)
    target = [
        Node(id=f"t{at + 1}", label=word, column=at + 1, row=1, frame=chosen[at], colour="accent")
        for at, word in enumerate(read.written)
    ]
    n = len(source)
    levels = np.full((len(moments), n + 1 + len(target)), PLAIN)
    for at, moment in enumerate(moments):
        if moment.step is None:
            levels[at, :n] = LIT
            levels[at, n:] = HIDDEN
            continue
        done = moment.step + (moment.stage == "word")  # words written by now
        levels[at, n + 1 + done :] = HIDDEN
        if moment.stage == "cross":
            levels[at, int(looks(read.trace, moment).mean(dim=0).argmax())] = LIT
        elif moment.stage == "self":
            levels[at, n + int(looks(read.trace, moment).mean(dim=0).argmax())] = LIT
        else:
            levels[at, n + done] = LIT
    return Diagram(
        title="the source, and what is written so far (press a word to see how it came)",
        nodes=[*source, start, *target], edges=[], levels=levels, row_height=35,
    )  # fmt: skip


def stacks(moments: list[Moment]) -> Diagram:
    """Encoder on the left, decoder on the right, upwards as in figure 1 of the paper."""
    passed: dict[bool, list[tuple[str, int | None]]] = {True: [], False: []}
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
        row_height=27,
    )  # fmt: skip


def _id(is_encoder: bool, stage: str, layer: int | None) -> str:
    return f"{'e' if is_encoder else 'd'}.{stage}.{layer}"


def _level(
    node: str,
    in_encoder: bool,
    part: tuple[str, int | None],
    passed: dict[bool, list[tuple[str, int | None]]],
) -> int:
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
            reached = _layers_reached(moment, n_layers)
            values[at, :reached] = steps[moment.step][:reached]
    return Matrix(
        title="cross-attention of this step: each head's weights over the source",
        values=values.reshape(len(moments), n_layers * n_heads, -1), scale="weights",
        rows=[f"layer {layer}, head {head}" for layer in range(n_layers) for head in range(n_heads)],
        row_heads=list(range(n_heads)) * n_layers,
        columns=distinct(read.source), column_axis="key", nan_is_empty=True,
    )  # fmt: skip


def _layers_reached(moment: Moment, n_layers: int) -> int:
    """How many layers have done their cross-attention."""
    if moment.layer is None:
        return 0 if moment.stage == "embed" else n_layers
    return moment.layer + (moment.stage != "self")


def words(read: Reading, moments: list[Moment]) -> tuple[Diagram, Bars]:
    """The likeliest words of each step with their logits, and their probabilities below.

    Neither shows anything of a step before it is computed: what comes is not given away.
    """
    ids, chances = (found.numpy() for found in likeliest(read.logits, N_CANDIDATES))  # [step, rank]
    shown = np.full((len(moments), N_CANDIDATES), np.nan, dtype=np.float32)
    levels = np.full((len(moments), len(read.written), N_CANDIDATES), HIDDEN)
    for at, moment in enumerate(moments):
        if moment.stage in ("softmax", "word"):
            shown[at] = chances[moment.step]
        if moment.stage in ("linear", "softmax", "word"):
            levels[at, moment.step] = PLAIN
            levels[at, moment.step, 0] = LIT
    nodes = [
        Node(
            id=f"{step}.{rank}", label=read.vocabulary[id_], column=rank, row=0, note=_logit(read, step, id_)
        )
        for step, row in enumerate(ids.tolist())
        for rank, id_ in enumerate(row)
    ]
    diagram = Diagram(
        title=f"linear: the logits of the {N_CANDIDATES} likeliest of {len(read.vocabulary):,} words",
        nodes=nodes, edges=[], levels=levels.reshape(len(moments), -1),
    )  # fmt: skip
    bars = Bars(
        title="softmax: their probabilities", values=shown, labels=RANKS, reach=1.1, nan_is_empty=True,
        x_label="the same words, from left to right", y_label="probability",
    )  # fmt: skip
    return diagram, bars


def _logit(read: Reading, step: int, id_: int) -> str:
    return decimal(read.logits[step, id_], 1)
