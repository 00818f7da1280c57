"""What a board refuses, and in which words."""

import numpy as np
import pytest

from viz_core.boards import (
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
        (lambda: Matrix(values=np.eye(2), marked=np.ones(4, bool)), r"marked has shape \(4,\)"),
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
            lambda: Bars(values=np.ones(3), labels=["a"]),
            "labels has 1 entries where there are 3; give one each",
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
            lambda: Table(columns=["model"], rows=[["base"]], marked=np.ones(2, bool)),
            "marked has 2 entries where there are 1; give one each",
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
        (Facts(facts=[Fact(label="entropy", values=np.ones(2))]), "entropy"),
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
    assert panel.has_frames


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
    assert not any(panel.has_frames for panel in still)
    Board(rows=[still], notice="", scrub=SCRUB)
