"""How far apart words are in a network: steps on the shortest way from an input to an output.

The networks of table 1 of Vaswani et al. 2017, all read from left to right, as in a decoder: an output sees
its own word and earlier ones. A node is (layer, position); layer 0 is the input. A stack has as many layers
as the last output needs to see the first word.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

Node = tuple[int, int]
Edge = tuple[Node, Node]


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


def steps_from(network: Network, start: Node) -> dict[Node, int]:
    """The steps on the shortest way from a node to every one that it reaches: breadth-first search."""
    after: dict[Node, list[Node]] = {}
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
    _check_width(k)
    return max(1, -(-(n - 1) // (k - 1)))


def path_of_dilated(n: int, k: int) -> int:
    """Table 1: O(log_k n). L layers see k^L positions."""
    _check_width(k)
    n_layers = 1
    while k**n_layers < n:
        n_layers += 1
    return n_layers


def path_of_self_attention(n: int) -> int:
    """Table 1: O(1)."""
    return 1


def _check_width(k: int) -> None:
    if k < 2:
        raise ValueError(f"a window of {k} never sees another word; give at least 2")
