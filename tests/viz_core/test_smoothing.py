"""A smoothed curve is the weighted mean that its formula says."""

import numpy as np
import pytest

from viz_core.smoothing import smoothed


@pytest.mark.parametrize("weight", [0.0, 0.5, 0.99])
def test_each_point_is_the_weighted_mean_of_all_before_it(weight: float) -> None:
    values = np.random.default_rng(0).normal(size=50)
    for at, found in enumerate(smoothed(values, weight)):
        weights = weight ** np.arange(at, -1, -1, dtype=np.float64)
        assert found == pytest.approx(np.average(values[: at + 1], weights=weights), abs=1e-12)


@pytest.mark.parametrize("weight", [-0.1, 1.0])
def test_a_weight_that_forgets_nothing_or_less_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match=r"is not from 0 to below 1; try 0\.9"):
        smoothed(np.ones(3), weight)
