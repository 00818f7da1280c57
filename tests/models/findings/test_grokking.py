"""Grokking: the shipped run's steps from its file, its spectrum by sums of waves, its answers one by one."""

import json
import math

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.data.tasks import generator_of
from attention_lab.models.data.tasks.modular_addition import powers
from attention_lab.models.findings import findings
from attention_lab.models.findings.grokking import strongest
from attention_lab.models.zoo.folders import SHIPPED

OUTCOME = findings()["grokking"].measured(None)
NUMBERS = [number.value for number in OUTCOME.numbers]
LINES = [
    json.loads(line) for line in (SHIPPED / "grokking" / "run" / "metrics.jsonl").read_text().splitlines()
]


def test_the_powers_are_those_of_sines_and_cosines() -> None:
    embedding = load_model("grokking").model.embedding.weight.detach()[:113].double().tolist()
    by_hand = []
    for frequency in (1, 17, 50):
        total = 0.0
        for channel in range(64):
            for wave in (math.cos, math.sin):
                turns = [wave(2 * math.pi * frequency * n / 113) for n in range(113)]
                total += sum(t * row[channel] for t, row in zip(turns, embedding, strict=True)) ** 2
        by_hand.append(total)
    found = OUTCOME.film.values[-1].tolist()
    assert len(found) == 56 and sum(found) == pytest.approx(1)
    ratios = [each / by_hand[0] for each in by_hand]
    assert [found[at - 1] / found[0] for at in (1, 17, 50)] == pytest.approx(ratios, rel=1e-4)


def test_the_steps_are_those_of_the_run() -> None:
    known = min(line["step"] for line in LINES if line["loss"] < 0.05)
    validated = [line for line in LINES if "validation" in line]
    right = [line["step"] for line in validated if line["validation"]["exact match"] >= 0.95]
    assert NUMBERS[:2] == [known, right[0]]
    assert NUMBERS[2] == pytest.approx(right[0] / known)
    strict = findings()["grokking"].measured(None, times=20.0)
    assert NUMBERS[3] == pytest.approx(sum(sorted(OUTCOME.film.values[-1].tolist())[-5:]))
    assert OUTCOME.holds and not strict.holds


def test_the_shipped_weights_add_modulo_113() -> None:
    model = load_model("grokking")
    batch = model.task.batch(generator_of(5, 0), 500, held_out=True)
    with torch.no_grad():
        said = model.model(*batch.inputs)[:, -1].argmax(dim=-1)
    a, b = batch.inputs[0][:, 0], batch.inputs[0][:, 1]
    assert float((said == (a + b) % 113).double().mean()) == NUMBERS[4] == 1
    assert model.read("45 90").answer == "22"


def test_the_spectrum_grows_into_a_few_waves() -> None:
    film = OUTCOME.film
    assert film.steps[0] == 0 and film.steps[-1] == LINES[-1]["step"] == 3000
    assert film.names == tuple(map(str, range(1, 57)))
    assert torch.allclose(film.values.sum(dim=1), torch.ones(len(film.steps)), atol=1e-5)
    first, last = (strongest(values, 5) for values in film.values[[0, -1]])
    assert first < 0.2 and last == pytest.approx(NUMBERS[3], abs=1e-5)
    embedding = load_model("grokking").model.embedding.weight.detach()[:113]
    assert torch.allclose(film.values[-1].double(), powers(embedding), atol=1e-5)
