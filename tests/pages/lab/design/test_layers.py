"""Table 1's terms at each length; what is measured is shown as it was measured."""

import re

import numpy as np
import pytest

from models.lessons.design import layer_cost
from pages.lab.design import layers, layers_board
from pages.lab.design.inputs import D_LAYER, LENGTHS, Inputs
from tests.pages.lab.design.conftest import facts, panel

N = np.array(LENGTHS, float)


def test_the_terms_of_table_1():
    found = facts(layers.lesson(Inputs(d_layer=128, kernel=5, neighbours=64)).board)
    np.testing.assert_allclose(found["self-attention, n² d"], N**2 * 128 / 1e6)
    np.testing.assert_allclose(found["recurrent, n d²"], N * 128**2 / 1e6)
    np.testing.assert_allclose(found["convolution, k n d²"], 5 * N * 128**2 / 1e6)
    np.testing.assert_allclose(found["restricted, r n d"], np.minimum(N, 64) * N * 128 / 1e6)


def test_the_operations_that_are_timed():
    found = facts(layers.lesson(Inputs(d_layer=32)).board)
    np.testing.assert_allclose(
        found["self-attention, 4 n² d + 8 n d²"], (4 * N**2 * 32 + 8 * N * 32**2) / 1e6
    )
    np.testing.assert_allclose(found["recurrent, 4 n d²"], 4 * N * 32**2 / 1e6)
    np.testing.assert_allclose(found["convolution, 2 k n d²"], 2 * 3 * N * 32**2 / 1e6)


def test_the_share_of_the_weights_is_what_the_last_question_asks():
    share = facts(layers.lesson(Inputs(d_layer=256)).board)["of self-attention's, for W_Q, W_K, W_V, W_O"]
    np.testing.assert_allclose(share, 100 * 2 * 256 / (N + 2 * 256))
    assert f"{share[LENGTHS.index(32)]:.0f}% of" in layers.questions()[2].because


def test_the_upright_stands_where_n_is_d_and_every_curve_keeps_its_points():
    curves = panel(layers.lesson(Inputs(d_layer=64)).board, "operations of table 1")
    upright = curves.lines[-1].y
    np.testing.assert_array_equal(curves.x[np.isfinite(upright)], [64, 64])
    for line in curves.lines[:-1]:
        points = dict(zip(curves.x, line.y, strict=True))
        assert list(points) == list(LENGTHS)
    attention, recurrent = (curves.lines[at].y[np.isfinite(upright)] for at in (0, 1))
    np.testing.assert_allclose(attention, recurrent)


def test_times_are_those_measured():
    board = layers.lesson(Inputs(d_layer=32)).board
    curves = panel(board, "time, one thread")
    for line in curves.lines[:-1]:
        measured = layer_cost.measure(line.name, LENGTHS, 32, 3 if line.name == "convolution" else 1)
        for n, ms in zip(LENGTHS, measured, strict=True):
            np.testing.assert_array_equal(line.y[curves.x == n], ms)
    attention, recurrent = (
        layer_cost.measure(name, LENGTHS, 32, 1)[1] for name in ("self-attention", "recurrent")
    )
    assert f"attention takes {attention:.2f} ms; recurrence, whose" in board.notice[1]
    assert f"other, takes {recurrent:.2f} ms" in board.notice[1]


@pytest.mark.parametrize("d", [D_LAYER[0], D_LAYER[-1]])
def test_the_notice_gives_n_over_d(d: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(layer_cost, "measure", lambda name, lengths, d, k=1: [float("nan")] * len(lengths))
    for n, notice in zip(LENGTHS, layers_board.notices(*_counted(d), d), strict=True):
        assert float(re.search(r"\*\*(.*) ×\*\*", notice).group(1)) == pytest.approx(n / d, rel=0.01)
        assert "not measured here" in notice


def _counted(d: int):
    nothing = {name: [float("nan")] * len(LENGTHS) for name in layers.MEASURED}
    return layers_board.counted(d, 3, 32), nothing


def test_questions():
    answers = [question.options[question.right] for question in layers.questions()]
    assert answers == ["× 4 and × 2", "256", "nearly all"]
