"""A gate on heads and softpick: the shipped models' numbers, computed again from q and k alone."""

import math

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.data.tasks import generator_of
from attention_lab.models.findings import findings
from attention_lab.models.zoo.folders import SHIPPED

TEXTS = 8


def by_hand(name: str) -> float:
    """The weight on the first token from late consonants, from q and k alone."""
    lm = load_model(SHIPPED / "sinks" / name)
    batch, of_texts = lm.task.batch(generator_of(1, 0), TEXTS, held_out=True), []
    layer = lm.model.decoder.layers[0]
    for ids in batch.inputs[0]:
        with torch.no_grad():
            h = layer.self_norm(lm.model.embedding(ids[None]) * 8)
            turned = lm.model.decoder.positions.rotate
            attention = layer.self_attention
            q, k = (turned(project(h)[:, None])[0, 0] for project in (attention.q_proj, attention.k_proj))
        weights = []
        for at, row in enumerate((q @ k.T / 8).tolist()):
            if at < 4 or lm.outputs[ids[at]] in "aeiou":
                continue
            powers = [math.exp(score) for score in row[: at + 1]]
            if name == "softpick":
                weights.append(max(powers[0] - 1, 0) / sum(abs(power - 1) for power in powers))
            else:
                weights.append(powers[0] / sum(powers))
        of_texts.append(sum(weights) / len(weights))
    return sum(of_texts) / TEXTS


@pytest.mark.parametrize(
    ("finding", "models"),
    [
        ("gate-on-heads", {"without": "softmax", "with a gate": "gated"}),
        ("softpick", {"softmax": "softmax", "softpick": "softpick"}),
    ],
)
def test_the_weight_on_the_first_token_is_that_of_the_shipped_weights(finding, models):
    outcome = findings()[finding].measured(None, texts=TEXTS)
    values = {number.label: number.value for number in outcome.numbers}
    assert outcome.holds
    for label, name in models.items():
        found = values[f"{label}: weight on the first, from consonants"]
        assert found == pytest.approx(by_hand(name), abs=1e-4)


def test_the_pairs_differ_in_one_setting():
    configs = {
        name: load_model(SHIPPED / "sinks" / name).config.to_dict()
        for name in ("softmax", "gated", "softpick")
    }
    for name, switch in (("gated", "head_gate"), ("softpick", "normalizer")):
        other = configs[name]
        assert {key for key in other if other[key] != configs["softmax"][key]} == {switch}
