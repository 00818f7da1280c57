"""What a training config may be, and what follows from it."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from attention_lab.models.training.config import TrainingConfig, next_decade_step
from tests.models.training.small import config


@pytest.mark.parametrize(
    ("changes", "interval"),
    [
        ({"steps": 1_000}, 50),  # 20 times
        ({"steps": 1_000, "validate_every": 7}, 7),
        ({"steps": 600, "batch_size": 12}, 86),  # 14 steps' price each: a sixth of the time
        ({"steps": 40, "batch_size": 4}, 10),  # dear, but four times at the least
        ({"steps": 3, "batch_size": 4}, 1),
    ],
)
def test_validations_are_as_many_as_the_time_allows(changes, interval):
    assert TrainingConfig(**{"held_out": 256, "batch_size": 64, **changes}).validation_interval == interval


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"steps": 0}, r"steps=0 is not within 1 to 10,000,000; try 1,000"),
        ({"learning_rate": math.nan}, "learning_rate=nan is no number; try 0.001"),
        ({"batch_size": 2.5}, "batch_size=2.5 is no whole number; try 32"),
        ({"schedule": "linear"}, "schedule='linear' is unknown; choose one of cosine, constant, warm-up"),
        ({"compile": 1}, "compile=1 is unknown; choose one of auto, True, False"),
        ({"accumulation": 40}, "accumulation=40 cannot divide batch_size=32; try accumulation=32"),
    ],
)
def test_a_config_that_trains_nothing_is_refused(changes, text):
    with pytest.raises(ValueError, match=text):
        TrainingConfig(**changes)


def test_configs_are_the_same_after_a_trip_through_json():
    training = config({"dropout": 0.1}, precision="bfloat16").training
    again = TrainingConfig.from_dict(json.loads(json.dumps(training.to_dict())))
    assert again == training
    assert replace(again, steps=7) != training
    with pytest.raises(ValueError, match="'step' is no field of TrainingConfig; did you mean steps"):
        TrainingConfig.from_dict({"step": 3})


def test_a_run_that_several_processes_shared_is_read():
    training = config().training
    assert TrainingConfig.from_file({**training.to_dict(), "workers": 4, "sharding": "fsdp"}) == training
    with pytest.raises(ValueError, match="'workers' is no field of TrainingConfig"):
        TrainingConfig.from_dict({"workers": 4})


LIMITS = {"low": 1e-9, "high": 10.0}


def test_steps_are_1_2_5_of_each_decade_up_and_down_again():
    ladder = np.outer([1e-4, 1e-3, 1e-2, 1e-1], [1, 2, 5]).ravel()
    for low, high in pairwise(ladder):
        assert next_decade_step(low, up=True, **LIMITS) == pytest.approx(high, rel=1e-12)
        assert next_decade_step(high, up=False, **LIMITS) == pytest.approx(low, rel=1e-12)
        between = (low * high) ** 0.5  # a typed value steps to its neighbours on the ladder
        assert next_decade_step(between, up=True, **LIMITS) == pytest.approx(high, rel=1e-12)
        assert next_decade_step(between, up=False, **LIMITS) == pytest.approx(low, rel=1e-12)


def test_steps_end_at_the_limits():
    assert next_decade_step(7.0, up=True, **LIMITS) == next_decade_step(10.0, up=True, **LIMITS) == 10.0
    assert next_decade_step(1.5e-9, up=False, **LIMITS) == next_decade_step(1e-9, up=False, **LIMITS) == 1e-9
    with pytest.raises(ValueError, match=r"value=0\.0 has no order of magnitude; give a number above 0"):
        next_decade_step(0.0, up=True, **LIMITS)
