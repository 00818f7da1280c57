"""Encoder self-attention, masked decoder self-attention and cross-attention, side by side."""

import numpy as np

from models.lessons.translation import three_attentions
from models.lessons.translation.reading import Reading
from models.lessons.translation.three_attentions import USES, pattern, vectors
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.translation import sentence_choice
from pages.lab.translation.inputs import SENTENCE, Inputs
from pages.lab.translation.sentence_choice import reading_of
from pages.shared.wording import distinct
from viz_core.boards import Board, Colour, Diagram, Matrix, Node, Scrub

SEE = (
    "One equation has three uses. They differ in **where $Q$, $K$ and $V$ come from** and in what is hidden. "
    "The encoder looks at the whole source. The decoder looks at what it has written, **never ahead** "
    "(grey), and then into the memory; that pattern is **not square**. **Drag to another head.**"
)
TRIES = (
    Try("layer 0, head 0", {"head": 0}),
    Try("a shorter sentence", {"text": "the big dog saw a red car", "direction": "en-fr"}),
    Try("a sentence from French", {"text": "le grand chien a vu une voiture rouge", "direction": "fr-en"}),
)


def lesson(inputs: Inputs) -> Lesson:
    read = reading_of(inputs.text, inputs.direction)
    config = read.model.config
    heads = [(layer, head) for layer in range(config.n_layers) for head in range(config.n_heads)]
    n, t, d_head = len(read.source), len(read.read), config.head_size
    return Lesson(
        see=SEE,
        board=Board(
            rows=[[_sources(n, t, config.n_heads, d_head)], _patterns(read)],
            notice=_notices(read, heads),
            scrub=Scrub(
                field="head", label="head", values=np.arange(len(heads)),
                words=[f"layer {layer}, head {head}" for layer, head in heads],
            ),
        ),
        formula=(
            r"\begin{gathered}\mathrm{pattern}=\mathrm{softmax}\!\left(\frac{\q{Q}\,\k{K}^{\top}}"
            r"{\sqrt{d_{head}}}\right)\\"
            r"\q{Q}=X_{\text{asks}}\,\q{W_Q},\;\k{K}=X_{\text{is seen}}\,\k{W_K},\;"
            r"\v{V}=X_{\text{is seen}}\,\v{W_V}\end{gathered}"
        ),
        sizes=rf"n={n}\ \text{{source}},\; t={t}\ \text{{target}},\; d_{{head}}={d_head}",
        shapes=(
            Shape(r"\mathrm{pattern}\text{, encoder}", "head, source, source", (config.n_heads, n, n)),
            Shape(r"\mathrm{pattern}\text{, decoder}", "head, target, target", (config.n_heads, t, t)),
            Shape(r"\mathrm{pattern}\text{, cross}", "head, target, source", (config.n_heads, t, n)),
            Shape(r"\q{q}\text{, cross}", "head, target, d_head", (config.n_heads, t, d_head)),
            Shape(r"\k{k},\v{v}\text{, cross}", "head, source, d_head", (config.n_heads, n, d_head)),
        ),
        code=(three_attentions.vectors, three_attentions.pattern),
    )  # fmt: skip


def _computed(read: Reading) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each use: the patterns of all heads of all layers [head, query, key], and where they may look."""
    found = []
    for use in USES:
        layers = range(read.model.config.n_layers)
        made = [pattern(vectors(read.trace, use, layer), use) for layer in layers]
        found.append((np.concatenate([weights.numpy() for weights, _ in made]), made[0][1].numpy()))
    return found


def _patterns(read: Reading) -> list[Matrix]:
    names = {"source": distinct(read.source), "target": distinct(read.read)}
    names["memory"] = names["source"]
    return [
        Matrix(
            title=use.name, values=np.where(may, patterns, -np.inf), scale="weights", picture=True,
            rows=names[use.queries], row_axis="query", columns=names[use.keys], column_axis="key",
            named=True,
        )
        for use, (patterns, may) in zip(three_attentions.USES, _computed(read), strict=True)
    ]  # fmt: skip


def _sources(n: int, t: int, h: int, d_head: int) -> Diagram:
    """The vectors from which the queries, keys and values of each use are made."""
    lengths = {"source": n, "target": t, "memory": n}
    roles: tuple[tuple[str, Colour], ...] = (("Q", "query"), ("K", "key"), ("V", "value"))
    nodes, edges = [], []
    for at, use in enumerate(three_attentions.USES):
        for place, (letter, role) in enumerate(roles):
            stream = use.queries if role == "query" else use.keys
            above, below, column = f"{at}{letter} from", f"{at}{letter}", 3.4 * at + place
            size, whole = f"[{h}, {lengths[stream]}, {d_head}]", f"[{lengths[stream]}, {h * d_head}]"
            nodes.append(Node(id=above, label=stream, note=whole, column=column, row=0))
            nodes.append(Node(id=below, label=letter, note=size, column=column, row=1, colour=role))
            edges.append((above, below))
    return Diagram(
        title="where Q, K and V come from: encoder · decoder · cross-attention",
        nodes=nodes, edges=edges, row_height=62,
    )  # fmt: skip


def _notices(read: Reading, heads: list[tuple[int, int]]) -> list[str]:
    (encoder, _), (decoder, _), (cross, _) = _computed(read)
    source, target = distinct(read.source), distinct(read.read)
    told = []
    for at, (layer, head) in enumerate(heads):
        query, key = divmod(int(cross[at].argmax()), len(source))
        told.append(
            f"Layer {layer}, head {head}: **{_ahead(encoder[at]):.2f}** of the weight goes to later words in "
            f"the encoder, **{_ahead(decoder[at]):.0f}** in the decoder. Cross-attention is sharpest from "
            f"“{target[query]}” to “{source[key]}”: **{cross[at, query, key]:.2f}**."
        )
    return told


def _ahead(pattern: np.ndarray) -> float:
    """The mean weight that a query gives to keys after it."""
    return float(np.triu(pattern, 1).sum(axis=1).mean())


def questions() -> tuple[Question, ...]:
    read = reading_of(SENTENCE, "en-fr")
    patterns = _computed(read)
    n, t = len(read.source), len(read.read)
    shapes = (f"{n} × {n}", f"{n} × {t}", f"{t} × {n}")
    rows, columns = patterns[2][0].shape[1:]
    first = patterns[1][0][:, 0, 0]
    return (
        Question(
            f"The source has {n} tokens, the decoder reads {t}. What is the shape of cross-attention's "
            "pattern?",
            shapes,
            shapes.index(f"{rows} × {columns}"),
            "Queries are rows, one for each token that the decoder reads; keys are columns, one for each "
            "vector of the memory.",
        ),
        Question(
            "In masked self-attention, how much weight does “<bos>” put on itself, in every head?",
            (f"1/{t}", "1", "it depends on the head"),
            1 if bool((first == 1).all()) else 2,
            f"{first.min():.0f} in all {len(first)} heads: it may look at nothing else, and weights add up "
            "to 1.",
        ),
        Question(
            "Where do the values of cross-attention come from?",
            ("the memory", "the decoder's own words", "the next word"),
            0 if columns == n else 1,
            f"Keys and values are made from the {n} vectors of the memory; only the queries are the "
            "decoder's.",
        ),
    )


PART = Part("three", "Three attentions", sentence_choice.CONTROLS, lesson, TRIES, questions, scrub="head")
