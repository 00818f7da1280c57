"""Rotary, ALiBi, T5 and Transformer-XL: what the page shows, against formulas, weights and traces."""

import cmath
import re

import numpy as np
import pytest
import torch

from attention_lab.models import Trace
from attention_lab.models.zoo import load_model
from attention_lab.pages.lab.positions import biases, rotary
from attention_lab.pages.lab.positions.inputs import Inputs
from tests.pages.lab.boards import facts, panel


def test_rotary_turns_as_complex_numbers_do_and_keeps_the_score():
    board = rotary.lesson(Inputs(distance=4)).board
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 8, generator=generator, dtype=torch.float64).tolist()
    for n in (0, 60):
        score = 0.0
        for pair in range(4):
            speed = 10_000 ** (-2 * pair / 8)
            z_q = complex(*q[2 * pair : 2 * pair + 2]) * cmath.exp(1j * (n + 4) * speed)
            z_k = complex(*k[2 * pair : 2 * pair + 2]) * cmath.exp(1j * n * speed)
            shown = panel(board, f"pair {pair}: {speed:.3g} rad per word").vectors[n]
            np.testing.assert_allclose(shown, [[z_q.real, z_q.imag], [z_k.real, z_k.imag]], atol=1e-12)
            score += (z_q * z_k.conjugate()).real
        assert facts(board)["score"][n] == pytest.approx(score)
    assert np.ptp(facts(board)["score"]) < 1e-12
    turning, added = panel(board, "move both: the score").lines
    assert np.ptp(turning.y) < 1e-12
    assert np.ptp(added.y) > 1
    np.testing.assert_allclose(panel(board, "move one: the score").lines[0].y[4], turning.y[0])


def test_alibi_shows_the_papers_biases():
    board = biases.lesson(Inputs(bias="alibi", heads=8)).board
    shown = panel(board, "bias (the mask hides later words)").values
    np.testing.assert_array_equal(shown, biases.alibi_scores(8, 10))
    np.testing.assert_allclose(panel(board, "pattern, if all scores are equal").values.sum(axis=-1), 1)
    assert "**0.5**" in board.notice[0]
    assert "**1.4 words**" in board.notice[0]


@pytest.mark.parametrize("heads", [4, 6, 8, 12])
def test_the_formula_beside_alibi_gives_the_slopes_that_are_shown(heads):
    """For 6 heads the rule for powers of two gave 0.40 where 0.25 is shown."""
    shown = biases.lesson(Inputs(bias="alibi", heads=heads))
    slopes = facts(shown.board)["slope"]
    rules = re.findall(r"m_h=2\^{-8\(h(-\d+)?\+1(/2)?\)/(\d+)},\\quad h=(\d+)\\ldots(\d+)", shown.formula)
    said = {
        head: 2 ** (-8 * (head + int(less or 0) + (0.5 if half else 1)) / int(below))
        for less, half, below, first, last in rules
        for head in range(int(first), int(last) + 1)
    }
    assert [said[head] for head in range(heads)] == pytest.approx(slopes.tolist(), rel=1e-12)


def test_t5_shows_the_weights_of_the_shipped_model():
    board = biases.lesson(Inputs(bias="t5")).board
    table = load_model("positions/t5").model.decoder.positions.table.weight.detach().numpy()  # [bucket, head]
    curves = panel(board, "trained bias by distance, all heads")
    for head in range(4):
        np.testing.assert_allclose(curves.lines[head].y[:16], table[:16, head])  # a bucket for each distance
        assert curves.lines[head].y[127] == table[31, head]
        best = table[:22, head].argmax()  # all buckets that training reached
        assert f"words **{best} back**" in board.notice[head] or best >= 16
        assert "distance **35**" in board.notice[head]


@pytest.mark.parametrize("layer", [0, 1])
def test_the_four_terms_sum_to_the_scores_of_the_trace(layer):
    lm = load_model("positions/transformer-xl")
    board = biases.lesson(Inputs(bias="transformer-xl", layer=layer)).board
    trace = Trace()
    with torch.no_grad():
        lm.model(*lm.read(Inputs().text).inputs, trace=trace)
    scores = trace[f"decoder.{layer}.self.scores"].numpy()
    np.testing.assert_allclose(panel(board, "scores").values, scores, rtol=1e-4, atol=1e-4)
    terms = [panel(board, name).values for name in ("q · k", "q · W r", "u · k", "v · W r")]
    seen = np.isfinite(scores)
    np.testing.assert_allclose(sum(terms)[seen], scores[seen], rtol=1e-4, atol=1e-4)
