"""No sink without the softmax: the shipped models' numbers, computed again from their weights and files."""

import math

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.data.tasks import generator_of
from attention_lab.models.findings import findings
from attention_lab.models.findings.no_sink import NAMES, on_first, split
from attention_lab.models.findings.sources import run_of
from attention_lab.models.zoo.folders import SHIPPED

TEXTS = 12
OUTCOME = findings()["no-sink"].measured(None, texts=TEXTS)
VALUES = {number.label: number.value for number in OUTCOME.numbers}


def by_hand(normalizer: str) -> tuple[float, float]:
    """The weight on the first token from late consonants, a text each, and the loss: from q, k and logits."""
    lm = load_model(SHIPPED / "sinks" / normalizer)
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
            row = scores[at][: at + 1]
            total = sum(map(math.exp, row)) + (normalizer == "softmax-plus-one")
            sigmoid = 1 / (1 + (at + 1) * math.exp(-row[0]))
            weights.append(sigmoid if normalizer == "sigmoid" else math.exp(row[0]) / total)
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


def test_the_models_differ_in_their_normalizer_alone() -> None:
    configs = [run_of(f"sinks/{normalizer}").config().to_dict() for normalizer in NAMES]
    assert [config["model"].pop("normalizer") for config in configs] == list(NAMES)
    assert configs[0] == configs[1] == configs[2]


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


def test_it_holds_as_its_rule_says() -> None:
    first = {name: VALUES[f"{said}: weight on the first, from consonants"] for name, said in NAMES.items()}
    loss = {name: VALUES[f"{said}: held-out loss, nats a letter"] for name, said in NAMES.items()}
    as_good = loss["sigmoid"] <= 1.01 * loss["softmax"]
    assert OUTCOME.holds == (first["softmax"] >= 0.3 > first["sigmoid"] and as_good)
    assert not findings()["no-sink"].measured(None, texts=4, sink=0.95).holds


def test_consonants_are_idle_and_vowels_busy() -> None:
    idle, busy = split(["<bos>", "t", "a", "t", "k", "o", "k", "e"])
    assert (idle.nonzero().flatten().tolist(), busy.nonzero().flatten().tolist()) == ([4, 6], [5, 7])
    pattern = torch.zeros(2, 8, 8)
    pattern[0, 4, 0], pattern[1, 6, 0] = 1.0, 0.5
    assert on_first(pattern, idle) == pytest.approx(0.375)


def test_of_as_many_texts_the_losses_are_those_where_the_curves_end() -> None:
    curve = OUTCOME.charts[1]
    assert curve.title == "held-out loss, of 256 texts"
    whole = findings()["no-sink"].measured(None, texts=256)
    found = {number.label: number.value for number in whole.numbers}
    for name, values in curve.series.items():
        assert found[f"{name}: held-out loss, nats a letter"] == pytest.approx(values[-1], abs=1e-5)
