"""A loss that grows is told from one that is noisy, and the rate to try comes from the task's own."""

import math
import re

import numpy as np
import pytest

from attention_lab.models.training.growth import FEWEST, growth, rate_to_try, remedy
from attention_lab.models.training.loop import DivergedError, Training
from tests.models.training.small import config

N = 200
STEPS = list(range(1, N + 1))
NOISE = np.random.default_rng(0).normal(0, 0.1, N)


def falling(low):
    return low + (3.0 - low) * np.exp(-np.arange(N) / 30)


@pytest.mark.parametrize(
    ("losses", "sentence"),
    [
        (falling(0.5) + NOISE, None),
        (np.full(N, 3.0) + NOISE, None),  # it learns nothing, and does not grow
        (np.where(np.arange(N) % 40 == 7, 20.0, falling(0.5)), None),  # spikes
        (np.where(np.arange(N) < 1, 3.0, 24.4), "the loss grew from 3 to 24.4"),
        (np.linspace(3, 4, N), r"the loss grew from 3 to 3\.9\d"),
        (
            np.where(np.arange(N) < 150, falling(0.5), 2.5),
            r"fell to 0\.5\d+ by step 15\d and grew again to 2.5$",
        ),
        (np.where(np.arange(N) < 150, falling(0.5), 1.0), None),  # a fifth is given back
        (falling(0.5)[: FEWEST - 1][::-1], None),
    ],
)
def test_growth_is_told_from_noise(losses, sentence):
    found = growth(STEPS[: len(losses)], losses.tolist())
    if sentence is None:
        assert found is None
    else:
        assert re.search(sentence, found.sentence)
        assert found.first == losses[0] and found.last == np.median(losses[-N // 10 :])


@pytest.mark.parametrize(("rate", "tried"), [(10.0, 0.003), (0.004, 0.003), (0.003, 0.001), (3e-4, 1e-4)])
def test_the_rate_to_try_comes_from_the_tasks_own(rate, tried):
    assert rate_to_try(rate, 0.003) == pytest.approx(tried)


def test_clipping_is_advised_where_there_is_none():
    assert remedy(10, 0.003, 1.0) == "try learning_rate=0.003 instead of 10, more warmup_steps"
    assert remedy(10, 0.003, 0.0).endswith(", or clip=1") and remedy(10, 0.003, 5).endswith(", or clip=1")


def test_a_diverged_run_is_sent_to_the_tasks_rate():
    training = Training(config(learning_rate=10.0))
    training.model.embedding.weight.data.fill_(math.nan)
    usual = training.config.task.training["learning_rate"]
    said = f"the loss is nan at step 1: .* try learning_rate={usual:.2g} instead of 10"
    with pytest.raises(DivergedError, match=said):
        next(training)
