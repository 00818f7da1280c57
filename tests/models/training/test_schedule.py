"""Learning rates against their formulas."""

import math

import pytest

from models.training.config import TrainingConfig
from models.training.schedule import learning_rate


def rates(**changes):
    config = TrainingConfig(**{"steps": 100, "warmup_steps": 10, "learning_rate": 1.0, **changes})
    return [learning_rate(config, step) for step in range(1, config.steps + 1)]


@pytest.mark.parametrize("schedule", ["cosine", "constant", "warm-up"])
def test_all_schedules_rise_in_a_line_to_the_peak(schedule):
    assert rates(schedule=schedule)[:10] == pytest.approx([step / 10 for step in range(1, 11)])
    assert max(rates(schedule=schedule)) == 1.0


def test_cosine_falls_along_half_a_cosine_to_its_share():
    falling = rates()[9:]
    assert falling == sorted(falling, reverse=True)
    assert rates()[54] == pytest.approx(0.5)
    assert rates()[-1] == pytest.approx(0.0)
    assert rates(final_rate=0.1)[-1] == pytest.approx(0.1)
    assert rates(final_rate=0.1)[54] == pytest.approx(0.55)
    assert rates(warmup_steps=0)[0] == pytest.approx(0.5 * (1 + math.cos(math.pi / 100)))


def test_warm_up_is_the_papers_formula_but_for_its_peak():
    d_model = 64
    paper = [d_model**-0.5 * min(step**-0.5, step * 10**-1.5) for step in range(1, 101)]
    ours = rates(schedule="warm-up", learning_rate=max(paper))
    assert ours == pytest.approx(paper)


def test_constant_stays():
    assert rates(schedule="constant")[9:] == [1.0] * 91
    assert rates(schedule="constant", warmup_steps=0) == [1.0] * 100
