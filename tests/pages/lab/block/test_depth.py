"""Part 2: what is drawn and said of each depth is what was measured."""

import numpy as np
import pytest

from models.lessons.block import depth as lesson
from pages.lab.block import depth
from pages.lab.block.inputs import DEPTHS, Inputs
from tests.pages.lab.block.conftest import bold, panel, right
from viz_core.labels import short


def test_the_page_offers_the_depths_that_are_measured():
    assert DEPTHS == lesson.DEPTHS


def test_curves_end_where_the_stack_does():
    board = depth.lesson(Inputs(seed=3)).board
    expected = lesson.measure(lesson.deep_model(lesson.Switches()), 3)
    for title, values in (("length", expected.lengths), ("how much", expected.apart)):
        assert np.allclose(panel(board, title).lines[0].y, values, equal_nan=True)
    stream, weights = panel(board, "norm of the gradient").lines
    assert np.allclose(stream.y, expected.stream, equal_nan=True)
    assert np.allclose(weights.y[:, 1:], expected.weights, equal_nan=True) and np.isnan(weights.y[:, 0]).all()
    measured, theory = panel(board, "gradient of the last").lines
    assert np.allclose(measured.y, [expected.weights[i, n - 1] for i, n in enumerate(DEPTHS)])
    assert np.allclose(theory.y, measured.y[0] / np.sqrt(DEPTHS))


@pytest.mark.parametrize("fields", [{}, {"norm": "none"}, {"norm": "none", "residual": False}])
def test_axes_hold_every_number_in_whole_decades(fields):
    for row in depth.lesson(Inputs(**fields)).board.rows:
        for curves in row:
            low, high = curves.y_range
            found = np.concatenate([line.y[np.isfinite(line.y)] for line in curves.lines])
            assert low <= found.min() and found.max() <= high
            assert np.log10([low, high]) == pytest.approx(np.round(np.log10([low, high])))
            assert high / low >= 99


def test_notices_are_ratios_of_the_curves():
    board = depth.lesson(Inputs()).board
    last, lengths = panel(board, "gradient of the last").lines[0].y, panel(board, "length").lines[0].y
    stream = panel(board, "norm of the gradient").lines[0].y
    for at, n in enumerate(DEPTHS):
        expected = [last[at] / last[0], lengths[at, n] / lengths[at, 0], stream[at, 0] / stream[at, n]]
        assert bold(board.notice[at]) == pytest.approx(expected, rel=0.01, abs=0.006)
    post = depth.lesson(Inputs(norm="post")).board
    last = panel(post, "gradient of the last").lines[0].y
    apart = panel(post, "how much").lines[0].y
    assert bold(post.notice[-1]) == [round(float(last[-1] / last[0]), 2)]
    assert f"Tokens differ by **{short(apart[-1, -1])}** of their size" in post.notice[-1]
    assert "the reason for warm-up" in post.notice[-1]
    assert "0, but for rounding" in depth.lesson(Inputs(residual=False)).board.notice[-1]


def test_the_matrix_is_named_for_what_it_is():
    assert panel(depth.lesson(Inputs(ff=0)).board, "norm of the gradient").lines[1].name == "of W_O"


def test_questions():
    assert right(depth.questions()) == ["less than a billionth", "post-norm", "pre-norm"]
