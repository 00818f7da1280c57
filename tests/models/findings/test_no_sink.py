"""No sink without the softmax, with a gate or with softpick: numbers computed again from shipped weights."""

import math

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.data.tasks import generator_of
from attention_lab.models.findings import findings
from attention_lab.models.findings.no_sink import NAMES
from attention_lab.models.findings.sources import run_of
from attention_lab.models.zoo.folders import SHIPPED

TEXTS = 12
OUTCOME = findings()["no-sink"].measured(None, texts=TEXTS)
VALUES = {number.label: number.value for number in OUTCOME.numbers}


def by_hand(name: str) -> tuple[float, float]:
    """The weight on the first token from late consonants, a text each, and the loss: from q, k and logits."""
    lm = load_model(SHIPPED / "sinks" / name)
    batch = lm.task.batch(generator_of(1, 0), TEXTS, held_out=True)
    of_texts, nats = [], []
    attention = lm.model.decoder.layers[0].self_attention
    for ids, targets in zip(batch.inputs[0], batch.targets, strict=True):
        with torch.no_grad():
            h = lm.model.decoder.layers[0].self_norm(lm.model.embedding(ids[None]) * 8)
            turned = lm.model.decoder.positions.rotate
            q, k = (turned(project(h)[:, None])[0, 0] for project in (attention.q_proj, attention.k_proj))
            scores = (q @ k.T / 8).tolist()
            rows = lm.model(ids[None])[0].double().log_softmax(dim=-1)
        weights = []
        for at in range(4, len(ids)):
            if lm.outputs[ids[at]] in "aeiou":
                continue
            powers = [math.exp(score) for score in scores[at][: at + 1]]
            total = sum(powers) + (name == "softmax-plus-one")
            own = {
                "sigmoid": 1 / (1 + (at + 1) / powers[0]),
                "softpick": max(powers[0] - 1, 0) / sum(abs(power - 1) for power in powers),
            }
            weights.append(own.get(name, powers[0] / total))
        of_texts.append(sum(weights) / len(weights))
        nats += [-float(row[target]) for row, target in zip(rows, targets.tolist(), strict=True)]
    return sum(of_texts) / TEXTS, sum(nats) / len(nats)


@pytest.mark.parametrize("normalizer", NAMES)
def test_weight_on_the_first_and_loss_are_those_of_the_shipped_weights(normalizer: str) -> None:
    weight, loss = by_hand(normalizer)
    assert VALUES[f"{NAMES[normalizer]}: weight on the first, from consonants"] == pytest.approx(
        weight, abs=1e-4
    )
    assert VALUES[f"{NAMES[normalizer]}: held-out loss, nats a letter"] == pytest.approx(loss, abs=1e-4)


@pytest.mark.parametrize(
    ("finding", "models"),
    [
        ("gate-on-heads", {"without": "softmax", "with a gate": "gated"}),
        ("softpick", {"softmax": "softmax", "softpick": "softpick"}),
    ],
)
def test_a_gate_and_softpick_have_the_weight_of_their_shipped_weights(
    finding: str, models: dict[str, str]
) -> None:
    outcome = findings()[finding].measured(None, texts=TEXTS)
    values = {number.label: number.value for number in outcome.numbers}
    assert outcome.holds
    for label, name in models.items():
        found = values[f"{label}: weight on the first, from consonants"]
        assert found == pytest.approx(by_hand(name)[0], abs=1e-4)


def test_the_models_differ_in_one_setting_alone() -> None:
    configs = [run_of(f"sinks/{normalizer}").config().to_dict() for normalizer in NAMES]
    assert [config["model"].pop("normalizer") for config in configs] == list(NAMES)
    assert configs[0] == configs[1] == configs[2]
    plain = load_model(SHIPPED / "sinks" / "softmax").config.to_dict()
    for name, switch in (("gated", "head_gate"), ("softpick", "normalizer")):
        other = load_model(SHIPPED / "sinks" / name).config.to_dict()
        assert {key for key in other if other[key] != plain[key]} == {switch}


def test_the_curve_is_of_the_snapshots() -> None:
    run = run_of("sinks/softmax")
    letters = run.probe()["tokens"]["decoder"]
    late = [at for at, letter in enumerate(letters) if at >= 4 and letter not in "aeiou"]
    means = []
    for step in run.snapshots():
        (head,) = run.snapshot(step)["decoder.0.self.pattern"].float()
        means.append(sum(float(head[at, 0]) for at in late) / len(late))
    assert OUTCOME.charts[0].series["softmax"] == pytest.approx(means, abs=1e-5)
    assert OUTCOME.film is not None and OUTCOME.film.patterns.shape == (len(means), 33, 33)


def test_of_as_many_texts_the_losses_are_those_where_the_curves_end() -> None:
    curve = OUTCOME.charts[1]
    assert curve.title == "held-out loss, of 256 texts"
    whole = findings()["no-sink"].measured(None, texts=256)
    found = {number.label: number.value for number in whole.numbers}
    for name, values in curve.series.items():
        assert found[f"{name}: held-out loss, nats a letter"] == pytest.approx(values[-1], abs=1e-5)


def test_no_sink_does_not_hold_where_its_rule_asks_for_more() -> None:
    assert not findings()["no-sink"].measured(None, texts=4, sink=0.95).holds
