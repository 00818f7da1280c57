"""Induction heads: the shipped runs' numbers, computed again from their models and files."""

import json
import math

import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.data.tasks import Batch, generator_of
from attention_lab.models.findings import findings
from attention_lab.models.findings.induction import ONE, TWO, above_since, depth_of, early_loss, set_loss
from attention_lab.models.findings.sources import run_of
from attention_lab.models.zoo.folders import SHIPPED

OUTCOME = findings()["induction"].measured(None)


@pytest.mark.parametrize(("name", "series", "at"), [(TWO, "two layers", 0), (ONE, "one layer", 1)])
def test_late_less_early_is_that_of_the_shipped_weights(name: str, series: str, at: int) -> None:
    loaded = load_model(SHIPPED / name)
    assert (loaded.config.n_layers, loaded.config.feed_forward) == (int(name[-1]), False)
    batch = loaded.task.batch(generator_of(1, 0), 256, held_out=True)
    with torch.no_grad():
        rows = loaded.model(*batch.inputs).double().log_softmax(dim=-1)
    late, early = [], []
    for ids, targets, row in zip(batch.inputs[0].tolist(), batch.targets.tolist(), rows, strict=True):
        half: list[int] = []
        for position, target in enumerate(targets):
            if target >= 0:
                late.append(-float(row[position, target]))
        for letter in ids:
            if letter in half:
                break
            half.append(letter)
            early += [math.log(48 - len(half) + 1)] if len(half) > 1 else []
    gained = sum(late) / len(late) - sum(early) / len(early)
    assert OUTCOME.charts[0].series[series][-1] == pytest.approx(gained, abs=1e-4)
    assert OUTCOME.numbers[at].value == OUTCOME.charts[0].series[series][-1]
    assert early_loss(batch, 48) == pytest.approx(sum(early) / len(early))


def test_the_curve_of_the_best_head_is_that_of_the_snapshots() -> None:
    run = run_of(TWO)
    means = []
    for step in run.snapshots():
        pattern = run.snapshot(step)["decoder.1.self.pattern"].float()
        means.append([sum(float(head[16 + at, at + 1]) for at in range(16)) / 16 for head in pattern])
    best = max(range(4), key=lambda head: means[-1][head])
    assert OUTCOME.charts[1].series["two layers"] == pytest.approx([row[best] for row in means], abs=1e-5)
    assert OUTCOME.film is not None and OUTCOME.film.title == f"two layers, layer 1 head {best}"
    assert len(OUTCOME.film.tokens) == 32


def test_steps_and_losses_are_those_of_the_file() -> None:
    lines = [json.loads(line) for line in (SHIPPED / TWO / "run" / "metrics.jsonl").read_text().splitlines()]
    kept = [line for line in lines if "validation" in line]
    assert OUTCOME.charts[0].x == [line["step"] for line in kept]
    first, last = OUTCOME.charts[0].series["two layers"][0], OUTCOME.charts[0].series["two layers"][-1]
    assert first - last == pytest.approx(kept[0]["validation"]["loss"] - kept[-1]["validation"]["loss"])


def test_two_layers_can_and_one_cannot() -> None:
    assert OUTCOME.holds
    two, one = (OUTCOME.charts[1].series[name][-1] for name in ("two layers", "one layer"))
    assert two > 0.9 > 0.5 > one
    assert not findings()["induction"].measured(None, weight=0.1).holds


def test_a_head_is_formed_from_where_it_does_not_fall_back() -> None:
    assert above_since([0, 10, 20, 30], [0.1, 0.9, 0.7, 0.9], 0.5) == 10
    assert above_since([0, 10, 20, 30], [0.1, 0.9, 0.7, 0.9], 0.8) == 30
    assert above_since([0, 10], [0.9, 0.9], 0.5) == 0
    assert above_since([0, 10], [0.9, 0.5], 0.5) is None


def test_one_layer_gains_no_more_than_the_set_of_letters_gives() -> None:
    """Of a half of 3 letters, the second is one of the 2 left, and the third is known."""
    batch = Batch(inputs=(torch.zeros(1, 5, dtype=torch.long),), targets=torch.tensor([[-100] * 3 + [4, 7]]))
    assert set_loss(batch) == pytest.approx(math.log(2) / 2)
    one, two = (depth_of(run_of(name)) for name in (ONE, TWO))
    assert one.by_set < one.gained[-1] < 0 and two.gained[-1] < two.by_set
