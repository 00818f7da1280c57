"""What a board refuses, and in which words."""

import numpy as np
import pytest

from attention_lab.viz_core import theme
from attention_lab.viz_core.boards import (
    Bars,
    Board,
    Curves,
    Diagram,
    Fact,
    Facts,
    Layers,
    Line,
    Matrix,
    Node,
    Plane,
    Scrub,
    Sign,
    Table,
    board_figure,
)
from attention_lab.viz_core.boards.chart import Paint
from attention_lab.viz_core.boards.panels.diagram import arrows_of
from attention_lab.viz_core.boards.panels.matrix import MASKED
from attention_lab.viz_core.boards.panels.plane import _SMALLEST_SIDE, _apart
from attention_lab.viz_core.labels import TIMES, skipping

SCRUB = Scrub(field="t", label="temperature", values=np.array([0.5, 1.0, 2.0]))
X_BOX = Node(id="x", label="x", column=0, row=0)
X = np.arange(4.0)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Matrix(values=np.ones(3)), r"values has shape \(3,\), but must be \[frame, row, column\]"),
        (lambda: Matrix(values=np.ones((2, 0))), "no axis may be empty; pass at least one entry"),
        (lambda: Matrix(values=np.eye(2), rows=["a"]), "rows has 1 entries where there are 2; give one each"),
        (
            lambda: Matrix(values=np.eye(2), column_heads=[0, 1, 2]),
            "column_heads has 3 entries where there are 2",
        ),
        (
            lambda: Matrix(values=np.eye(2), marked=np.ones((2, 3), bool)),
            r"marked has shape \(2, 3\), values \(2, 2\); give one mark a cell",
        ),
        (
            lambda: Curves(x=X, lines=[Line(y=np.ones(3), name="theory")]),
            "line 'theory' has 3 points, x has 4; give as many",
        ),
        (
            lambda: Curves(x=X, lines=[Line(y=X, name="mean", low=X, high=np.ones(3))]),
            "line 'mean' has 3 points, x has 4; give as many",
        ),
        (
            lambda: Curves(x=X, lines=[Line(y=X, name="mean", low=X)]),
            "line 'mean' has one bound of a band; give both, low and high",
        ),
        (lambda: Curves(x=X, lines=[], at=np.ones((2, 2))), r"at has shape \(2, 2\), but must be \[frame\]"),
        (
            lambda: Matrix(values=np.eye(2), texts=["ab", "c"]),
            "a row of texts has 1 entries where there are 2; give one each",
        ),
        (
            lambda: Plane(vectors=np.ones((2, 2)), names=["q", "k"], colours=["query"]),
            "colours has 1 entries where there are 2; give one each",
        ),
        (
            lambda: Layers(tokens=["a", "b"], links=np.ones((2, 3), bool), lit=np.ones((3, 2), bool)),
            r"links \(2, 3\) and lit \(3, 2\) do not fit 2 tokens; give \[query, key\] and \[layer, token\]",
        ),
        (
            lambda: Diagram(nodes=[Node(id="x", label="x", column=0, row=0)], edges=[("x", "y")]),
            r"edge \('x', 'y'\) ends at 'y', which is no node; name one of \['x'\]",
        ),
        (
            lambda: Diagram(nodes=[Node(id="x", label="x", column=0, row=0)] * 2, edges=[]),
            r"nodes \['x', 'x'\] have an id twice; give each its own",
        ),
        (
            lambda: Diagram(
                nodes=[Node(id="x", label="x", column=0, row=0)], edges=[], levels=np.ones((3, 2))
            ),
            "levels has 2 entries where there are 1; give one each",
        ),
        (
            lambda: Diagram(nodes=[], edges=[], row_height=20),
            "row_height=20 leaves no room for a word; give at least 26",
        ),
        (
            lambda: Table(columns=["model", "count"], rows=[["base"]]),
            r"row \['base'\] has 1 entries where there are 2; give one each",
        ),
        (
            lambda: Scrub(field="t", label="t", values=X, words=["low", "high"]),
            "words has 2 entries where there are 4; give one each",
        ),
    ],
)
def test_what_does_not_fit_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("panel", "name"),
    [
        (Matrix(values=np.ones((2, 1, 1))), "values"),
        (Matrix(values=np.eye(2), marked=np.ones((2, 2, 2), bool)), "marked"),
        (Bars(values=np.ones((2, 1)), labels=["a"], title="weights"), "weights"),
        (Curves(x=X, lines=[Line(y=np.ones((2, 4)), name="mean")]), "mean"),
        (Curves(x=X, lines=[Line(y=X, name="mean", low=X, high=np.ones((2, 4)))]), "mean"),
        (Curves(x=X, lines=[], at=np.ones(2)), "at"),
        (Plane(vectors=np.ones((2, 1, 2)), names=["q"], colours=["query"]), "vectors"),
        (Layers(tokens=["a"], links=np.eye(1, dtype=bool), lit=np.ones((2, 3, 1), bool)), "lit"),
        (Diagram(nodes=[X_BOX], edges=[], levels=np.ones((2, 1), int)), "levels"),
        (Table(columns=["model"], rows=[["base"]], marked=np.ones((2, 1), bool)), "marked"),
    ],
)
def test_every_array_has_a_frame_for_each_value_of_the_scrub(panel, name):
    message = f"{name} has 2 frames, the scrub 3; give one for each of its values"
    with pytest.raises(ValueError, match=message):
        Board(rows=[[panel]], notice="", scrub=SCRUB)
    with pytest.raises(ValueError, match=f"{name} has 2 frames, the scrub 0"):
        Board(rows=[[panel]], notice="")


