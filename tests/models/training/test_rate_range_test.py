"""The learning-rate range test: its rates, its smoothing, its suggestion, its end, and what it refuses."""

import math

import numpy as np
import pytest
import torch

from attention_lab.models.data.tasks import make_task
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training.config import run_config
from attention_lab.models.training.rate_range_test import RateFinder, judge, rising, smoothed

CONFIG = run_config(
    make_task("reverse"),
    sizes={"n_layers": 1, "n_heads": 2, "d_model": 16},
    training={"batch_size": 8, "threads": 1, "device": "cpu", "clip": 0.0, "weight_decay": 0.0},
)


def test_rates_rise_by_one_factor():
    assert np.allclose(rising(1e-5, 1e-1, 50), np.geomspace(1e-5, 1e-1, 50), rtol=1e-12)


def test_smoothing_weighs_neighbours_by_their_distance():
    losses = np.random.default_rng(0).normal(size=30)
    weights = 0.85 ** np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
    assert np.allclose(smoothed(list(losses)), weights @ losses / weights.sum(axis=1), rtol=1e-12)


def test_the_suggestion_is_a_tenth_of_where_the_loss_is_least():
    rates = rising(1e-6, 1.0, 121)
    losses = [3 + (math.log10(rate) + 2) ** 2 for rate in rates]  # least at 1e-2, symmetric around it
    found = judge(rates, losses, done=True, seconds=0.0)
    assert found.least == pytest.approx(1e-2, rel=0.3)
    assert found.suggestion == pytest.approx(found.least / 10)
    assert found.steepest < 1e-4  # a parabola falls fastest at its beginning
    assert f"try learning_rate={found.suggestion:.2g}" in found.sentence


def test_a_loss_that_does_not_fall_suggests_nothing():
    rates = rising(1e-6, 1.0, 60)
    found = judge(rates, [2.0 + rate for rate in rates], done=True, seconds=0.0)
    assert (found.suggestion, found.steepest, found.least) == (None, None, None)
    assert "the loss has not fallen at any of these rates" in found.sentence


def test_its_steps_are_those_of_adamw_with_rising_rates():
    finder = RateFinder(CONFIG, low=1e-4, high=1e-1, steps=10)
    found = list(finder)
    assert [len(each.losses) for each in found] == list(range(1, 11))
    assert [each.done for each in found] == [False] * 9 + [True]
    model = Transformer(CONFIG.model, seed=CONFIG.training.seed).train()
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.0)
    batches, losses = CONFIG.task.batches(CONFIG.training.seed, 8), []
    for rate in found[-1].rates:
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        loss = CONFIG.task.losses(model, next(batches))["loss"]
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert found[-1].losses == pytest.approx(losses, rel=1e-4)


def test_it_ends_where_the_loss_has_left():
    last = list(RateFinder(CONFIG, low=1e-3, high=10.0, steps=60))[-1]
    assert last.done and len(last.losses) < 60
    assert all(map(math.isfinite, last.losses))
    assert last.smoothed[-1] > 4 * min(last.smoothed)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"low": 1e-2, "high": 1e-3},
            "rates from 0.01 to 0.001 are no range within 1e-09 to 10; try 1e-06 to 1",
        ),
        ({"steps": 5}, "steps=5 is not within 10 to 2,000; try 120"),
    ],
)
def test_what_is_no_test_is_refused(values, said):
    with pytest.raises(ValueError) as refusal:
        RateFinder(CONFIG, **values)
    assert said in str(refusal.value)
