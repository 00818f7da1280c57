"""The figure of a board says what the board says: numbers, colours, words, frames."""

from itertools import pairwise

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

SCRUB = Scrub(field="t", label="temperature", values=np.array([0.5, 1.0, 2.0]))
MASKED = np.array([[1.5, -np.inf], [-3.0, 0.001]])
X = np.array([1.0, 10.0, 100.0])


def draw(*panels, **options):
    return board_figure(Board(rows=[panels], notice=""), **options)


def texts(fig):
    return [note.text for note in fig.layout.annotations]


def test_a_matrix_has_its_numbers_and_names_with_the_first_row_on_top():
    fig = draw(
        Matrix(values=MASKED, rows=["it", "<b>"], columns=["x", "y"], row_axis="query", column_axis="key")
    )
    cells, blank = fig.data
    np.testing.assert_array_equal(cells.z, np.array([[1.5, np.nan], [-3, 0.001]], np.float32))
    assert cells.text.tolist() == [["1.50", ""], ["−3.00", "≈0"]]
    np.testing.assert_array_equal(blank.z, [[np.nan, 1], [np.nan, np.nan]])
    assert blank.text.tolist() == [["", "−∞"], ["", ""]]
    assert blank.customdata[0, 1] == "masked"
    x, y = fig.layout.xaxis, fig.layout.yaxis
    assert (list(x.ticktext), list(y.ticktext)) == (["x", "y"], ["it", "&lt;b&gt;"])
    assert (x.title.text, y.title.text) == ("key →", "← query")
    assert (x.title.font.color, y.title.font.color) == (theme.palette()["key"], theme.palette()["query"])
    assert list(y.range) == [1.5, -0.5] and x.side == "top"


def test_not_a_number_and_infinity_are_written_as_they_are():
    _, blank = draw(Matrix(values=np.array([[np.nan, np.inf, 1.0]]))).data
    assert blank.text.tolist() == [["NaN", "∞", ""]]


@pytest.mark.parametrize(
    ("scale", "reach", "ends", "colours"),
    [
        ("signed", None, (-3, 3), "diverging"),
        ("signed", 8, (-8, 8), "diverging"),
        ("weights", None, (0, 1), "sequential"),
        ("mask", None, (0, 1), "sequential"),
    ],
)
@pytest.mark.parametrize("dark", [False, True])
def test_colours_run_over_the_scales_range(scale, reach, ends, colours, dark):
    cells = draw(Matrix(values=np.array([[1.0, 0.0, -3.0]]), scale=scale, reach=reach), dark=dark).data[0]
    assert (cells.zmin, cells.zmax) == ends
    assert [list(stop) for stop in cells.colorscale] == theme.colour_scale(colours, dark)


def test_the_strongest_colour_is_the_same_in_all_frames():
    values = np.array([[[1.0]], [[2.0]], [[-4.0]]])
    board = Board(rows=[[Matrix(values=values)]], notice="", scrub=SCRUB)
    assert [board_figure(board, frame=frame).data[0].zmax for frame in range(3)] == [4, 4, 4]


def test_masks_write_ones_and_zeros_or_their_words():
    mask = Matrix(values=np.tri(2), scale="mask")
    kept, cut = draw(mask).data
    assert kept.text.tolist() == [["1", ""], ["1", "1"]]
    assert cut.text.tolist() == [["", "0"], ["", ""]]
    kept, cut = draw(Matrix(values=np.tri(2), scale="mask", words=("−∞", "0"))).data
    assert (kept.text[0, 0], cut.text[0, 1]) == ("0", "−∞")


def test_large_matrices_have_a_colour_bar_and_no_numbers():
    (large,) = draw(Matrix(values=np.zeros((30, 40)))).data
    assert large.showscale and large.text is None
    (small,) = draw(Matrix(values=np.zeros((2, 2)))).data
    assert not small.showscale
    assert draw(Matrix(values=np.zeros((2, 2)), picture=True)).data[0].showscale


