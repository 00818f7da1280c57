"""Intervals beside those of scipy: the percentile bootstrap, and Wilson's of what is right or wrong."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, bootstrap
from torch.nn.functional import cross_entropy

from attention_lab.models.data.tasks import IGNORED, Batch, Quotients, Task, make_task
from attention_lab.models.data.tasks.batch import answers_at
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.scores.intervals import (
    MANY,
    interval,
    loss_interval,
    method,
    n_resamples,
    resampled,
    right_of,
    validated,
)
from attention_lab.models.training.config import run_config

RNG = np.random.default_rng(0)


def each(above, below) -> Quotients:
    return Quotients(*(torch.tensor(side, dtype=torch.float64) for side in (above, below)))


def quotient(above, below, axis):
    return above.sum(axis=axis) / below.sum(axis=axis)


@pytest.mark.parametrize("n", [20, 300])
def test_the_interval_of_a_quotient_is_that_of_scipy(n: int) -> None:
    below = RNG.integers(1, 30, n)
    above = below * RNG.gamma(2.0, 1.0, n)
    wanted = bootstrap(
        (above, below), quotient, paired=True, vectorized=True, method="percentile", n_resamples=20_000, rng=1
    ).confidence_interval
    low, high = interval(each(above, below))
    width = wanted.high - wanted.low
    assert low == pytest.approx(wanted.low, abs=0.08 * width)
    assert high == pytest.approx(wanted.high, abs=0.08 * width)
    assert interval(each(above, below)) == (low, high), "seeded"
    assert low < above.sum() / below.sum() < high


@pytest.mark.parametrize(("right", "n"), [(0, 256), (256, 256), (0, 7), (3, 27), (35, 64), (29, 30)])
def test_examples_that_are_right_or_wrong_have_wilsons_interval(right: int, n: int) -> None:
    wanted = binomtest(right, n).proportion_ci(method="wilson")
    found = interval(each([1.0] * right + [0.0] * (n - right), [1.0] * n))
    assert found == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert (found[0] == 0) is (right == 0) and (found[1] == 1) is (right == n)


def test_examples_of_several_answers_count_once_where_all_are_alike() -> None:
    wanted = binomtest(9, 9).proportion_ci(method="wilson")
    assert interval(each([3.0] * 9, [3.0] * 9)) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert right_of(each([3.0, 2.0], [3.0, 3.0])) is None and right_of(each([0.4, 0.0], [1.0, 1.0])) is None


def test_examples_that_do_not_count_change_nothing_and_one_alone_has_no_interval() -> None:
    assert interval(each([1.0], [1.0])) is None and interval(each([1.0, 0.0], [1.0, 0.0])) is None
    assert interval(each([0.0] * 9, [0.0] * 9)) is None
    low, high = interval(each([0.0, 1.0] * 50 + [0.0] * 30, [1.0] * 100 + [0.0] * 30))
    assert 0.38 < low < 0.42 and 0.58 < high < 0.62


def test_many_examples_are_drawn_fewer_times_and_in_pieces() -> None:
    assert (n_resamples(256), n_resamples(MANY), n_resamples(2 * MANY), n_resamples(10**6)) == (
        1000,
        1000,
        500,
        200,
    )
    assert method(256) == "percentile bootstrap over examples, 1,000 resamples"
    above = RNG.normal(3.0, 1.0, 20_000)
    found = resampled(each(above, np.ones(20_000)))
    assert len(found) == 204 and found.std() == pytest.approx(above.std() / 20_000**0.5, rel=0.2)


def test_a_sum_of_losses_is_resampled_together() -> None:
    one = RNG.normal(2.0, 0.5, 100)
    both = {"a": each(one, np.ones(100)), "b": each(10 - one, np.ones(100))}
    low, high = loss_interval(both, {"a": 1.0, "b": 1.0})
    assert low == pytest.approx(10) and high == pytest.approx(10), "what one gains the other loses"
    assert loss_interval({"a": both["a"]}, {"a": 2.0}) == pytest.approx(
        tuple(2 * edge for edge in interval(both["a"]))
    )


SIZES = {"n_layers": 1, "n_heads": 1, "d_model": 16}
FEW = {"translation": {}, "everyday": {"vocabulary": 300}, "reverse": {}, "language-model": {"length": 16}}


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
