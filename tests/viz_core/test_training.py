"""A smoothed curve is the weighted mean that its formula says."""

import numpy as np
import plotly.graph_objects as go
import pytest

from attention_lab.viz_core.boards import Board, Dots, Panel, Points, board_figure
from attention_lab.viz_core.training import finder_panel, history_panel, importance_panel, moving_average


def drawn(panel: Panel) -> go.Figure:
    return board_figure(Board(rows=[[panel]], notice=""))


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


def test_what_no_axis_can_show_is_refused() -> None:
    with pytest.raises(ValueError, match=r"importance of 'a' is 1\.5, but a share is within 0 to 1"):
        importance_panel({"a": 1.5})
    with pytest.raises(ValueError, match="rates have 0, but a learning rate is above 0"):
        finder_panel(np.array([0.0, 1]), np.ones(2), np.ones(2))


def test_importances_stand_in_their_order() -> None:
    figure = drawn(importance_panel({"heads": 0.2, "rate": 0.7, "norm": 0.1}))
    assert list(figure.data[0].customdata) == ["rate", "heads", "norm"]
    assert list(figure.data[0].y) == [0.7, 0.2, 0.1]
    assert importance_panel({}).labels == ["–"]


def test_the_best_until_then_is_a_running_extreme() -> None:
    values = np.array([3.0, np.nan, 1.0, 2.0, 0.5])
    points, best = drawn(history_panel(values, numbers=[4, 0, 1, 2, 3], lower_is_better=True)).data
    assert list(points.x) == list(best.x) == [1, 2, 3, 4]
    assert list(points.y) == [1, 2, 0.5, 3] and list(best.y) == [1, 1, 0.5, 0.5]
    assert best.line.shape == "hv"
    assert list(drawn(history_panel(values)).data[1].y) == [3, 3, 3, 3]


def test_the_finders_suggestion_is_marked_and_its_explosion_does_not_hide_the_rest() -> None:
    rates = np.geomspace(1e-6, 10, 50)
    losses = np.where(rates < 1, 4 - np.log10(rates / 1e-6) / 3, 1e9)
    figure = drawn(finder_panel(rates, losses, losses, suggestion=0.01))
    raw, smoothed, mark, words = figure.data
    assert list(raw.y) == list(smoothed.y) == list(losses)
    assert list(mark.x) == [0.01, 0.01] and words.text[0].strip() == "suggested: 0.01"
    assert figure.layout.yaxis.range[1] < 20


def test_points_without_a_place_each_are_refused() -> None:
    with pytest.raises(ValueError, match=r"y of 'a' has shape \(2,\), x \(1,\); give as many"):
        Points(dots=[Dots(x=np.array([1.0]), y=np.ones(2), name="a")])