def test_marked_cells_are_outlined_and_heads_coloured():
    marked = np.array([[False, True], [False, False]])
    fig = draw(Matrix(values=np.eye(2), marked=marked, column_heads=[3, -1], role="query", title="Q"))
    outline = fig.data[1]
    assert (np.nanmin(outline.x), np.nanmax(outline.x)) == (0.5, 1.5)
    assert (np.nanmin(outline.y), np.nanmax(outline.y)) == (-0.5, 0.5)
    assert [shape.fillcolor for shape in fig.layout.shapes] == [theme.head_colour(3)]
    title = fig.layout.annotations[-1]
    assert (title.text, title.font.color) == ("<b>Q</b>", theme.palette()["query"])


def test_curves_have_bands_log_axes_and_stand_where_the_frame_is():
    y = np.stack([X, 2 * X, 4 * X])
    band = Line(y=y, name="mean", low=y / 2, high=y * 2, dashed=True)
    panel = Curves(
        x=X,
        lines=[band, Line(y=X, name="theory", colour=1)],
        log_x=True,
        log_y=True,
        at=np.array([1.0, 11, 100]),
    )
    fig = board_figure(Board(rows=[[panel]], notice="", scrub=SCRUB), frame=1)
    around, mean, theory, upright, dots = fig.data
    np.testing.assert_array_equal(around.y, [*(4 * X), *X[::-1]])
    np.testing.assert_array_equal(mean.y, 2 * X)
    assert (mean.line.dash, mean.line.color) == ("7px,5px", theme.palette()["accent"])
    assert theory.line.color == theme.head_colour(1)
    assert list(upright.x) == [11, 11]
    np.testing.assert_array_equal(dots.y, [20, 10])
    x, axis = fig.layout.xaxis, fig.layout.yaxis
    assert (x.type, axis.type) == ("log", "log")
    assert list(x.range) == [0, 2] and list(x.ticktext) == ["1", "10", "100"]
    low, high = 10 ** np.array(axis.range)
    assert low < 0.5 < 800 < high  # over all frames and the bands
    assert [(trace.name, trace.legend) for trace in fig.data if trace.showlegend] == [
        ("mean", "legend"),
        ("theory", "legend"),
    ]


def test_a_given_range_is_kept_and_infinities_leave_a_gap():
    fig = draw(Curves(x=X, lines=[Line(y=np.array([1, np.inf, 2]), name="naive")], y_range=(0.0, 5.0)))
    assert list(fig.layout.yaxis.range) == [0, 5]
    np.testing.assert_array_equal(fig.data[0].y, [1, np.nan, 2])


def test_bars_write_their_numbers():
    values = np.array([[0.5, 0.5, 0.0], [0.999, 0.001, 0.0], [1.0, 0.0, np.nan]])
    board = Board(rows=[[Bars(values=values, labels=["a", "b", "c"], colour="key")]], notice="", scrub=SCRUB)
    bars, numbers = board_figure(board, frame=1).data
    np.testing.assert_array_equal(bars.y, values[1])
    assert bars.marker.color == theme.palette()["key"]
    assert list(numbers.text) == ["1.00", "≈0", "0.00"]
    assert list(board_figure(board, frame=2).data[1].text) == ["1.00", "0.00", "NaN"]


def test_arrows_start_at_the_origin_and_the_circle_has_radius_1():
    fig = draw(Plane(vectors=np.array([[0.6, 0.8]]), names=["q"], colours=["query"], circle=True))
    circle, arrow, names = fig.data
    np.testing.assert_allclose(np.hypot(circle.x, circle.y), 1)
    assert (list(arrow.x), list(arrow.y)) == ([0, 0.6], [0, 0.8])
    assert arrow.line.color == theme.palette()["query"] and names.text[0] == "<b>q</b>"
    x, y = fig.layout.xaxis, fig.layout.yaxis
    assert x.range == y.range and x.range[1] > 0.8


def test_what_is_not_computed_yet_is_left_empty():
    values = np.array([[np.nan, 1.0]])
    cells, blank = draw(Matrix(values=values, nan_is_empty=True)).data
    assert blank.text.tolist() == [["", ""]] and cells.text.tolist() == [["", "1.00"]]
    _, blank = draw(Matrix(values=values)).data
    assert blank.text.tolist() == [["NaN", ""]]
    _, numbers = draw(Bars(values=values[0], labels=["a", "b"], nan_is_empty=True)).data
    assert list(numbers.text) == ["", "1.00"]


