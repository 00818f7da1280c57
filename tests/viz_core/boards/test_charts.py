"""How the charts of boards look, on the page and on paper."""

import numpy as np
import pytest

from viz_core import theme
from viz_core._axes import skipping
from viz_core.boards import Bars, Board, Curves, Line, Matrix, board_figure
from viz_core.boards.picture import MASKED


@pytest.mark.parametrize(
    ("span", "ticks"),
    [
        ((1e-9, 1.0), ["10⁻⁹", "10⁻⁷", "10⁻⁵", "10⁻³", "10⁻¹"]),
        ((0.001, 1_000.0), ["0.001", "0.1", "10", "1,000"]),
        ((0.02, 1_000.0), ["0.1", "1", "10", "100", "1,000"]),
        ((1.0, 1e6), ["10⁰", "10²", "10⁴", "10⁶"]),
    ],
)
def test_the_ticks_of_a_logarithmic_axis_are_written_in_one_way(span: tuple[float, float], ticks: list[str]):
    x = np.array([0.0, 1.0])
    y = Curves(x=x, lines=[Line(y=x + 1, name="")], log_y=True, y_range=span).chart.y
    assert y["ticktext"] == ticks
    np.testing.assert_allclose(y["tickvals"], [size_of(tick) for tick in ticks])


def size_of(tick: str) -> float:
    """The number that a tick's label says: 0.01, 1,000, 10⁻⁷."""
    raised = tick.removeprefix("10").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return 10.0 ** int(raised) if tick[2:3] in tuple("⁻⁰¹²³⁴⁵⁶⁷⁸⁹") else float(tick.replace(",", ""))


def test_labels_write_numbers_as_all_others_are_written():
    x, y = np.array([1.0, 20_000.0]), np.array([2.4e-7, 0.12345])
    figure = board_figure(
        Board(rows=[[Curves(x=x, lines=[Line(y=y, name="a")]), Bars(values=y, labels="ab")]], notice="")
    )
    curve, bars, _ = figure.data
    assert list(curve.customdata) == list(bars.hovertext) == ["2.4 × 10⁻⁷", "0.123"]
    assert "%{customdata}" in curve.hovertemplate and "%{hovertext}" in bars.hovertemplate
    axis = theme.template().layout.xaxis
    assert (axis.exponentformat, axis.separatethousands) == ("none", True)


def test_what_a_mask_forbids_has_one_grey_on_the_page_and_on_paper():
    panel = Matrix(values=np.full((20, 20), -np.inf))
    assert panel.chart.under == MASKED
    drawn = board_figure(Board(rows=[[panel]], notice=""), dark=True)
    assert drawn.data[1].colorscale[1][1] == theme.with_alpha(theme.palette(True)["muted"], MASKED.alpha)


def test_an_axis_without_a_name_has_no_arrow():
    x, y = (getattr(Matrix(values=np.eye(20), row_axis="query").chart, axis)["title"] for axis in "xy")
    assert (x["text"], y["text"]) == ("", "← query")


@pytest.mark.parametrize(
    ("names", "step", "said"),
    [
        (["the", "cat", "sat"], 1, ""),
        (["the", "cat", "sat"], 2, " · every 2nd"),
        (["the", "cat", "sat"], 3, " · every 3rd"),
        (["the"] * 40, 4, " · every 4th"),
        (["0", "1", "−2"], 2, ""),
    ],
)
def test_an_axis_says_which_of_its_names_it_shows(names: list[str], step: int, said: str):
    assert skipping(names, step) == said


def test_a_picture_with_more_names_than_room_says_so():
    names = [f"word{at}" for at in range(100)]
    panel = Matrix(values=np.eye(100), columns=names, rows=names, row_axis="query", column_axis="key")
    axis = board_figure(Board(rows=[[panel]], notice="")).layout.yaxis
    assert axis.tickvals[:3] == (0, 4, 8)
    assert axis.title.text == "← query · every 4th"


def test_a_mark_is_a_dashed_line_that_says_what_changed():
    x = np.array([0.0, 50.0, 100.0])
    marks = [(50.0, "rate 0.1 → <b>0.01</b>"), (300.0, "beyond the axis")]
    panel = Curves(x=x, lines=[Line(y=x, name="loss")], y_range=(0, 100), marks=marks)
    figure = board_figure(Board(rows=[[panel]], notice=""))
    _, mark = figure.data
    assert list(mark.x) == [50.0, 50.0] and list(mark.y) == [0.0, 100.0]
    assert mark.line.dash == "6px,4px" and not mark.showlegend
    assert mark.hovertemplate == "rate 0.1 → &lt;b&gt;0.01&lt;/b&gt;<extra></extra>"
