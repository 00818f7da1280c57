"""What the page on softmax says: its sentences against its boards, its answers, its bounds."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_lab.models import load_model
from attention_lab.pages.lab.softmax import dots, formats, head, spread
from attention_lab.pages.lab.softmax.inputs import Inputs
from attention_lab.pages.shared.phrases import distinct
from attention_lab.viz_core.boards import Facts, Matrix
from tests.pages.lab.boards import frame, panel

PARTS = (spread, dots, head, formats)


@pytest.fixture(scope="module")
def lessons():
    return {part: part.PART.lesson(Inputs()) for part in PARTS}


def panels(lesson, kind):
    return [panel for row in lesson.board.rows for panel in row if isinstance(panel, kind)]


def test_spread_shows_histogram_and_softmax_of_the_same_draws(lessons):
    draws = spread.draw(16, seed=0).numpy()
    lesson = lessons[spread]
    at = frame(lesson.board, 3.16)
    logits = 10**0.5 * draws
    assert panel(lesson.board, "softmax of logits").values[at] == pytest.approx(
        sorted(torch.tensor(logits).softmax(0).tolist(), reverse=True)
    )
    shares = panel(lesson.board, "logits")
    rounded = [max(-8, min(8, round(x))) for x in logits]
    labels = [label.replace("−", "-").strip("≤≥ ") for label in shares.labels]
    expected = [sum(value == int(label) for value in rounded) / 16 for label in labels]
    assert shares.values[at] == pytest.approx(expected)
    assert f"largest weight **{torch.tensor(logits).softmax(0).max():.2f}**" in lesson.board.notice[at]


def test_the_two_curves_of_the_gradient_part_ways_without_the_scale(lessons):
    gradient = panel(lessons[dots].board, "gradient that gets through")
    without, divided = gradient.lines
    assert without.y[0] == pytest.approx(divided.y[0])  # d_k = 1: the scale is 1
    assert without.y[-1] < divided.y[-1] / 100
    assert divided.y.min() > 0.1
    for line in gradient.lines:
        assert (line.low <= line.y).all()
        assert (line.y <= line.high).all()


def test_mean_and_variance_keep_to_the_theory_that_is_shown(lessons):
    (facts,) = panels(lessons[dots], Facts)
    mean, mean_band, variance, variance_band = (fact.values for fact in facts.facts)
    d_k = lessons[dots].board.scrub.values
    assert (abs(mean) <= mean_band).mean() > 0.8
    assert (abs(variance - d_k) <= variance_band).mean() > 0.8
    assert mean_band == pytest.approx(1.96 * np.sqrt(d_k / 512), rel=1e-3)


def test_the_real_head_shows_what_the_translator_computes(lessons):
    lesson, lm = lessons[head], load_model("translator")
    trace = lm.trace(Inputs().text)
    it, at = trace.tokens["encoder"].index("it"), frame(lesson.board, 1)
    weights = panel(lesson.board, "weights of “it” in head 3")
    assert weights.labels == distinct(trace.tokens["encoder"])
    assert "the₂" in weights.labels
    assert weights.values[at] == pytest.approx(trace["encoder.1.self.pattern"][3, it].numpy(), abs=1e-5)
    words = panel(lesson.board, "next word after “… rue parce qu'”")
    elle = trace["logits"][10].softmax(-1)[lm.task.words.id("elle")].item()
    assert words.values[at, words.labels.index("elle")] == pytest.approx(elle, abs=1e-5)
    assert lesson.board.scrub.words[at] == "1 (as trained)"
    assert "qu'elle était trop large" in lesson.board.notice[at]
    assert "qu'il était trop large" in lesson.board.notice[-1]


def test_leaving_out_the_scale_changes_what_is_looked_at_and_what_is_written():
    """On the page's first sentence the weight went from 1.00 to 1.00, as if the scale did not matter."""
    (experiment,) = (each for each in head.PART.tries if "√d_k" in each.label)
    board = head.lesson(replace(Inputs(), **experiment.set)).board
    values = board.scrub.values.tolist()
    at, usual = values.index(0.25), values.index(1.0)
    assert board.scrub.words[at] == "0.25 (without 1/√d_k)"
    assert load_model("translator").config.head_size ** -0.5 == 0.25
    weights = panel(board, "weights of “they” in head 3").values
    assert (weights[usual].max(), weights[at].max()) == pytest.approx((0.41, 0.95), abs=0.01)
    assert "parce qu'elles étaient petites" in board.notice[usual]
    assert "parce qu'ils étaient petits" in board.notice[at]


def test_in_the_decoder_the_row_is_that_of_the_word_before():
    lesson = head.lesson(replace(Inputs(), stack="decoder.cross", layer=0, head=1, step=0))
    bars = panel(lesson.board, "weights of “<bos>” in head 1")
    assert bars.values.shape == (41, 14)
    assert panel(lesson.board, "next word after “… <bos>”").labels


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"text": " "}, "the text is empty; give at least one word"),
        ({"text": "the " * 25}, r"the text has 25 words; .* it may have 24; remove 1"),
        ({"query": 40}, "query=40 is not there; give one from 0 to 13"),
        ({"step": 40}, "step=40 is not there; give one from 0 to 14"),
    ],
)
def test_impossible_sentences_and_positions_are_refused(changed, text):
    with pytest.raises(ValueError, match=text):
        head.lesson(replace(Inputs(), **changed))


def test_the_table_of_formats_marks_what_is_wrong(lessons):
    (table,) = panels(lessons[formats], Matrix)
    exact = table.rows.index("exact")
    for name, height in (("float16", 12), ("bfloat16", 89), ("float32", 89), ("float16", -20)):
        at = frame(lessons[formats].board, height)
        written, subtracted = (table.rows.index(f"{name}, {way}") for way in ("as written", "minus max"))
        assert np.isnan(table.values[at, written]).any()
        assert table.marked[at, written].any()
        assert abs(table.values[at, subtracted] - table.values[at, exact]).max() < 0.05
        assert name in lessons[formats].board.notice[at]
    assert not table.marked[frame(lessons[formats].board, 0)].any()
    assert "works in every format" in lessons[formats].board.notice[frame(lessons[formats].board, 0)]
