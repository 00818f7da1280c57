"""The pictures show the search, step by step; the table its results."""

import re

import numpy as np
import pytest

from models.lessons.design.paths import path_of_dilated, path_of_window
from pages.lab.design import paths
from pages.lab.design.inputs import WIDTHS, WORDS, Inputs
from tests.pages.lab.design.conftest import panel, rows, table

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
    arrived = [int(re.search(r"in \*\*(\d)\*\* of 5", notice).group(1)) for notice in board.notice]
    assert arrived == [0, 1, 2, 2, 4, 4, 4, 4, 5]
    assert "Recurrence needs 8, self-attention 1." in board.notice[0]


@pytest.mark.parametrize("words", WORDS)
def test_every_choice_makes_a_lesson(words: int):
    for width in (min(WIDTHS), max(WIDTHS)):
        board = paths.lesson(Inputs(words=words, kernel=width, window=width)).board
        assert len(board.notice) == words + 1


def test_questions():
    kernels, layers, arrows = paths.questions()
    assert kernels.options[kernels.right] == "the plain convolution's"
    assert "goes from 500 to 250" in kernels.because and "goes from 7 to 5" in kernels.because
    assert layers.options[layers.right] == "13" and 3**12 < 1_000_000 <= 3**13
    assert arrows.options[arrows.right] == "more than twice as many"
    assert arrows.because.startswith(f"{sum(range(9))} arrows instead of {8 + 7}")


def test_the_paper_is_cited_where_it_says_so():
    """Table 1 gives convolution O(log_k n); O(n / k), without gaps, is in the text of section 4."""
    found = rows(paths.lesson(Inputs()).board)
    assert [cells[1] for cells in found.values()] == ["O(n)", "O(1)", "O(1)", "O(1)", "O(1)"]
    assert [cells[3] for cells in found.values()] == [
        "O(n), table 1", "O(1), table 1", "O(n / k), section 4", "O(logₖ n), table 1", "O(n / r), table 1",
    ]  # fmt: skip
    assert table(paths.lesson(Inputs()).board).columns[4] == "in the paper"
