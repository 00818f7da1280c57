"""How far apart words are in a network: steps on the shortest way from an input to an output.

The networks of table 1 of Vaswani et al. 2017, all read from left to right, as in a decoder: an output sees
its own word and earlier ones. A node is (layer, position); layer 0 is the input. A stack has as many layers
as the last output needs to see the first word.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attention_lab.pages.lab.design.inputs import Inputs
from attention_lab.pages.lab.lesson import Answer, Lesson, Shape, part
from attention_lab.viz_core.boards import Diagram, Node, Scrub, Table

Vertex = tuple[int, int]
Edge = tuple[Vertex, Vertex]


class Network(NamedTuple):
    """n words, layers above them, and which node feeds which."""

    n: int
    n_layers: int
    edges: tuple[Edge, ...]


def recurrent(n: int) -> Network:
    """Each state is made from its word and the state before it."""
    inputs = tuple(((0, at), (1, at)) for at in range(n))
    return Network(n, 1, inputs + tuple(((1, at), (1, at + 1)) for at in range(n - 1)))


def self_attention(n: int) -> Network:
    """Each output looks at its own word and at all before it."""
    return _stack(n, 1, lambda layer: range(n))


def restricted(n: int, r: int) -> Network:
    """Each output looks at the last r positions. Raises ValueError for fewer than 2."""
    return _stack(n, path_of_window(n, r), lambda layer: range(r))


def convolution(n: int, k: int) -> Network:
    """Kernels of width k over the last k positions. Raises ValueError for fewer than 2."""
    return restricted(n, k)


def dilated(n: int, k: int) -> Network:
    """Kernels of width k with gaps that grow k times a layer (Kalchbrenner et al. 2016).

    Raises ValueError for fewer than 2.
    """
    return _stack(n, path_of_dilated(n, k), lambda layer: range(0, k ** (layer + 1), k**layer))


def _stack(n: int, n_layers: int, back: Callable[[int], range]) -> Network:
    """Layers in which position i sees i - b below it, for all steps back b of that layer."""
    edges = [
        ((layer, at - b), (layer + 1, at))
        for layer in range(n_layers)
        for at in range(n)
        for b in back(layer)
        if b <= at
    ]
    return Network(n, n_layers, tuple(edges))


def steps_from(network: Network, start: Vertex) -> dict[Vertex, int]:
    """The steps on the shortest way from a node to every one that it reaches: breadth-first search."""
    after: dict[Vertex, list[Vertex]] = {}
    for tail, head in network.edges:
        after.setdefault(tail, []).append(head)
    steps, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for head in after.get(node, []):
            if head not in steps:
                steps[head] = steps[node] + 1
                waiting.append(head)
    return steps


def longest_path(network: Network) -> int:
    """The most steps on a shortest way from any input to any output that sees it."""
    last = network.n_layers
    return max(
        steps
        for at in range(network.n)
        for (layer, _), steps in steps_from(network, (0, at)).items()
        if layer == last
    )


def sequential_steps(network: Network) -> int:
    """How many nodes of one layer must be computed one after the other: the longest chain within it."""
    depth = dict.fromkeys(((1, at) for at in range(network.n)), 1)
    for tail, head in sorted(network.edges):
        if tail[0] == head[0] == 1:
            depth[head] = max(depth[head], depth[tail] + 1)
    return max(depth.values())


def path_of_recurrent(n: int) -> int:
    """Table 1: O(n). Into the first state, and on through n - 1 more."""
    return n


def path_of_window(n: int, k: int) -> int:
    """O(n / k), in section 4 for kernels, in table 1 for attention. L layers see 1 + L (k - 1) words."""
    return max(1, -(-(n - 1) // (k - 1)))


def path_of_dilated(n: int, k: int) -> int:
    """Table 1: O(log_k n). L layers see k^L positions."""
    n_layers = 1
    while k**n_layers < n:
        n_layers += 1
    return n_layers


def path_of_self_attention(n: int) -> int:
    """Table 1: O(1)."""
    return 1


FAR = 1_000


def lesson(inputs: Inputs) -> Lesson:
    n, k, r = inputs.words, inputs.kernel, inputs.window
    networks = {
        "recurrent": recurrent(n),
        "self-attention": self_attention(n),
        f"convolution, kernel {k}": convolution(n, k),
        f"dilated convolution, kernel {k}": dilated(n, k),
        f"self-attention to the last {r}": restricted(n, r),
    }
    longest = {name: longest_path(network) for name, network in networks.items()}
    steps = np.arange(max(longest.values()) + 1)
    diagrams = [_diagram(name, network, steps) for name, network in networks.items()]
    return Lesson(
        rows=[diagrams[:2], diagrams[2:], [_table(inputs, networks, longest, steps)]],
        notice=_notices(longest, steps),
        scrub=Scrub("step", "steps", steps, speed=1.2, plays=True),
        sizes=rf"n={n},\; k={k},\; r={r}",
        shapes=(
            Shape(r"\text{recurrent}", "edge, end, (layer, position)", (2 * n - 1, 2, 2)),
            *(
                Shape(
                    rf"\text{{{name.split(',')[0]}}}", "edge, end, (layer, position)",
                    (len(network.edges), 2, 2),
                )
                for name, network in list(networks.items())[1:]
            ),
        ),
        code=(
            recurrent, self_attention, dilated, restricted, steps_from,
            longest_path, sequential_steps,
        ),
    )  # fmt: skip


def _diagram(name: str, network: Network, steps: np.ndarray) -> Diagram:
    nodes = [(layer, at) for layer in range(network.n_layers + 1) for at in range(network.n)]
    after = steps_from(network, (0, 0))
    distances = np.array([after.get(node, len(steps)) for node in nodes])
    return Diagram(
        title=name,
        nodes=[
            Node(id=f"{layer}.{at}", label=str(at + 1), column=at, row=network.n_layers - layer)
            for layer, at in nodes
        ],
        edges=[(f"{a}.{b}", f"{c}.{d}") for (a, b), (c, d) in network.edges],
        levels=np.where(distances <= steps[:, None], 3, 1),
        row_height=70 if network.n_layers == 1 else 42 if network.n_layers < 7 else 34,
    )


def _table(inputs: Inputs, networks: dict[str, Network], longest: dict[str, int], steps: np.ndarray) -> Table:
    k, r = inputs.kernel, inputs.window
    far = (
        path_of_recurrent(FAR), path_of_self_attention(FAR), path_of_window(FAR, k),
        path_of_dilated(FAR, k), path_of_window(FAR, r),
    )  # fmt: skip
    orders = (
        ("O(n)", "O(n), table 1"), ("O(1)", "O(1), table 1"), ("O(1)", "O(n / k), section 4"),
        ("O(1)", "O(logₖ n), table 1"), ("O(1)", "O(n / r), table 1"),
    )  # fmt: skip
    rows = [
        (name, f"{sequential_steps(network)}", one_layer, f"{longest[name]}", path, f"{at:,}")
        for (name, network), (one_layer, path), at in zip(networks.items(), orders, far, strict=True)
    ]
    return Table(
        columns=(
            "network", f"sequential operations per layer, n = {inputs.words}", "in table 1",
            f"longest path, n = {inputs.words}", "in the paper", f"longest path, n = {FAR:,}",
        ),
        rows=rows,
        marked=np.array(list(longest.values())) <= steps[:, None],
    )  # fmt: skip


def _notices(longest: dict[str, int], steps: np.ndarray) -> list[str]:
    notices = []
    for step in steps.tolist():
        there = [name.split(",")[0] for name, path in longest.items() if path <= step]
        notices.append(
            f"Step **{step}**: word 1 has reached **{len(there)}** of {len(longest)} outputs"
            f"{': ' if there else ''}{', '.join(there)}."
        )
    return notices


def questions() -> tuple[Answer, ...]:
    n, million = 8, 1_000_000
    wider = {
        "the plain convolution's": (path_of_window(FAR, 3), path_of_window(FAR, 5)),
        "the dilated one's": (path_of_dilated(FAR, 3), path_of_dilated(FAR, 5)),
    }
    halved = [name for name, (before, after) in wider.items() if 2 * after <= before]
    deep, plain = path_of_dilated(million, 3), path_of_window(million, 3)
    layers = ("13", "1,000", "333,334")
    arrows = {name: len(network.edges) for name, network in
              (("self-attention", self_attention(n)), ("recurrent", recurrent(n)))}  # fmt: skip
    counts = ("as many", "about 1.5 times as many", "more than twice as many")
    ratio = arrows["self-attention"] / arrows["recurrent"]
    return (
        Answer.of(
            2 if len(halved) == 2 else list(wider).index(halved[0]),
            options=(*wider, "both"),
            each="; ".join(
                f"{name} goes from {before} to {after}" for name, (before, after) in wider.items()
            ),
        ),
        Answer.of(layers.index(f"{deep:,}"), options=layers, deep=deep, reach=3**deep, plain=plain),
        Answer.of(
            min(range(3), key=lambda at: abs((1, 1.5, 2.4)[at] - ratio)), options=counts, arrows=arrows
        ),
    )


PART = part(__name__, ("words", "kernel", "window"), lesson, questions, scrub="step")
