"""Rollout, norms and the effect of a blank, each computed in another way."""

import math

import pytest
import torch

from models import load_model
from models.findings import findings
from models.findings.blanking import effects, probabilities
from models.findings.rollout import normed, rated, rolled
from viz_core import rollout

FINDING = findings()["rollout"]
TEXT = "the plot was dull , but the acting was superb ."


def test_rollout_is_that_of_the_figures() -> None:
    patterns = torch.rand(3, 2, 5, 5, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)
    assert torch.allclose(rolled(patterns).double(), torch.tensor(rollout(patterns.numpy())[-1]), atol=1e-6)


def test_norms_are_the_lengths_of_what_keys_add() -> None:
    model = load_model("sentiment")
    trace = model.trace(TEXT)
    found = normed(model, trace, 1)
    weight = model.model.get_parameter("encoder.layers.1.self_attention.out_proj.weight").detach()
    for query, key in ((0, 3), (4, 0), (7, 7)):
        z = torch.cat(
            [
                trace["encoder.1.self.pattern"][h, query, key] * trace["encoder.1.self.v"][h, key]
                for h in range(4)
            ]
        )
        assert float(found[query, key]) == pytest.approx(float((weight @ z).norm()), rel=1e-4)


@pytest.mark.parametrize("blank", ["zero", "mean"])
def test_effects_are_those_of_another_embedding(blank: str) -> None:
    model = load_model("sentiment")
    reading = model.read(TEXT)
    (ids,) = reading.inputs
    with torch.no_grad():
        whole = model.model(ids)[0, 0].softmax(dim=-1)
        answer = int(whole.argmax())

        def blanked(module: object, given: object, found: torch.Tensor) -> torch.Tensor:
            found = found.clone()
            found[0, 10] = found[0].mean(dim=0) if blank == "mean" else 0
            return found

        handle = model.model.embedding.register_forward_hook(blanked)
        without = model.model(ids)[0, 0].softmax(dim=-1)
        handle.remove()
    assert probabilities(model, reading).tolist() == pytest.approx(whole.tolist(), abs=1e-6)
    found = effects(model, reading, [10], blank)
    assert float(found) == pytest.approx(abs(float(whole[answer] - without[answer])), abs=1e-5)


def test_rollout_agrees_better_with_the_true_effect() -> None:
    found = FINDING.measured(load_model("sentiment"), texts=8)
    numbers = {each.label: each.value for each in found.numbers}
    assert found.holds is (numbers["rollout"] > numbers["raw weights of the last layer"])
    assert found.holds
    assert found.charts[0].series["ρ"][1] == numbers["rollout"] > 0.4


def test_each_way_rates_every_key_from_the_first_position() -> None:
    model = load_model("sentiment")
    trace = model.trace(TEXT)
    weights, roll, norms = rated(model, trace)
    assert torch.equal(weights, trace["encoder.1.self.pattern"].mean(dim=0)[0])
    assert float(roll.sum()) == pytest.approx(1, abs=1e-5)
    assert torch.equal(norms, normed(model, trace, 1)[0])


def test_a_review_whose_words_are_rated_alike_has_no_correlation(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model("sentiment")
    alike = iter([False, True, False, True] + [True] * 4)

    def some(*given: object) -> list[torch.Tensor]:
        factor = 0 if next(alike) else 1
        return [factor * way for way in rated(*given)]

    monkeypatch.setattr("models.findings.rollout.rated", some)
    found = FINDING.measured(model, texts=4)
    assert all(math.isfinite(number.value) for number in found.numbers)
    assert found.said.startswith("Over 2 reviews")
    with pytest.raises(ValueError, match="rates the words of nearly all reviews alike"):
        FINDING.measured(model, texts=4)
