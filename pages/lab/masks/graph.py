"""Attention on a graph: tokens are nodes, and its edges are the mask."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_lab.models.config import ModelConfig
from attention_lab.models.engine import masks
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.models.engine.trace import Trace, within
from attention_lab.models.engine.transformer import Transformer
from attention_lab.pages.lab.lesson import Answer, Lesson, Set, part
from attention_lab.pages.lab.masks import reach
from attention_lab.pages.lab.masks.inputs import N_NODES, PAINT, Inputs, allowed_of, mask_matrix, painted
from attention_lab.viz_core.boards import Diagram, Layers, Matrix, Node, query_by_key

CHANNELS = 4


class Step(NamedTuple):
    """One head of attention over the nodes' features."""

    features: Float[Tensor, "node channel"]
    scores: Float[Tensor, "query key"]
    pattern: Float[Tensor, "query key"]
    out: Float[Tensor, "node channel"]


def features_of(n: int, seed: int) -> Float[Tensor, "node channel"]:
    """Standard normal numbers for n nodes, one decimal each."""
    return torch.randn(n, CHANNELS, generator=torch.Generator().manual_seed(seed)).round(decimals=1)


@torch.no_grad()
def step(features: Float[Tensor, "node channel"], allowed: Bool[Tensor, "n n"], *, seed: int = 0) -> Step:
    """The engine's own attention, with random weights from `seed`, on nodes that see their neighbours.

    Graph attention (Velickovic et al. 2018) scores a pair by a small network; this is the Transformer's
    q · k under the same mask.
    """
    trace = Trace()
    out = _attention(features.shape[1], seed)(
        features[None], features[None], allowed[None, None], trace=within(trace, "nodes")
    )
    return Step(features, trace["nodes.scores"][0], trace["nodes.pattern"][0], out[0])


def answers(
    features: Float[Tensor, "node channel"], allowed: Bool[Tensor, "n n"], changed: int, *, seed: int = 0
) -> Float[Tensor, " node"]:
    """How far each node's output moves (Euclidean) when the features of node `changed` grow by 1."""
    other = features.clone()
    other[changed] += 1
    difference = step(other, allowed, seed=seed).out - step(features, allowed, seed=seed).out
    return difference.norm(dim=-1)


def _attention(width: int, seed: int) -> MultiHeadAttention:
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=1, d_model=width, vocab_size=1, max_len=1, positions="none"
    )
    model = Transformer(config, seed=seed)
    return next(module for module in model.modules() if isinstance(module, MultiHeadAttention))


NODES = tuple(f"node {at}" for at in range(N_NODES))
_RING = ((0, 1), (1, 0), (2, 0), (3, 1), (2, 2), (1, 2))  # (column, row) of each node
_LAYERS = 3


def lesson(inputs: Inputs) -> Lesson:
    mask = inputs.graph if painted(inputs.graph) else "edges"
    allowed = allowed_of(mask, "" if painted(inputs.graph) else inputs.graph, N_NODES)
    features = features_of(N_NODES, inputs.seed)
    computed = step(features, allowed, seed=inputs.seed)
    moved = answers(features, allowed, inputs.changed, seed=inputs.seed)
    news = reach.spread(allowed, inputs.changed, _LAYERS)
    changed, nodes = NODES[inputs.changed].capitalize(), query_by_key(NODES)
    drawn = [
        Node(id=name, label=name, column=column, row=row, changed=at == inputs.changed)
        for at, (name, (column, row)) in enumerate(zip(NODES, _RING, strict=True))
    ]
    edges = [(NODES[key], NODES[query]) for query, key in allowed.nonzero().tolist() if query != key]
    return Lesson(
        numbers={"node": changed},
        rows=[
            [
                Diagram(nodes=drawn, edges=edges, title="graph"),
                mask_matrix(allowed.numpy(), edit="graph", **nodes),
            ],
            [
                Matrix(values=computed.pattern.numpy(), title="weights", scale="weights", **nodes),
                Matrix(
                    values=moved[:, None].numpy(), title="moved", columns=("by",), row_axis="query",
                    scale="plain",
                ),
                Layers(
                    tokens=[str(at) for at in range(N_NODES)], links=allowed.numpy(), lit=news.numpy(),
                    title="which nodes the news reaches",
                ),
            ],
        ],
        notice=f"{changed} changes, and after one step **{int((moved > 0).sum())} of {N_NODES}** outputs "
        "have moved.",
        sizes=rf"{N_NODES} \text{{ nodes}},\; d_k = {CHANNELS}",
        axes={"node": N_NODES, "channel": CHANNELS, "query": N_NODES, "key": N_NODES},
        code=[masks.edges, step, answers, MultiHeadAttention.forward, reach.spread],
    )  # fmt: skip


def questions() -> tuple[Answer, ...]:
    features = features_of(N_NODES, 0)
    star = masks.edges(N_NODES, [(0, at) for at in range(1, N_NODES)])[0, 0]
    chain = masks.edges(N_NODES, [(at, at + 1) for at in range(N_NODES - 1)])[0, 0]
    leaf = int((answers(features, star, 1) > 0).sum())
    needed = int(reach.through_layers(chain, 1).layers[N_NODES - 1, 0])
    everybody = int(reach.through_layers(star, 1).layers.max())
    return (
        Answer.of(("1", "2", "6").index(str(leaf)), leaf=leaf),
        Answer.of(("1", "5", "6").index(str(needed)), needed=needed, everybody=everybody),
    )


CONTROLS = ("graph", "changed", Set("seed", {"help": "Other features and other weights"}), PAINT)
PART = part(__name__, CONTROLS, lesson, questions)