def test_a_gap_is_hatched_and_says_what_it_is():
    values = np.array([[np.nan, 0.5, np.inf]])
    cells, blank = draw(Matrix(values=values, gap="no such token")).data
    assert cells.text.tolist() == [["", "0.50", ""]]
    np.testing.assert_array_equal(blank.z, [[1, np.nan, 0]])
    assert blank.customdata.tolist() == [["no such token", "0.5", "inf"]]
    assert Matrix(values=values, gap="no such token", picture=True).chart.under is not None
    assert Matrix(values=values, picture=True).chart.under is None


def test_names_of_bars_that_stand_close_take_turns_on_two_lines():
    narrow = Bars(values=np.ones(8), labels=[f"a long one {at}" for at in range(8)])
    names = list(draw(narrow, narrow).layout.xaxis.ticktext)
    assert names == [f"{'<br>' * (at % 2)}a long one {at}" for at in range(8)]


def test_bars_may_share_the_ends_of_their_axes():
    first, second = (
        Bars(values=np.array([-at, at]), labels=["a", "b"], low=-1, reach=1) for at in (0.2, 0.9)
    )
    layout = draw(first, second).layout
    assert layout.yaxis.range == layout.yaxis2.range and layout.yaxis.range[0] == -1


def test_cells_may_hold_words_coloured_by_their_numbers():
    values = np.array([[0.25, 1.0]])
    (cells,) = draw(Matrix(values=values, texts=[["<b>", "cat"]], scale="weights")).data
    assert cells.text.tolist() == [["&lt;b&gt;", "cat"]] and cells.z.tolist() == values.tolist()


def test_a_link_is_lit_when_both_its_ends_are():
    lit = np.array([[True, False], [False, True]])  # [layer, token]
    links, bright, nodes, lit_nodes = draw(
        Layers(tokens=["a", "b"], links=np.tri(2, dtype=bool), lit=lit)
    ).data
    assert np.isfinite(links.y).sum() == 6  # three links
    ends = np.stack([bright.x, bright.y], -1)[np.isfinite(bright.y)]
    assert ends.tolist() == [[0, 0], [1, 1]]
    assert len(nodes.y) == 4 and np.isfinite(lit_nodes.y).tolist() == [True, False, False, True]
    assert lit_nodes.customdata[3] == "layer 1, b"
    assert lit_nodes.marker.color == theme.palette()["accent"]


def test_changed_boxes_stand_out_and_arrows_join_their_sides():
    nodes = [
        Node(id="x", label="x", column=0, row=0),
        Node(id="w", label="W", column=1, row=0, changed=True, note="new"),
    ]
    fig = draw(Diagram(nodes=nodes, edges=[("x", "w")]))
    widths = [shape.line.width for shape in fig.layout.shapes]
    assert widths[1] > widths[0]
    plain, changed = fig.layout.annotations
    assert (plain.text, changed.text.startswith("<b>W</b>"), "new" in changed.text) == ("x", True, True)
    faint, arrows = fig.data
    assert not faint.x and (arrows.mode, arrows.marker.symbol) == ("lines+markers", "arrow")
    assert arrows.y[0] == arrows.y[1]
    assert (arrows.x[2], arrows.y[2], arrows.marker.size) == (None, None, (0, 9, 0))
    left, right = fig.layout.xaxis.domain
    pixel = (right - left) / fig.layout.xaxis.range[1]
    places = [left + pixel * x for x in arrows.x[:2]]
    assert places == pytest.approx([fig.layout.shapes[0].x1, fig.layout.shapes[1].x0 - 2 * pixel])
    assert fig.layout.xaxis.fixedrange and fig.layout.yaxis.fixedrange  # a drag would part arrows and boxes


def test_boxes_and_arrows_stand_out_as_far_as_their_levels_say():
    nodes = [Node(id=name, label=name, column=at, row=0) for at, name in enumerate("abcd")]
    diagram = Diagram(nodes=nodes, edges=[("a", "c"), ("b", "c"), ("c", "d")], levels=np.array([0, 1, 2, 3]))
    fig = draw(diagram)
    layout = fig.layout
    assert [shape.opacity for shape in layout.shapes] == [0, 0.38, 1, 1]
    assert [len(arrows.x) // 3 for arrows in fig.data] == [
        1,
        1,
    ]  # that of a box which is not there is not drawn
    assert [float(arrows.line.color.split(",")[-1].rstrip(")")) for arrows in fig.data] == [0.38, 1]
    assert layout.annotations[-1].text == "<b>d</b>" and layout.annotations[-2].text == "c"
    assert layout.shapes[3].line.width > layout.shapes[2].line.width


