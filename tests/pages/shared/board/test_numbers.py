"""The files of a board are read back and compared with its arrays."""

import io

import numpy as np
import pandas as pd
import pytest

from attention_lab.pages.shared.board import takeaway
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
)

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(3, 2, 2))
SCORES[:, 0, 1] = -np.inf
X = np.array([1.0, 10.0, 100.0])
MEAN = RNG.normal(size=(3, 3))
VECTORS = RNG.normal(size=(3, 1, 2)).astype(np.float32)
LIT = np.array([[True, False], [True, True]])
BOARD = Board(
    rows=[
        [
            Matrix(values=SCORES, title="scores", rows=["=1+1", "cat"], columns=["-", "cat"]),
            Sign(text="="),
            Matrix(values=np.array([[0.1, np.nan]])),
        ],
        [
            Curves(
                x=X, lines=[Line(y=MEAN, name="mean", low=MEAN - 1, high=MEAN + 1), Line(y=X, name="theory")]
            ),
            Bars(values=np.array([0.25, 0.75]), labels=["-0.5", "@x"], title="weights"),
            Plane(vectors=VECTORS, names=["q"], colours=["query"]),
        ],
        [
            Layers(tokens=["a", "b"], links=np.tri(2, dtype=bool), lit=LIT),
            Facts(facts=[Fact(label="entropy", values=X, unit="nats"), Fact(label="verdict", values="=yes")]),
            Diagram(nodes=[Node(id="x", label="x", column=0, row=0)], edges=[]),
            Table(columns=["model", "count"], rows=[["=base", "65"], ["big", "213"]], title="presets"),
        ],
    ],
    notice="",
    scrub=Scrub(field="t", label="temperature", values=np.array([0.5, 1.0, 2.0]), words=["low", "1", "high"]),
)


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(io.StringIO(takeaway.table(BOARD, 2)), keep_default_na=False, na_values=["", "nan"])


def of(table, panel):
    return table[table["panel"] == panel]


def test_a_matrix_has_a_line_a_cell_with_all_its_digits(table):
    cells = of(table, "1 scores")
    np.testing.assert_array_equal(cells["value"], SCORES[2].ravel())
    assert cells["row_position"].tolist() == [0, 0, 1, 1]
    assert cells["column_position"].tolist() == [0, 1, 0, 1]
    unnamed = of(table, "2")
    np.testing.assert_array_equal(unnamed["value"], [0.1, np.nan])
    assert unnamed["row"].isna().all()


def test_a_table_has_a_line_a_cell_named_by_its_row_and_column(table):
    (name,) = {panel for panel in table["panel"] if "presets" in panel}
    cells = of(table, name)
    assert cells["row"].tolist() == ["'=base", "'=base", "big", "big"]
    assert cells["column"].tolist() == 2 * ["model", "count"]
    assert cells["value"].isna().all()
    assert cells["text"].tolist() == ["'=base", "65", "big", "213"]


def test_words_are_no_formulas_and_numbers_among_them_stay(table):
    cells = of(table, "1 scores")
    assert cells["row"].tolist() == ["'=1+1", "'=1+1", "cat", "cat"]
    assert cells["column"].tolist() == ["'-", "cat", "'-", "cat"]
    bars = of(table, "4 weights")
    assert bars["column"].tolist() == ["-0.5", "'@x"]
    np.testing.assert_array_equal(bars["value"], [0.25, 0.75])


def test_curves_have_x_and_their_bands(table):
    curves = of(table, "3")
    mean, theory = (curves[curves["row"] == name] for name in ("mean", "theory"))
    np.testing.assert_array_equal(
        mean[["x", "value", "low", "high"]], np.stack([X, MEAN[2], MEAN[2] - 1, MEAN[2] + 1], -1)
    )
    np.testing.assert_array_equal(theory["value"], X)
    assert theory[["low", "high"]].isna().all(axis=None)


def test_arrows_layers_facts_and_the_scrub_are_there(table):
    arrow = of(table, "5")
    np.testing.assert_array_equal(arrow["value"].astype(np.float32), VECTORS[2, 0])
    assert arrow["column"].tolist() == ["x", "y"]
    np.testing.assert_array_equal(of(table, "6")["value"], [1, 0, 1, 1])
    fact = of(table, "7")
    assert fact[["row", "column", "value"]].to_numpy().tolist() == [["entropy", "nats", 100.0]]
    scrub = of(table, "scrub")
    assert scrub[["row", "value"]].to_numpy().tolist() == [["temperature", 2.0]]
    assert set(table["panel"]) == {"scrub", "1 scores", "2", "3", "4 weights", "5", "6", "7", "8 presets"}


def test_a_table_is_bounded():
    board = Board(rows=[[Matrix(values=np.zeros((500, 401)))]], notice="")
    with pytest.raises(ValueError, match="over 200,000 numbers; the NPZ file holds all"):
        takeaway.table(board, 0)


def test_the_archive_holds_every_array_with_all_its_frames_and_the_words_as_typed():
    archive = np.load(io.BytesIO(takeaway.archive(BOARD)), allow_pickle=False)
    curves = BOARD.rows[1][0]
    expected = {
        "scrub.values": BOARD.scrub.values,
        "panel1.values": SCORES,
        "panel3.x": X,
        "panel3.lines1.y": MEAN,
        "panel3.lines1.low": curves.lines[0].low,
        "panel3.lines1.high": curves.lines[0].high,
        "panel3.lines2.y": X,
        "panel4.values": np.array([0.25, 0.75]),
        "panel5.vectors": VECTORS,
        "panel6.links": np.tri(2, dtype=bool),
        "panel6.lit": LIT,
        "panel7.facts1.values": X,
    }
    for name, array in expected.items():
        np.testing.assert_array_equal(archive[name], array, err_msg=name)
        assert archive[name].dtype == array.dtype
    words = {
        "scrub.label": "temperature",
        "scrub.words": ["low", "1", "high"],
        "panel1.rows": ["=1+1", "cat"],
        "panel3.lines2.name": "theory",
        "panel7.facts1.unit": "nats",
    }
    assert {name: archive[name].tolist() for name in words} == words
    arrays = [name for name in archive if archive[name].dtype.kind != "U"]
    assert set(arrays) == {*expected, "panel2.values"}
