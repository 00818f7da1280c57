"""Paths found by search, against table 1's closed forms and against powers of the adjacency matrix."""

import re

import numpy as np
import pytest

from attention_lab.pages.lab.design import paths
from attention_lab.pages.lab.design.inputs import Inputs
from attention_lab.pages.lab.design.paths import path_of_dilated, path_of_window
from tests.pages.lab.boards import panel
from tests.pages.lab.design.conftest import rows, table

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


def test_nobody_sees_the_future():
    for network in (paths.recurrent(6), paths.self_attention(6), paths.dilated(6, 2), paths.restricted(6, 3)):
        assert all(tail[1] <= head[1] for tail, head in network.edges)


NAMES = (
    "recurrent", "self-attention", "convolution, kernel 3", "dilated convolution, kernel 3",
    "self-attention to the last 3",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_what_is_lit_is_what_arrows_have_reached(name: str):
    """Frame by frame, from the edges that are drawn."""
    diagram = panel(paths.lesson(Inputs()).board, name)
    ids = [node.id for node in diagram.nodes]
    heard = {"0.0"}
    for levels in diagram.levels:
        assert {node for node, level in zip(ids, levels, strict=True) if level == 3} == heard
        heard = heard | {head for tail, head in diagram.edges if tail in heard}


def test_the_last_output_is_reached_in_the_last_frame_and_not_before():
    board = paths.lesson(Inputs(words=10)).board
    found = {name: int(cells[2]) for name, cells in rows(board).items()}
    assert found == dict(zip(NAMES, (10, 1, 5, 3, 5), strict=True))
    assert len(board.scrub.values) == 11
    for name, steps in found.items():
        diagram = panel(board, name)
        top = max(int(node.id.split(".")[0]) for node in diagram.nodes)
        last = [node.id for node in diagram.nodes].index(f"{top}.9")
        np.testing.assert_array_equal(diagram.levels[:, last] == 3, np.arange(11) >= steps)
    np.testing.assert_array_equal(table(board).marked, np.arange(11)[:, None] >= list(found.values()))


def test_a_thousand_words():
    found = rows(paths.lesson(Inputs(kernel=4, window=5)).board)
    far = (1_000, 1, path_of_window(1_000, 4), path_of_dilated(1_000, 4), path_of_window(1_000, 5))
    assert [cells[4] for cells in found.values()] == [f"{steps:,}" for steps in far]
    assert [cells[0] for cells in found.values()] == ["8", "1", "1", "1", "1"]


def test_the_notice_counts_who_has_arrived():
    board = paths.lesson(Inputs()).board
    arrived = [int(re.search(r"reached \*\*(\d)\*\* of 5", notice).group(1)) for notice in board.notice]
    assert arrived == [0, 1, 2, 2, 4, 4, 4, 4, 5]
