"""Hard concrete gates: their distribution against its closed form, and what they do to heads."""

import math

import pytest
import torch

from models import load_model
from models.data.tasks import generator_of
from models.findings.gates import HIGH, LOW, TEMPERATURE, Gates, gated, n_kept, values_of

KEPT = {"encoder.0.self": [0, 2], "encoder.1.self": []}


def gates(*log_alpha: float) -> Gates:
    made = Gates(["encoder.0.self"], len(log_alpha))
    made.log_alpha.data[0] = torch.tensor(log_alpha)
    return made


def below(x: float, log_alpha: float) -> float:
    """The probability that a gate is at most x, 0 <= x < 1: that u is below the u whose gate is x."""
    share = (x - LOW) / (HIGH - LOW)
    return 1 / (1 + math.exp(-(TEMPERATURE * math.log(share / (1 - share)) - log_alpha)))


def test_drawn_gates_are_distributed_as_the_closed_form_says() -> None:
    """At 0, between, and at 1; 40,000 draws: three standard errors are 0.0075."""
    alphas = (-2.0, 0.0, 1.5)
    with torch.no_grad():
        drawn = gates(*alphas)(40_000, generator_of(0, 0))[:, 0]
    for at, log_alpha in enumerate(alphas):
        for x in (0.0, 0.2, 0.5, 0.9):
            assert float((drawn[:, at] <= x).float().mean()) == pytest.approx(below(x, log_alpha), abs=0.0075)
        one = 1 - 1 / (1 + math.exp(-(TEMPERATURE * math.log((1 - LOW) / (HIGH - 1)) - log_alpha)))
        assert float((drawn[:, at] == 1).float().mean()) == pytest.approx(one, abs=0.0075)
    assert drawn.min() == 0 and drawn.max() == 1


def test_the_expected_number_of_open_gates_is_one_less_the_probability_of_nought() -> None:
    made = gates(-3.0, 0.0, 4.0)
    assert made.open()[0].tolist() == pytest.approx([1 - below(0, alpha) for alpha in (-3.0, 0.0, 4.0)])
    made.open().sum().backward()
    slopes = [p * (1 - p) for p in made.open()[0].tolist()]
    assert made.log_alpha.grad is not None
    assert made.log_alpha.grad[0].tolist() == pytest.approx(slopes)
    assert made.kept() == {"encoder.0.self": [2]} or made.open()[0, 1] > 0.5


def test_between_nought_and_one_gradient_flows() -> None:
    made = gates(0.0)
    drawn = made(1_000, generator_of(0, 0))[:, 0, 0]
    inside = (drawn > 0) & (drawn < 1)
    (slope,) = torch.autograd.grad(drawn[inside].sum(), made.log_alpha, retain_graph=True)
    assert inside.any() and float(slope) > 0
    (none,) = torch.autograd.grad(drawn[~inside].sum(), made.log_alpha)
    assert float(none) == 0


def test_values_of_heads_kept() -> None:
    assert values_of(KEPT, 3).tolist() == [[[1, 0, 1], [0, 0, 0]]]
    assert n_kept(KEPT) == 2


def test_a_gate_of_nought_is_the_edit_zero_and_gates_of_one_change_nothing() -> None:
    lm = load_model("translator")
    target = "l'animal n'a pas traversé la rue"
    reading = lm.read("the animal did not cross the street", target=target)
    every = {address: [0, 1, 2, 3] for address in lm.projections()}
    cut = every | {"encoder.1.self": [1], "decoder.0.cross": [0, 3], "decoder.1.self": []}
    edits = ["encoder.1.self heads 0,2,3: zero", "decoder.0.cross heads 1,2: zero", "decoder.1.self: zero"]
    before, edited = lm.trace(reading)["logits"], lm.trace(reading, edits=edits)["logits"]
    with torch.no_grad():
        with gated(lm.projections(), values_of(every, 4)):
            assert torch.equal(lm.model(*reading.inputs)[0], lm.model(*reading.inputs, mask=None)[0])
            torch.testing.assert_close(lm.model(*reading.inputs)[0], before, atol=1e-4, rtol=1e-4)
        with gated(lm.projections(), values_of(cut, 4)):
            torch.testing.assert_close(lm.model(*reading.inputs)[0], edited, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(lm.model(*reading.inputs)[0], before, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(edited, before, atol=0.1)
