"""Addition modulo a prime: every pair on one side, and the right answer."""

import pytest
import torch

from attention_lab.models.data.tasks import IGNORED, Split, Task, make_task
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training.config import run_config


def small() -> Task:
    return make_task("modular-addition", {"modulus": 7, "percent": 40})


SIZES = {"training": 19, "held out": 26, "test": 4}  # 40% of 49 pairs and a tenth, rounded down


def pairs(split: Split) -> list[tuple[int, int]]:
    (batch,) = small().examples(0, 49, split=split)
    (inputs,) = batch.inputs
    assert (inputs[:, 2] == 7).all()
    return [(a, b) for a, b, _ in inputs.tolist()]


def test_the_pairs_of_the_three_parts_are_all_pairs_once() -> None:
    every = [(a, b) for a in range(7) for b in range(7)]
    assert small().split_sizes() == SIZES
    assert sorted(pairs("training") + pairs("held out") + pairs("test")) == every


def test_other_batches_are_drawn_from_their_side() -> None:
    task, generator = small(), torch.Generator().manual_seed(3)
    (inputs,) = task.batch(generator, 200, held_out=True).inputs
    assert sorted((a, b) for a, b, _ in inputs.tolist()) == sorted(pairs("held out"))
    (inputs,) = task.batch(generator, 200).inputs
    assert len(inputs) == 200 and {(a, b) for a, b, _ in inputs.tolist()} == set(pairs("training"))


def test_the_sum_is_asked_after_the_equals_sign_alone() -> None:
    batch = small().batch(torch.Generator().manual_seed(0), 19)
    for (a, b, _), targets in zip(batch.inputs[0].tolist(), batch.targets.tolist(), strict=True):
        assert targets == [IGNORED, IGNORED, (a + b) % 7]


@pytest.mark.parametrize("text", ["3 5", "3 5 =", "3+5=", " 3  5="])
def test_two_numbers_are_read(text: str) -> None:
    reading = small().read(text)
    assert reading.inputs[0].tolist() == [[3, 5, 7]]
    assert reading.tokens == {"decoder": ["3", "5", "="]}


def test_a_model_answers_with_its_best_number() -> None:
    task = small()
    model = Transformer(run_config(task).model, seed=0).eval()
    reading = task.answered(model, task.read("3 5"))
    best = int(model(torch.tensor([[3, 5, 7]]))[0, 2].argmax())
    assert reading.answer == task.outputs()[best]
    assert [each.wanted for each in task.samples(model, 0)] == [
        str(sum(map(int, each.given.split()[:2])) % 7) for each in task.samples(model, 0)
    ]
