"""What a sweep is said to cost is what its runs are said to cost."""

import pytest

from attention_lab.models.byte_units import MB
from attention_lab.models.engine.size import count_parameters
from attention_lab.models.limits import in_force
from attention_lab.models.sweeps import Spec, parse
from attention_lab.models.sweeps import plan as plan_module
from attention_lab.models.sweeps.plan import Configs, plan
from attention_lab.models.training import estimates as of_runs


def planned(*lines: str, **given):
    fixed, space = parse(lines)
    return plan(Spec(task="copy", fixed=fixed, space=space, **given))


def test_a_sweep_costs_the_mean_of_its_settings_times_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Found:
        def __init__(self, config) -> None:
            asked.append(config.training)
            self.seconds = float(config.training.steps)

    monkeypatch.setattr(of_runs, "estimate", Found)
    found = planned("steps=10,20,40,80,160", "d_model=32", seeds=3)
    cost = plan_module.cost_of(found, n_slots=2, threads=1)
    assert [training.steps for training in asked] == [10, 40, 160]
    assert {training.threads for training in asked} == {1}
    assert cost.seconds == pytest.approx(
        (10 + 40 + 160) / 3 * 8  # 15 runs by two
    )
    parameters = count_parameters(Configs(found.spec).run({"steps": 10}).model).total
    limits = in_force()
    assert cost.disk_bytes == 15 * ((limits.snapshots_mb + limits.log_mb + 1) * MB + 12 * parameters)


def test_of_a_range_its_ends_and_its_middle_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Found:
        seconds = None

        def __init__(self, config) -> None:
            asked.append((config.training.learning_rate, config.model.n_layers, config.training.steps))

    monkeypatch.setattr(of_runs, "estimate", Found)
    found = planned("learning_rate=log(1e-4,1e-2)", "n_layers=int(1,5)", "steps=10,30", trials=4)
    assert plan_module.cost_of(found, n_slots=1, threads=1).seconds is None
    assert asked == [
        (pytest.approx(1e-4), 1, 10), (pytest.approx(1e-3), 3, 10), (pytest.approx(1e-2), 5, 30),
    ]  # fmt: skip
