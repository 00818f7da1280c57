"""Part 6: tokens as the nodes of a graph, its edges as the mask."""

from typing import Any

from torch import Tensor

from models.engine import masks
from models.engine.attention import MultiHeadAttention
from models.lessons.masks import graph, reach
from models.lessons.masks.choice import allowed_of
from models.lessons.masks.graph import Step
from pages.lab.controls import Set
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.masks import choice
from pages.lab.masks.inputs import N_NODES, Inputs, painted
from viz_core.boards import Board, Diagram, Layers, Matrix, Node

NODES = tuple(f"node {at}" for at in range(N_NODES))
_RING = ((0, 1), (1, 0), (2, 0), (3, 1), (2, 2), (1, 2))  # (column, row) of each node
_LAYERS = 3
TRIES = (
    Try("a chain", {"graph": "0-1 1-2 2-3 3-4 4-5", "changed": 0}),
    Try("a star", {"graph": "0-1 0-2 0-3 0-4 0-5", "changed": 1}),
    Try("two islands", {"graph": "0-1 1-2 0-2 3-4 4-5 3-5", "changed": 0}),
)


def lesson(inputs: Inputs) -> Lesson:
    mask = inputs.graph if painted(inputs.graph) else "edges"
    allowed = allowed_of(mask, "" if painted(inputs.graph) else inputs.graph, N_NODES)
    features = graph.features_of(N_NODES, inputs.seed)
    step = graph.step(features, allowed, seed=inputs.seed)
    moved = graph.answers(features, allowed, inputs.changed, seed=inputs.seed)
    told = reach.spread(allowed, inputs.changed, _LAYERS)
    return Lesson(
        see="A node looks at itself and its neighbours: the edges are the mask, and a step of attention is a "
        f"round of messages. **{NODES[inputs.changed].capitalize()}** changes: see whose output moves. "
        "Paint edges into the mask.",
        board=Board(rows=_rows(allowed, step, moved, told), notice=_notice(inputs.changed, moved, told)),
        formula=r"z_i = \sum_{j \in N(i) \cup \{i\}} \operatorname{softmax}_j\!\left("
        r"\frac{\q{q_i} \cdot \k{k_j}}{\sqrt{d_k}}\right) \v{v_j}",
        sizes=rf"{N_NODES} \text{{ nodes}},\; d_k = {graph.CHANNELS}",
        shapes=[
            Shape("X", "node channel", tuple(features.shape)),
            Shape("M", "query key", tuple(allowed.shape)),
            Shape("A", "query key", tuple(step.pattern.shape)),
            Shape(r"\text{out}", "node channel", tuple(step.out.shape)),
        ],
        code=[masks.edges, graph.step, graph.answers, MultiHeadAttention.forward, reach.spread],
    )


def _rows(allowed: Tensor, step: Step, moved: Tensor, told: Tensor) -> list[list[Any]]:
    nodes: dict[str, Any] = {"rows": NODES, "columns": NODES, **choice.AXES}
    drawn = [
        Node(id=name, label=name, column=column, row=row, changed=bool(told[0, at]))
        for at, (name, (column, row)) in enumerate(zip(NODES, _RING, strict=True))
    ]
    links = [(NODES[key], NODES[query]) for query, key in allowed.nonzero().tolist() if query != key]
    return [
        [
            Diagram(nodes=drawn, edges=links, title="graph"),
            choice.mask_matrix(allowed.numpy(), edit="graph", **nodes),
        ],
        [
            Matrix(values=step.pattern.numpy(), title="weights", scale="weights", **nodes),
            Matrix(
                values=moved[:, None].numpy(), title="moved", columns=("by",), row_axis="query", scale="plain"
            ),
            Layers(
                tokens=[str(at) for at in range(N_NODES)],
                links=allowed.numpy(),
                lit=told.numpy(),
                title="which nodes the news reaches",
            ),
        ],
    ]


def _notice(changed: int, moved: Tensor, told: Tensor) -> str:
    answered = int((moved > 0).sum())
    return (
        f"{NODES[changed].capitalize()} changes, and after one step **{answered} of {N_NODES}** outputs have "
        f"moved: those of the nodes that may look at it. {_LAYERS} layers carry the news to "
        f"**{int(told[-1].sum())}** nodes."
    )


def questions() -> tuple[Question, ...]:
    features = graph.features_of(N_NODES, 0)
    star = masks.edges(N_NODES, [(0, at) for at in range(1, N_NODES)])[0, 0]
    chain = masks.edges(N_NODES, [(at, at + 1) for at in range(N_NODES - 1)])[0, 0]
    leaf = int((graph.answers(features, star, 1) > 0).sum())
    needed = int(reach.through_layers(chain, 1).layers[N_NODES - 1, 0])
    everybody = int(reach.through_layers(star, 1).layers.max())
    return (
        Question(
            "In a star, node 0 is joined to all others. Node 1 changes. How many outputs move in one step?",
            ("1", "2", "6"),
            ("1", "2", "6").index(str(leaf)),
            f"**{leaf}**: its own and that of node 0, its only neighbour.",
        ),
        Question(
            "In a chain of six nodes, after how many layers can node 5 have heard of node 0?",
            ("1", "5", "6"),
            ("1", "5", "6").index(str(needed)),
            f"**{needed}**: each layer carries news over one edge. In a star, {everybody} layers reach "
            "everybody.",
        ),
    )


PART = Part(
    "graph", "Graph", ("graph", "changed", Set("seed", {"help": "Other features and other weights"})),
    lesson, TRIES, questions,
)  # fmt: skip
