"""Rollout, norms and the effect of a blank, each computed in another way."""

import math
from itertools import islice

import numpy as np
import pytest
import scipy.stats
import torch

from attention_lab.models import load_model
from attention_lab.models.data.tasks import Reading
from attention_lab.models.findings import findings
from attention_lab.models.findings.attribution import effects, probabilities, unknown_id
from attention_lab.models.findings.rollout import TABLE_1, flowing, normed, rated
from attention_lab.viz_core import attention_flow, rollout

FINDING = findings()["rollout"]
TEXT = "the plot was dull , but the acting was superb ."


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


def test_an_unknown_word_takes_a_tokens_place() -> None:
    model = load_model("verbs")
    text = "the keys to the old cabinet"
    reading = model.read(text)
    found = effects(model, reading, [1, 2, 6], "unknown")
    whole, *without = (
        model.trace(each)["logits"][0].double().softmax(dim=-1)
        for each in (text, "⸙ keys to the old cabinet", "the ⸙ to the old cabinet", "the keys to the old ⸙")
    )
    answer = int(whole.argmax())
    assert model.outputs[answer] == "plural"
    assert found.tolist() == pytest.approx([abs(float(whole[answer] - w[answer])) for w in without], abs=1e-6)
    assert float(found.argmax()) == 1


def test_a_model_that_reads_any_word_has_no_unknown_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model("sentiment")
    assert unknown_id(model) == model.task.tokenizer.vocabulary.index("[UNK]")
    by_letters = Reading((torch.tensor([[2, 0, 1]]),), {"encoder": ["[CLS]", "a", "b"]})
    monkeypatch.setattr(model, "read", lambda text: by_letters)
    with pytest.raises(ValueError, match="'sentiment' knows no unknown word; choose another blank"):
        unknown_id(model)


def test_flow_through_all_layers_is_as_wide_as_its_narrowest_place() -> None:
    """As the finding's caveat says of the shipped model."""
    trace = load_model("verbs").trace("the stream to the bear that described the lions")
    patterns = torch.stack([trace[f"encoder.{layer}.self.pattern"] for layer in range(6)])
    n = patterns.shape[-1]
    given = 0.5 * patterns[0].mean(dim=0).sum(dim=0) + 0.5
    assert n == 10
    assert flowing(patterns, [0])[0].tolist() == pytest.approx(given.clamp(max=1).tolist(), abs=1e-6)


def test_correlations_are_scipys_layer_by_layer() -> None:
    """The shipped model, its texts drawn again, ranked by another library."""
    model = load_model("verbs")
    found = FINDING.measured(model, texts=2)
    by_text = []
    for text in islice(model.task.texts(1), 2):
        reading = model.read(text)
        words = list(range(1, len(reading.tokens["encoder"])))
        done = effects(model, reading, words, "unknown").numpy()
        trace = model.trace(text)
        patterns = np.stack([trace[f"encoder.{layer}.self.pattern"].numpy() for layer in range(6)])
        flows = np.stack([attention_flow(patterns[: at + 1], [0])[0] for at in range(6)])
        ways = {"raw weights": patterns.mean(axis=1)[:, 0], "rollout": rollout(patterns)[:, 0], "flow": flows}
        by_text.append(
            {
                way: [scipy.stats.spearmanr(layer[words], done).statistic for layer in layers]
                for way, layers in ways.items()
            }
        )
    for way in ("raw weights", "rollout", "flow"):
        means = np.mean([each[way] for each in by_text], axis=0)
        assert found.charts[0].series[way] == pytest.approx(means.tolist(), abs=2e-3), way
    numbers = {each.label: each.value for each in found.numbers}
    last = {way: values[-1] for way, values in found.charts[0].series.items()}
    assert numbers["rollout, last layer"] == last["rollout"] and numbers["flow, last layer"] == last["flow"]
    better = last["rollout"] > last["raw weights"] and last["flow"] > last["raw weights"]
    assert found.holds is better
    said = [way for way in ("rollout", "flow") if last[way] > last["raw weights"]]
    assert said == ["rollout"] and found.said.endswith(
        "rollout agrees better than raw weights, flow does not."
    )


def test_what_the_paper_has_is_its_table_1() -> None:
    numbers = {
        each.label: each.published for each in FINDING.measured(load_model("sentiment"), texts=2).numbers
    }
    for way, label in (("raw weights", "raw weights, last layer"), ("rollout", "rollout, last layer")):
        assert numbers[label].startswith(f"{TABLE_1[way][-1]:.2f} ± ")
    assert numbers["raw weights, first layer"].startswith("0.69") and TABLE_1["raw weights"][0] == 0.69


def test_each_way_rates_every_key_from_the_first_position() -> None:
    model = load_model("sentiment")
    trace = model.trace(TEXT)
    ways = rated(model, trace)
    assert torch.equal(ways["raw weights"][1], trace["encoder.1.self.pattern"].mean(dim=0)[0])
    assert ways["rollout"].sum(dim=1).tolist() == pytest.approx([1, 1], abs=1e-5)
    assert torch.equal(ways["weights × norms"][1], normed(model, trace, 1)[0])
    assert torch.allclose(ways["flow"][0], ways["rollout"][0].double(), atol=1e-6)


def test_a_text_whose_words_are_rated_alike_has_no_correlation(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model("sentiment")
    alike = iter([False, True, False, True] + [True] * 4)

    def some(*given: object) -> dict[str, torch.Tensor]:
        factor = 0 if next(alike) else 1
        return {name: factor * way for name, way in rated(*given).items()}

    monkeypatch.setattr("attention_lab.models.findings.rollout.rated", some)
    found = FINDING.measured(model, texts=4)
    assert all(math.isfinite(number.value) for number in found.numbers)
    assert "over 2 texts" in found.said
    with pytest.raises(ValueError, match="rates the words of nearly all texts alike"):
        FINDING.measured(model, texts=4)
