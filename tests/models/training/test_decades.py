from itertools import pairwise

import numpy as np
import pytest

from models.training.decades import beside

LIMITS = {"low": 1e-9, "high": 10.0}


def test_steps_are_1_2_5_of_each_decade_up_and_down_again():
    ladder = np.outer([1e-4, 1e-3, 1e-2, 1e-1], [1, 2, 5]).ravel()
    for low, high in pairwise(ladder):
        assert beside(low, up=True, **LIMITS) == pytest.approx(high, rel=1e-12)
        assert beside(high, up=False, **LIMITS) == pytest.approx(low, rel=1e-12)
        between = (low * high) ** 0.5  # a typed value steps to its neighbours on the ladder
        assert beside(between, up=True, **LIMITS) == pytest.approx(high, rel=1e-12)
        assert beside(between, up=False, **LIMITS) == pytest.approx(low, rel=1e-12)


def test_steps_end_at_the_limits():
    assert beside(7.0, up=True, **LIMITS) == beside(10.0, up=True, **LIMITS) == 10.0
    assert beside(1.5e-9, up=False, **LIMITS) == beside(1e-9, up=False, **LIMITS) == 1e-9
    with pytest.raises(ValueError, match=r"value=0\.0 has no order of magnitude; give a number above 0"):
        beside(0.0, up=True, **LIMITS)
