"""Scores of a model on held-out examples beside plain loops over them, with n and interval."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from models.data.tasks import IGNORED, Batch, Task, make_task
from models.data.tasks.judged import answers_at
from models.engine.transformer import Transformer
from models.scores.validation import validated
from models.training.config import run_config

SIZES = {"n_layers": 1, "n_heads": 1, "d_model": 16}
FEW = {
    "translation": {},
    "parallel-text": {"vocabulary": 300},
    "reverse": {},
    "language-model": {"length": 16},
}


def model_of(task: Task) -> Transformer:
    return Transformer(run_config(task, sizes=SIZES).model, seed=1).eval()


def test_what_is_known_of_each_answer_is_what_a_loop_finds() -> None:
    torch.manual_seed(0)
    targets = torch.tensor([[3, IGNORED, 1], [IGNORED, 0, IGNORED]])
    logits = torch.randn(3, 5) * 3
    at = answers_at(logits, targets[targets != IGNORED], Batch((targets,), targets))
    probabilities = logits.double().softmax(dim=-1)
    for row, column, answer in ((0, 0, 0), (0, 2, 1), (1, 1, 2)):
        right = int(targets[row, column])
        assert at.nats[row, column].item() == pytest.approx(-math.log(probabilities[answer, right]), rel=1e-5)
        assert at.best[row, column] == probabilities[answer].argmax()
        assert at.sure[row, column].item() == pytest.approx(probabilities[answer].max().item(), rel=1e-5)
    assert at.asked.tolist() == [[True, False, True], [False, True, False]]
    whole = [
        all(at.best[r, c] == targets[r, c] for c in range(3) if targets[r, c] != IGNORED) for r in (0, 1)
    ]
    assert at.whole().above.tolist() == [float(each) for each in whole]
    assert at.loss().below.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("name", FEW)
def test_loss_and_shares_are_those_of_one_example_after_another(name: str) -> None:
    task = make_task(name, FEW[name])
    model, n = model_of(task), 12
    found = validated(task, model, task.examples(1, n, at_once=5))
    nats, right, whole, total = [], 0, 0, 0
    with torch.no_grad():
        for batch in task.examples(1, n, at_once=1):
            logits = model(*batch.inputs)[0]
            asked = batch.targets[0] != IGNORED
            nats += cross_entropy(logits[asked].double(), batch.targets[0][asked], reduction="none").tolist()
            answers = logits.argmax(dim=-1)[asked] == batch.targets[0][asked]
            right, whole, total = (
                right + int(answers.sum()),
                whole + bool(answers.all()),
                total + len(answers),
            )
    if name != "translation":  # whose loss is that of the pronouns, too
        assert found.scores["loss"] == pytest.approx(sum(nats) / len(nats), rel=1e-5)
    for share in ("tokens right", "accuracy"):
        if share in found.scores:
            assert found.scores[share] == pytest.approx(right / total)
    for share in ("whole sentences", "exact match"):
        if share in found.scores:
            assert found.scores[share] == pytest.approx(whole / n)
    assert found.n["loss"] == n
    low, high = found.intervals["loss"]
    assert low < found.scores["loss"] < high


def test_a_task_of_ones_own_that_tallies_its_own_way_is_scored_as_it_says() -> None:
    class Own(type(make_task("reverse"))):  # no name: no entry among the tasks
        def tally(self, model: Transformer, batch: Batch) -> dict[str, tuple[float, float]]:
            return {"its own": (float(len(batch)), 2.0 * len(batch))}

    task = Own()
    usual = validated(make_task("reverse"), model_of(task), task.examples(1, 8))
    found = validated(task, model_of(task), task.examples(1, 8, at_once=3))
    assert found.scores == {"loss": pytest.approx(usual.scores["loss"], rel=1e-5), "its own": 0.5}
    assert found.n == {"loss": 8, "its own": 8} and found.intervals == {}
