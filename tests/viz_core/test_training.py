"""A smoothed curve is the weighted mean that its formula says."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from attention_lab.viz_core import (
    importance_bars,
    rate_finder_curve,
    training,
    trial_history,
    value_by_setting,
)
from attention_lab.viz_core.boards import Dots, Points
from attention_lab.viz_core.training import Axis, moving_average


@pytest.mark.parametrize("weight", [0.0, 0.5, 0.99])
def test_each_point_is_the_weighted_mean_of_all_before_it(weight: float) -> None:
    values = np.random.default_rng(0).normal(size=50)
    for at, found in enumerate(moving_average(values, weight)):
        weights = weight ** np.arange(at, -1, -1, dtype=np.float64)
        assert found == pytest.approx(np.average(values[: at + 1], weights=weights), abs=1e-12)


@pytest.mark.parametrize("weight", [-0.1, 1.0])
def test_a_weight_that_forgets_nothing_or_less_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match=r"is not from 0 to below 1; try 0\.9"):
        moving_average(np.ones(3), weight)


HEADS = Axis(name="n_heads", values=np.array([1.0, 2, 4, 8]))
RATE = Axis(name="rate", values=np.array([1e-4, 1e-2, 1e-3, np.nan]), log=True)
NORM = Axis(name="norm", values=np.array([0.0, 1, 1, 0]), choices=("pre", "post"))
SCORE = Axis(name="score", values=np.array([0.25, 1.0, np.nan, 0.5]))
NAMES = ["a", "b", "c", "d"]


def test_what_no_axis_can_show_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'rate' has the value 0, which has no place on a logarithmic axis"):
        Axis(name="rate", values=np.array([0.0, 1.0]), log=True)
    with pytest.raises(ValueError, match="there are 2 choices; give places from 0 to 1"):
        Axis(name="norm", values=np.array([2.0]), choices=("pre", "post"))
    with pytest.raises(ValueError, match=r"importance of 'a' is 1\.5, but a share is within 0 to 1"):
        importance_bars({"a": 1.5})
    with pytest.raises(ValueError, match="rates have 0, but a learning rate is above 0"):
        rate_finder_curve(np.array([0.0, 1]), np.ones(2), np.ones(2))


def test_importances_stand_in_their_order() -> None:
    figure = importance_bars({"heads": 0.2, "rate": 0.7, "norm": 0.1})
    assert list(figure.data[0].customdata) == ["rate", "heads", "norm"]
    assert list(figure.data[0].y) == [0.7, 0.2, 0.1]
    assert training.importance_panel({}).labels == ["–"]


def test_the_best_until_then_is_a_running_extreme() -> None:
    values = np.array([3.0, np.nan, 1.0, 2.0, 0.5])
    points, best = trial_history(values, numbers=[4, 0, 1, 2, 3], lower_is_better=True).data
    assert list(points.x) == list(best.x) == [1, 2, 3, 4]
    assert list(points.y) == [1, 2, 0.5, 3] and list(best.y) == [1, 1, 0.5, 0.5]
    assert best.line.shape == "hv"
    assert list(trial_history(values).data[1].y) == [3, 3, 3, 3]


def test_means_have_the_intervals_that_are_handed_in() -> None:
    heads = Axis(name="heads", values=np.array([1.0, 1, 1, 4, 4, 8]))
    scores = np.array([0.2, 0.3, 0.7, 0.9, 1.0, 0.8])
    runs, means = value_by_setting(heads, scores, name="score", interval=students).data
    assert sorted(runs.y) == sorted(scores)
    np.testing.assert_allclose(means.y, [0.4, 0.95, 0.8])
    sample = scores[:3]
    low, high = students(sample)
    np.testing.assert_allclose(means.error_y.array[0], high - 0.4)
    np.testing.assert_allclose(means.error_y.arrayminus[0], 0.4 - low)
    assert np.isnan(means.error_y.array[2])  # of one run, nothing is known
    assert "mean of 3 runs 0.4, 95% interval" in means.customdata[0]
    assert value_by_setting(heads, scores).data[1].name == "mean"


def students(values: Sequence[float]) -> tuple[float, float] | None:
    n = len(values)
    return stats.t.interval(0.95, n - 1, loc=np.mean(values), scale=stats.sem(values)) if n > 2 else None


def test_a_rate_of_its_own_for_every_run_stands_on_a_logarithmic_axis() -> None:
    rates = Axis(name="rate", values=np.geomspace(1e-4, 1e-1, 20), log=True)
    figure = value_by_setting(rates, np.arange(20.0))
    assert len(figure.data) == 1 and figure.layout.xaxis.type == "log"
    np.testing.assert_allclose(figure.data[0].x, rates.values)


def test_the_finders_suggestion_is_marked_and_its_explosion_does_not_hide_the_rest() -> None:
    rates = np.geomspace(1e-6, 10, 50)
    losses = np.where(rates < 1, 4 - np.log10(rates / 1e-6) / 3, 1e9)
    figure = rate_finder_curve(rates, losses, losses, suggestion=0.01)
    raw, smoothed, mark, words = figure.data
    assert list(raw.y) == list(smoothed.y) == list(losses)
    assert list(mark.x) == [0.01, 0.01] and words.text[0].strip() == "suggested: 0.01"
    assert figure.layout.yaxis.range[1] < 20


def test_points_with_one_end_of_an_interval_are_refused() -> None:
    x = np.array([1.0])
    with pytest.raises(ValueError, match="'a' has one end of an interval; give both, low and high"):
        Points(dots=[Dots(x=x, y=x, name="a", low=x)])
    with pytest.raises(ValueError, match=r"y of 'a' has shape \(2,\), x \(1,\); give as many"):
        Points(dots=[Dots(x=x, y=np.ones(2), name="a")])
