"""The spread of logits, against loops in float64, and the claims of the page's first part."""

import math

import numpy as np
import pytest
import torch

from attention_lab.pages.lab.softmax.inputs import Inputs
from attention_lab.pages.lab.softmax.spread import DEVIATIONS, change_by_shift, lesson, spread
from attention_lab.viz_core.labels import short

AT = {round(deviation, 6): frame for frame, deviation in enumerate(DEVIATIONS.tolist())}


def test_each_frame_is_the_same_draws_times_its_deviation():
    result = spread(16, seed=3)
    draws = result.logits[AT[1.0]].tolist()
    for frame in (0, 33, 80):
        deviation = 10 ** (-2 + frame / 20)
        logits = [deviation * x for x in draws]
        assert result.logits[frame].tolist() == pytest.approx(logits)
        assert result.original.weights[frame].tolist() == pytest.approx(plain_softmax(logits))
        sample = np.std(logits, ddof=1)
        assert result.unit_logits[frame].tolist() == pytest.approx([x / sample for x in logits])
        assert result.unit.weights[frame].tolist() == pytest.approx(
            plain_softmax([x / sample for x in logits])
        )


def plain_softmax(logits: list[float]) -> list[float]:
    exps = [math.exp(x - max(logits)) for x in logits]
    return [e / sum(exps) for e in exps]


def test_a_large_spread_stops_the_gradient_and_the_unit_deviation_keeps_it():
    stopped = 0
    for seed in range(20):
        result = spread(16, seed=seed)
        last = result.original.gradient[AT[100.0]].item()
        stopped += last < 1e-3
        assert result.unit.gradient[AT[100.0]].item() > 0.1
        # the steepest place is in between: nearly equal weights give less gradient than a choice of two
        assert 0.2 < result.original.gradient.max() <= 0.5
    assert stopped >= 18


def test_at_unit_deviation_nothing_depends_on_the_spread():
    unit = spread(32, seed=0).unit
    for numbers in (unit.weights, unit.entropy, unit.largest, unit.gradient):
        torch.testing.assert_close(numbers, numbers[:1].expand_as(numbers))


def test_adding_a_number_to_all_logits_changes_no_weight():
    assert change_by_shift(spread(16, seed=0).logits, 5) < 1e-13


def test_the_headline_says_how_far_the_draws_themselves_spread():
    own = spread(16, seed=0).logits[AT[1.0]].std().item()
    assert abs(own - 1) > 0.01, "else both sides would be alike"
    said = f"These 16 logits' standard deviation is {short(own)}:"
    assert lesson(Inputs()).board.notice[AT[1.0]].startswith(said)
