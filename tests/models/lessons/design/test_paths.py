"""Paths found by search, against table 1's closed forms and against powers of the adjacency matrix."""

import numpy as np
import pytest

from models.lessons.design import paths

SIZES = [(n, k) for n in (2, 3, 5, 8, 13, 28) for k in (2, 3, 4, 5)]


def by_powers(network: paths.Network) -> int:
    """The longest shortest way from an input to an output, by multiplying the adjacency matrix."""
    nodes = sorted({node for edge in network.edges for node in edge})
    step = np.zeros((len(nodes), len(nodes)), int)
    for tail, head in network.edges:
        step[nodes.index(tail), nodes.index(head)] = 1
    inputs = [at for at, (layer, _) in enumerate(nodes) if layer == 0]
    outputs = [at for at, (layer, _) in enumerate(nodes) if layer == network.n_layers]
    first = np.zeros((len(inputs), len(outputs)), int)
    reached = np.eye(len(nodes), dtype=int)
    for steps in range(1, len(nodes)):
        reached = np.minimum(reached @ step, 1)
        now = reached[np.ix_(inputs, outputs)]
        first[(first == 0) & (now == 1)] = steps
    return int(first.max())


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_search_and_formula_agree(n: int, k: int):
    pairs = {
        paths.recurrent(n): paths.path_of_recurrent(n),
        paths.self_attention(n): paths.path_of_self_attention(n),
        paths.convolution(n, k): paths.path_of_window(n, k),
        paths.restricted(n, k): paths.path_of_window(n, k),
        paths.dilated(n, k): paths.path_of_dilated(n, k),
    }
    for network, path in pairs.items():
        assert paths.longest_path(network) == path
        if n <= 8:
            assert by_powers(network) == path


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_a_stack_is_as_high_as_its_last_output_needs(n: int, k: int):
    for network in (paths.convolution(n, k), paths.dilated(n, k)):
        top = (network.n_layers, n - 1)
        assert paths.steps_from(network, (0, 0))[top] == network.n_layers
        lower = network._replace(
            n_layers=network.n_layers - 1,
            edges=tuple(edge for edge in network.edges if edge[1][0] < network.n_layers),
        )
        if lower.n_layers:
            assert (lower.n_layers, n - 1) not in paths.steps_from(lower, (0, 0))


def test_only_recurrence_is_sequential():
    """Table 1: O(n) sequential operations for recurrence, O(1) for all others."""
    assert [paths.sequential_steps(paths.recurrent(n)) for n in (1, 2, 9)] == [1, 2, 9]
    for network in (paths.self_attention(9), paths.convolution(9, 3), paths.dilated(9, 3)):
        assert paths.sequential_steps(network) == 1


def test_growth_is_table_ones():
    """O(n), O(n / k), O(log_k n), O(1), over many doublings."""
    assert paths.path_of_recurrent(4_096) == 2 * paths.path_of_recurrent(2_048)
    assert paths.path_of_window(4_001, 5) == 1_000
    assert [paths.path_of_dilated(3**power, 3) for power in range(1, 8)] == list(range(1, 8))
    assert paths.path_of_dilated(3**4 + 1, 3) == 5
    assert paths.path_of_self_attention(10**6) == 1


def test_nobody_sees_the_future():
    for network in (paths.recurrent(6), paths.self_attention(6), paths.dilated(6, 2), paths.restricted(6, 3)):
        assert all(tail[1] <= head[1] for tail, head in network.edges)


def test_a_window_of_one_is_refused():
    with pytest.raises(ValueError, match="a window of 1 never sees another word; give at least 2"):
        paths.convolution(5, 1)