def test_facts_and_signs_are_written():
    facts = Facts(
        facts=[
            Fact(label="entropy", values=np.array(0.5), unit="nats"),
            Fact(label="parameters", values=np.array(1234567.0), digits=0),
            Fact(label="verdict", values="it <overflows>"),
        ]
    )
    found = " ".join(texts(draw(facts, Sign(text="="))))
    for said in ("<b>0.50</b>", "nats", "<b>1,234,567</b>", "<b>it &lt;overflows&gt;</b>", "="):
        assert said in found


def test_panels_stand_beside_and_below_each_other_without_overlap():
    matrix = Matrix(values=np.zeros((4, 4)), title="A", rows=list("abcd"), columns=list("abcd"))
    rows = [[matrix, Sign(text="="), matrix, matrix], [Bars(values=np.ones(2), labels=["a", "b"])] * 3]
    layout = board_figure(Board(rows=rows, notice="")).layout
    across = [layout[f"xaxis{number}"].domain for number in ("", 3, 4)]
    assert all(left[1] < right[0] for left, right in pairwise(across))
    assert layout.yaxis.domain[0] > layout.yaxis5.domain[1]
    domains = [value for axis in layout if axis[1:5] == "axis" for value in layout[axis].domain]
    assert min(domains) >= 0 and max(domains) <= 1


def test_a_thumbnail_has_neither_names_nor_a_bar() -> None:
    names = ["a", "b"]
    small = Matrix(values=np.eye(2), scale="weights", rows=names, columns=names, small=True)
    figure = board_figure(Board(rows=[[small]], notice=""))
    assert not figure.data[0].showscale
    assert figure.layout.xaxis.ticktext == ()
    np.testing.assert_array_equal(figure.data[0].z, np.eye(2))


def test_the_levels_of_boxes_and_the_marks_of_a_table_follow_the_frame():
    nodes = [Node(id="a", label="a", column=0, row=0)]
    diagram = Diagram(nodes=nodes, edges=[], levels=np.array([[0], [2], [3]]))
    marked = np.array([[True, False], [False, True], [False, False]])
    table = Table(columns=["model", "count"], rows=[["<base>", "65"], ["big", "213"]], marked=marked)
    board = Board(rows=[[diagram, table]], notice="", scrub=SCRUB)
    figures = [board_figure(board, frame=frame) for frame in range(3)]
    assert [fig.layout.shapes[0].opacity for fig in figures] == [0, 1, 1]
    of_frames = [trace.cells for fig in figures for trace in fig.data if trace.type == "table"]
    fills = [cells.fill.color[0] for cells in of_frames]
    assert fills[0][0] == fills[1][1] != fills[0][1] == fills[2][0]
    cells = of_frames[0]
    assert [list(column) for column in cells["values"]] == [["&lt;base&gt;", "big"], ["65", "213"]]


def test_the_notice_is_bold_between_stars_and_follows_the_frame():
    board = Board(rows=[[Sign(text="=")]], notice=["a **b c** <d>", "e", "f"], scrub=SCRUB)
    assert texts(board_figure(board))[:2] == ["a <b>b c</b> &lt;d&gt;", "temperature <b>0.5</b>"]
    assert texts(board_figure(board, frame=2))[:2] == ["f", "temperature <b>2</b>"]


def moving_board(n_frames, side=1):
    values = np.arange(n_frames, dtype=float)
    matrix = Matrix(values=np.broadcast_to(values[:, None, None], (n_frames, side, side)))
    scrub = Scrub(field="t", label="t", values=values)
    return Board(rows=[[matrix, Matrix(values=np.eye(2))]], notice=[f"at {v}" for v in values], scrub=scrub)


def test_a_frame_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="frame=4 is out of range; choose 0 to 3"):
        board_figure(moving_board(4), frame=4)
    with pytest.raises(ValueError, match="frame=1 is out of range; choose 0 to 0"):
        draw(Sign(text="="), frame=1)
