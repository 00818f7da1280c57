"""What a sweep is said to take is what its runs are said to take."""

import pytest

from attention_lab.models.sweeps import Spec, parse
from attention_lab.models.sweeps.plan import plan
from attention_lab.models.training import estimates


def test_a_sweep_takes_the_time_of_its_middle_settings_for_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Found:
        def __init__(self, config) -> None:
            asked.append(config.training)
            self.seconds = float(config.training.steps)

    monkeypatch.setattr(estimates, "estimate", Found)
    fixed, space = parse(["steps=10,20,40,80,160", "d_model=32", "threads=1"])
    counted = plan(Spec(task="reverse", fixed=fixed, space=space, seeds=3))
    assert counted.seconds(n_slots=2) == 40 * 8  # 15 runs by two
    assert [(training.steps, training.threads) for training in asked] == [(40, 1)]
    monkeypatch.setattr(Found, "__init__", lambda self, config: setattr(self, "seconds", None))
    assert counted.seconds(n_slots=2) is None