def test_a_notice_for_each_frame_or_one_for_all():
    Board(rows=[], notice="always", scrub=SCRUB)
    Board(rows=[], notice=["a", "b", "c"], scrub=SCRUB)
    with pytest.raises(ValueError, match="notice has 2 entries where there are 3; give one each"):
        Board(rows=[], notice=["a", "b"], scrub=SCRUB)


def test_what_no_frame_changes_has_no_frames():
    still = [
        Matrix(values=np.eye(2), marked=np.eye(2, dtype=bool)),
        Curves(x=X, lines=[Line(y=X, name="mean")]),
        Facts(facts=[Fact(label="answer", values="yes"), Fact(label="count", values=np.array(3.0))]),
        Diagram(nodes=[X_BOX], edges=[], levels=np.ones(1, int)),
        Table(columns=["model"], rows=[["base"]], marked=np.ones(1, bool)),
        Sign(text="="),
    ]
    assert not any(array.ndim > own for panel in still for _, array, own in panel.framed())
    Board(rows=[still], notice="", scrub=SCRUB)


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
    assert list(curve.customdata) == list(bars.hovertext) == [f"2.4{TIMES}10⁻⁷", "0.123"]
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
        (["the", "cat", "sat"], 2, " · every 2nd named"),
        (["the", "cat", "sat"], 3, " · every 3rd named"),
        (["the"] * 40, 4, " · every 4th named"),
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
    assert axis.title.text == "← query · every 4th named"


def test_a_mark_is_a_dashed_line_that_says_what_changed():
    x = np.array([0.0, 50.0, 100.0])
    marks = [(50.0, "rate 0.1 → <b>0.01</b>"), (300.0, "beyond the axis")]
    panel = Curves(x=x, lines=[Line(y=x, name="loss")], y_range=(0, 100), marks=marks)
    figure = board_figure(Board(rows=[[panel]], notice=""))
    _, mark = figure.data
    assert list(mark.x) == [50.0, 50.0] and list(mark.y) == [0.0, 100.0]
    assert mark.line.dash == "6px,4px" and not mark.showlegend
    assert mark.hovertemplate == "rate 0.1 → &lt;b&gt;0.01&lt;/b&gt;<extra></extra>"


NAMES = ("p", "p + k")
EDGE = 1.3  # half of the square, in the units of arrows


