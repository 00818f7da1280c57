"""The frames of a board's figure: its slider brings each with its numbers, words and levels."""

import numpy as np
import pytest

from viz_core.boards import (
    Board,
    Diagram,
    Matrix,
    Node,
    Scrub,
    Sign,
    Table,
    board_figure,
)
from viz_core.boards import figure as module

SCRUB = Scrub(field="t", label="temperature", values=np.array([0.5, 1.0, 2.0]))


def draw(*panels, **options):
    return board_figure(Board(rows=[panels], notice=""), **options)


def texts(fig):
    return [note.text for note in fig.layout.annotations]


def test_the_levels_of_boxes_and_the_marks_of_a_table_follow_the_frame():
    nodes = [Node(id="a", label="a", column=0, row=0)]
    diagram = Diagram(nodes=nodes, edges=[], levels=np.array([[0], [2], [3]]))
    marked = np.array([[True, False], [False, True], [False, False]])
    table = Table(columns=["model", "count"], rows=[["<base>", "65"], ["big", "213"]], marked=marked)
    fig = board_figure(Board(rows=[[diagram, table]], notice="", scrub=SCRUB), frames=True)
    assert [frame.layout.shapes[0].opacity for frame in fig.frames] == [0, 1, 1]
    fills = [frame.data[0].cells.fill.color[0] for frame in fig.frames]
    assert fills[0][0] == fills[1][1] != fills[0][1] == fills[2][0]
    (cells,) = (trace.cells for trace in fig.data if trace.type == "table")
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


def test_the_slider_brings_every_frame_with_its_numbers_and_words():
    fig = board_figure(moving_board(4), frame=2, frames=True)
    (slider,) = fig.layout.sliders
    assert slider.active == 2 and [step.label for step in slider.steps] == ["0", "1", "2", "3"]
    assert [list(step.args[0]) for step in slider.steps] == [[frame.name] for frame in fig.frames]
    for at, frame in enumerate(fig.frames):
        assert list(frame.traces) == [0]  # the second matrix stays as it is
        assert frame.data[0].z == [[at]]
        assert frame.layout.annotations[0].text == f"at {float(at)}"


def test_frames_are_bounded_and_keep_the_one_on_the_screen(monkeypatch):
    monkeypatch.setattr(module, "FRAME_BYTES", 40_000)
    fig = board_figure(moving_board(50, side=20), frame=33, frames=True)
    names = [int(frame.name) for frame in fig.frames]
    assert names[0] == 0 and names[-1] == 49 and 33 in names and len(names) < 20
    assert sum(len(frame.to_json()) for frame in fig.frames) < 50_000
    assert names[fig.layout.sliders[0].active] == 33


def test_a_frame_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="frame=4 is out of range; choose 0 to 3"):
        board_figure(moving_board(4), frame=4)
    with pytest.raises(ValueError, match="frame=1 is out of range; choose 0 to 0"):
        draw(Sign(text="="), frame=1)
