"""What is taken away, without a browser: the table and the figure under every position scheme."""

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attention_lab.models import load_model
from attention_lab.models.config import POSITION_SCHEMES
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.takeaway import StageView, csv_of, score_in_words
from attention_lab.viz_core import theme

BIASED = ("alibi", "t5", "transformer-xl")


def shown(positions: str, **view: object) -> StageView:
    inputs = Inputs(model="untrained", text="the cat sat on the mat", seed=5, positions=positions)
    return StageView(inputs, {"layer": 1, "head": 2, **view})


@pytest.mark.parametrize("positions", POSITION_SCHEMES)
def test_each_row_of_the_table_adds_up_to_its_score(positions: str) -> None:
    found = shown(positions)
    table = pd.read_csv(io.StringIO(csv_of(found)))
    trace = found.subject.run(None)
    assert ("bias" in table) == (positions in BIASED)
    total = 0.25 * table["dot_product"] + table.get("bias", 0)
    np.testing.assert_allclose(table["score"], total, atol=1e-5)
    np.testing.assert_allclose(table["score"], trace["encoder.1.self.scores"][2].ravel(), atol=1e-6)
    np.testing.assert_allclose(table["weight"], trace["encoder.1.self.pattern"][2].ravel(), atol=1e-6)


@pytest.mark.parametrize("positions", POSITION_SCHEMES)
def test_the_figure_of_the_numbers_tells_the_bias(positions: str) -> None:
    found = shown(positions, view="numbers", query=4, key=1)
    notes = found.figure(dark=False).layout.annotations
    sentence = " ".join(note.text for note in notes)  # it may take two lines
    trace = found.subject.run(None)
    score = trace["encoder.1.self.scores"][2, 4, 1].item()
    assert f"= {score:.4g} = score".replace("-", "−") in sentence
    bias = trace["encoder.1.self.bias"][2, 4, 1].item() if positions in BIASED else None
    assert ("bias" in sentence) == (bias is not None)
    if bias is not None:
        assert f"+ bias {bias:.4g} =".replace("-", "−") in sentence


def test_the_size_of_the_archive_counts_the_bias() -> None:
    assert shown("none").archive_bytes() == 2 * 4 * 36 * 8
    assert shown("alibi").archive_bytes() == 2 * 4 * 36 * 12


def test_the_lines_of_an_edited_pass_give_what_is_shown_of_it() -> None:
    edited = Inputs(edits="encoder.0.self heads 1: zero")
    view = {"stack": "encoder.self", "layer": 1, "head": 3, "step": 10}
    scope: dict[str, Any] = {}
    exec(StageView(edited, {**view, "view": "head", "when": "difference"}).code, scope)
    after, before = (load_model("translator").trace(edited.text, edits=e) for e in (edited.edits, ""))
    address = "encoder.1.self.pattern"
    np.testing.assert_allclose(scope["change"], after[address][3] - before[address][3], atol=1e-6)
    exec(StageView(edited, {**view, "view": "effect"}).code, scope)
    top = before["logits"][10].double().softmax(-1).max()
    assert scope["outputs"][0].before == pytest.approx(float(top))
    assert scope["change"].kl[10] > 0
    untrained = Inputs(model="untrained", text="the cat sat", edits=edited.edits)
    exec(StageView(untrained, {"view": "head", "when": "difference"}).code, scope)
    assert scope["change"].shape == scope["pattern"].shape


@pytest.mark.parametrize("dark", [False, True])
def test_every_number_of_a_weight_is_in_its_figure(dark: bool) -> None:
    view = shown("none", view="numbers", query=4, key=1)
    fig, trace = view.figure(dark=dark), view.subject.run(None)
    q, k, v, z, scores, pattern = (
        trace[f"encoder.1.self.{name}"][2].numpy() for name in ("q", "k", "v", "z", "scores", "pattern")
    )
    *strips, values = (each for each in fig.data if each.type == "heatmap")
    for strip, vector in zip(strips, (q[4], k[1], q[4] * k[1]), strict=True):
        np.testing.assert_allclose(strip.z, vector[None], rtol=1e-6)
        assert strip.zmax == -strip.zmin == pytest.approx(np.abs(vector).max())
    np.testing.assert_allclose(values.z[:-1], pattern[4][:, None] * v, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(values.z[-1], z[4], rtol=1e-6)
    np.testing.assert_allclose(values.z[:-1].sum(0), values.z[-1], atol=1e-6)
    bars = [each for each in fig.data if each.type == "bar"]
    np.testing.assert_array_equal([each.y for each in bars], [scores[4], pattern[4]])
    p = theme.palette(dark)
    for each in bars:
        assert list(each.customdata) == ["the", "cat", "sat", "on", "the₂", "mat"]
        assert [colour == p["key"] for colour in each.marker.color] == [at == 1 for at in range(6)]
    colours = {note.text: note.font.color for note in fig.layout.annotations}
    assert colours["<b>query “the”</b>"] == p["query"] and colours["<b>key “cat”</b>"] == p["key"]
    assert colours["<b>weight × value; the rows add up to z</b>"] == p["value"]


@pytest.mark.parametrize(
    ("bias", "cap", "score", "words"),
    [
        (None, None, 0.5, " = score"),
        (0.25, None, 0.75, " + bias 0.25 = 0.75 = score"),
        (None, None, 0.75, " + bias 0.25 = 0.75 = score"),  # where nobody says it, the difference
        (1e-5, None, 0.50001, " + bias 10⁻⁵ = 0.5 = score"),
        (None, 0.5, 0.5 * np.tanh(1), " → 0.5 tanh(… / 0.5) = 0.3808 = score"),
        (0.25, 0.5, 0.5 * np.tanh(1.5), " + bias 0.25 = 0.75 → 0.5 tanh(… / 0.5) = 0.4526 = score"),
        (None, None, -np.inf, " → masked: score **−∞**"),
    ],
)
def test_a_score_is_told_step_by_step(
    bias: float | None, cap: float | None, score: float, words: str
) -> None:
    told = score_in_words(2.0, 0.25, bias, cap, score)
    assert told == f"sum of the products **2** × scale 0.25 = 0.5{words}"


def test_a_row_of_cross_attention_names_the_word_read_and_the_word_written_in_the_table_too() -> None:
    view = StageView(Inputs(), {"stack": "decoder.cross", "layer": 1, "head": 0})
    table = pd.read_csv(io.StringIO(csv_of(view)))
    n_key = view.stack.n_key
    assert "la → rue" in set(table["query"])
    assert list(table["query"][::n_key]) == [row["text"] for row in view.subject.rows(view.stack)]
    assert list(table["key"][:n_key]) == view.names("encoder")