def placed(*degrees: float, names: tuple[str, ...] = NAMES) -> tuple[np.ndarray, np.ndarray]:
    """The tips of unit arrows and where their names stand, in pixels of the smallest square."""
    angle = np.deg2rad(degrees)
    tips = np.stack([np.cos(angle), np.sin(angle)], -1)  # [arrow, xy]
    places = _apart(tips, tips, names, 2 * EDGE)
    pixel = 2 * EDGE / _SMALLEST_SIDE
    return tips / pixel, places / pixel


def half_width(name: str) -> float:
    return 4.5 * len(name) + 2


def distance_to_arrow(box: np.ndarray, half: tuple[float, float], tip: np.ndarray) -> float:
    """From the box around a point to the line from the origin to the tip; 0 where it crosses the box."""
    along = np.linspace(0, 1, 400)[:, None] * tip
    outside = np.clip(np.abs(along - box) - half, 0, None)
    return float(np.linalg.norm(outside, axis=-1).min())


@pytest.mark.parametrize("angle", range(0, 360, 15))
def test_two_arrows_that_nearly_coincide_have_names_apart_and_off_both(angle: int) -> None:
    for between in (0, 1, 8):
        tips, places = placed(angle, angle + between)
        first, second = places
        across, down = np.abs(first - second)
        assert across > half_width("p") + half_width("p + k") or down > 16
        for tip in tips:
            assert distance_to_arrow(second, (half_width("p + k") - 5, 4), tip) > 0
        assert (np.abs(places) <= _SMALLEST_SIDE / 2).all()


def test_long_names_stay_in_the_square() -> None:
    _, places = placed(0, 180, names=("a long name", "another name"))
    for place, name in zip(places, ("a long name", "another name"), strict=True):
        assert abs(place[0]) + half_width(name) <= _SMALLEST_SIDE / 2 + 1e-9


SIZE = (40, 20)


def test_arrows_keep_to_the_sides_where_nothing_is_in_their_way() -> None:
    boxes = [(0, 50), (60, 0), (120, 50)]
    lines = arrows_of([(boxes[0], boxes[1]), (boxes[0], boxes[2])], boxes, SIZE)
    assert lines == [((20, 50), (40, 0)), ((20, 50), (100, 50))]


def test_arrows_leave_by_the_top_where_the_way_from_the_side_leads_behind_boxes() -> None:
    boxes = [(60 * column, 50 * row) for row in range(2) for column in range(4)]
    lines = arrows_of([(boxes[4], boxes[1]), (boxes[4], boxes[3])], boxes, SIZE)
    assert lines == [((0, 40), (60, 10)), ((0, 40), (180, 10))]


def test_an_arrow_straight_up_goes_from_top_to_bottom() -> None:
    boxes = [(0, 0), (0, 50)]
    assert arrows_of([(boxes[1], boxes[0])], boxes, SIZE) == [((0, 40), (0, 10))]


def test_a_mask_that_says_numbers_has_none_of_their_colours():
    seen = np.eye(3, dtype=bool)
    said, plain = (Matrix(values=seen, scale="mask", words=words) for words in (("−∞", "0"), ()))
    scales = [each.chart.traces[0]["colorscale"] for each in (said, plain)]
    assert scales[0] == [[0, Paint("muted", 0.08)], [1, Paint("muted", 0.08)]] != scales[1]


def test_curves_of_one_film_have_one_axis_however_few_of_its_steps_they_know():
    lines, steps = [Line(y=np.ones(2), name="loss")], np.array([0.0, 5, 10])
    few, all_ = (Curves(x=np.array(x), lines=lines, at=steps).chart.x["range"] for x in ([3, 10], [0, 10]))
    assert few == all_


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([0.01, 0.01], (0, 0.02)),
        ([0.01, np.nextafter(0.01, 1)], (0, 0.02)),
        ([-3.0, -3.0], (-6, 0)),
        ([0.0, 0.0], (-1, 1)),
    ],
)
def test_the_axis_of_one_number_is_of_its_size(values: list[float], ends: tuple[float, float]) -> None:
    curves = Curves(x=np.array([0, 1]), lines=[Line(y=np.array(values), name="learning rate")])
    assert curves.chart.y["range"] == pytest.approx(ends)
