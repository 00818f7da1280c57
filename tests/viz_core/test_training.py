"""A smoothed curve is the weighted mean that its formula says."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from attention_lab.viz_core import (
    importance_bars,
    parallel_coordinates,
    rate_finder_curve,
    theme,
    training,
    trial_history,
    value_by_setting,
)
from attention_lab.viz_core.boards import Axis, Dots, Points
from attention_lab.viz_core.training import moving_average


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


def lines_of(figure, name: str) -> np.ndarray:
    """The heights at which a trial's line crosses the axes [axis]."""
    for trace in figure.data:
        said = list(trace.customdata) if trace.customdata is not None else []
        places = [at for at, words in enumerate(said) if words.startswith(f"{name}:")]
        if places:
            return np.asarray(trace.y, dtype=float)[places][:-1]
    raise AssertionError(name)


def test_a_line_crosses_every_axis_at_its_trials_value() -> None:
    figure = parallel_coordinates([HEADS, RATE, NORM], SCORE, names=NAMES)
    np.testing.assert_allclose(lines_of(figure, "a"), [0, 0, 0.25, 0])
    np.testing.assert_allclose(lines_of(figure, "b"), [1 / 7, 1, 0.75, 1])
    np.testing.assert_allclose(
        lines_of(figure, "c"), [3 / 7, 0.5, 0.75, np.nan]
    )  # 1e-3: the logarithm's middle
    ticks, names = figure.data[-2:]
    beside = {(round(x), text) for x, text in zip(ticks.x, ticks.text, strict=True)}
    assert {(0, "8"), (1, "10⁻⁴"), (1, "0.01"), (2, "post"), (3, "0.25")} <= beside
    assert list(names.text) == ["<b>n_heads</b>", "<b>rate</b>", "<b>norm</b>", "<b>score</b>"]


def test_the_best_line_is_the_last_and_a_failed_trial_is_grey() -> None:
    for lower, best in ((False, "b"), (True, "a")):
        figure = parallel_coordinates([HEADS, NORM], SCORE, names=NAMES, lower_is_better=lower)
        assert figure.data[-3].customdata[0].startswith(f"{best}: ")
        assert figure.data[-3].line.color == theme.head_colour(1)
        grey = figure.data[1]
        assert {words[0] for words in grey.customdata} == {"c"}


def test_only_trials_within_the_brush_stand_out() -> None:
    shown = np.array([True, False, True, True])
    figure = parallel_coordinates([HEADS, NORM], SCORE, names=NAMES, shown=shown, dark=True)
    assert {words[0] for words in figure.data[1].customdata} == {"b", "c"}
    assert figure.data[-3].customdata[0].startswith("d: n_heads 8, norm pre, score 0.5")
    assert figure.data[-3].line.color == theme.head_colour(1, dark=True)


def test_of_many_trials_the_best_are_drawn_and_the_title_says_so() -> None:
    count = 1_000
    score = Axis(name="score", values=np.random.default_rng(0).permutation(count).astype(float))
    heads = Axis(name="heads", values=np.arange(count, dtype=float))
    panel = training.parallel_panel([heads], score, names=[str(at) for at in range(count)])
    assert panel.title == "settings and score of the best 300 of 1,000 trials"
    assert sorted(panel.axes[-1].values) == list(range(700, 1_000))
    assert [float(name) for name in panel.names] == list(panel.axes[0].values)


def test_what_no_axis_can_show_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'rate' has the value 0, which has no place on a logarithmic axis"):
        Axis(name="rate", values=np.array([0.0, 1.0]), log=True)
    with pytest.raises(ValueError, match="there are 2 choices; give places from 0 to 1"):
        Axis(name="norm", values=np.array([2.0]), choices=("pre", "post"))
    with pytest.raises(ValueError, match="values of 'n_heads' has 4 entries where there are 1"):
        parallel_coordinates([HEADS], SCORE, names=["a"])
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


def test_numbers_beside_an_axis_cover_none_of_each_other() -> None:
    assert [text for _, text in HEADS.ticks()] == ["1", "2", "4", "8"]
    close = Axis(name="score", values=np.array([0.64, 0.9996, 0.9997, 1.0]))
    heights = [height for height, _ in close.ticks()]
    assert heights == [0, 0.25, 0.5, 0.75, 1] and close.ticks()[-1][1] == "1"
