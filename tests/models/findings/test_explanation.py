"""Attention as explanation: permuted weights and their distance, by hand."""

import math

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.findings import findings
from attention_lab.models.findings.attribution import probabilities
from attention_lab.models.findings.explanation import MOST_APART, asked_row, divergence, permuted, permuting

FINDING = findings()["explanation"]
TEXT = "the plot was dull , but the acting was superb ."


def test_the_divergence_is_zero_to_ln_2() -> None:
    p, q = torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.0, 0.25, 0.75])
    by_hand = 0.0
    for a, b in zip(p.tolist(), q.tolist(), strict=True):
        mean = (a + b) / 2
        by_hand += sum(each * math.log(each / mean) for each in (a, b) if each) / 2
    assert float(divergence(p, q)) == pytest.approx(by_hand)
    assert float(divergence(p, p)) == 0
    assert float(divergence(torch.tensor([1.0, 0]), torch.tensor([0, 1.0]))) == pytest.approx(
        MOST_APART, abs=1e-3
    )


def test_permuted_weights_are_those_of_other_keys() -> None:
    model = load_model("sentiment")
    reading = model.read(TEXT)
    order = torch.arange(len(reading.tokens["encoder"])).flip(0)
    address, row = asked_row(model, reading)
    trace = model.trace(reading, edit=permuting(address, order))
    assert address == "encoder.1.self.pattern"
    assert torch.equal(trace[address][:, 0], row.flip(-1))
    change = float((trace["logits"][0].double().softmax(-1) - probabilities(model, reading)).abs().sum()) / 2
    (moved,), apart = permuted(model, reading, [order], 1.0)
    assert moved == pytest.approx(change)
    assert apart == pytest.approx(float(divergence(row, row.flip(-1)).mean()))
    assert permuted(model, reading, [order], change / 2)[1] == 0


def test_weights_that_are_all_alike_agree_with_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attention_lab.models.findings.explanation.kendall", lambda a, b: float("nan"))
    with pytest.raises(ValueError, match="rates the words of nearly all texts alike"):
        FINDING.measured(load_model("sentiment"), texts=5, permutations=1)
