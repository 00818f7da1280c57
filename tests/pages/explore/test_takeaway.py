"""What is taken away, without a browser: the table and the figure under every position scheme."""

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from models import load_model
from models.config import POSITION_SCHEMES
from pages.explore.state import Inputs
from pages.explore.takeaway import Shown, csv_of

BIASED = ("alibi", "t5", "transformer-xl")


def shown(positions: str, **view: object) -> Shown:
    inputs = Inputs(model="untrained", text="the cat sat on the mat", seed=5, positions=positions)
    return Shown(inputs, {"layer": 1, "head": 2, **view})


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
    exec(Shown(edited, {**view, "view": "head", "when": "difference"}).code, scope)
    after, before = (load_model("translator").trace(edited.text, edits=e) for e in (edited.edits, ""))
    address = "encoder.1.self.pattern"
    np.testing.assert_allclose(scope["change"], after[address][3] - before[address][3], atol=1e-6)
    exec(Shown(edited, {**view, "view": "effect"}).code, scope)
    top = before["logits"][10].double().softmax(-1).max()
    assert scope["outputs"][0].before == pytest.approx(float(top))
    assert scope["change"].kl[10] > 0
    untrained = Inputs(model="untrained", text="the cat sat", edits=edited.edits)
    exec(Shown(untrained, {"view": "head", "when": "difference"}).code, scope)
    assert scope["change"].shape == scope["pattern"].shape
