"""The board of two sides: numbers as traces have them, gaps and other tokens marked, a frame for a value."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_lab.models import load_model
from attention_lab.models.contrast import Aligned, Side, contrast
from attention_lab.pages.beside.board import STEP, Selection, board_of, labels, notice, on_one_grid, place_of
from attention_lab.pages.beside.state import side_names
from attention_lab.pages.beside.two_sides import (
    Comparison,
    ComparisonRequest,
    FramePair,
    frame_of,
    of_step,
    steps_of,
)
from attention_lab.viz_core.boards import Facts, Matrix

TIRED = "the animal did not cross the street because it was too tired"
WIDE = TIRED.replace("tired", "wide")
HEAD = ("encoder.self", 1, 3)
CHOSEN = Selection((HEAD, HEAD), ("first", "second"))


@pytest.fixture(scope="module")
def seen() -> Comparison:
    lm = load_model("translator")
    return Comparison((frame_of(contrast(Side(lm, TIRED), Side(lm, WIDE))),))


def test_both_heads_and_their_difference_are_those_of_the_traces(seen: Comparison) -> None:
    lm = load_model("translator")
    a, b = (lm.trace(text)["encoder.1.self.pattern"][3].numpy() for text in (TIRED, WIDE))
    board = board_of(seen, CHOSEN)
    first, second, difference = board.rows[0]
    assert isinstance(first, Matrix) and isinstance(second, Matrix) and isinstance(difference, Matrix)
    np.testing.assert_allclose(first.values, a, atol=1e-7)
    np.testing.assert_allclose(second.values, b, atol=1e-7)
    np.testing.assert_allclose(difference.values, b.astype(np.float64) - a, atol=1e-6)
    assert [each.together for each in (first, second, difference)] == ["A", "B", "B − A"]
    assert (first.rows[-2], second.rows[-2], first.rows[9]) == ("≠tired", "≠wide", "it")
    assert board.notice == "**“it”** looks at “animal” (0.997) on side A, at “street” (0.998) on side B."


def test_the_map_says_how_far_each_head_moved(seen: Comparison) -> None:
    lm = load_model("translator")
    traces = [lm.trace(text) for text in (TIRED, WIDE)]
    board = board_of(seen, CHOSEN)
    moved = board.rows[1][0]
    assert isinstance(moved, Matrix) and moved.choose == "place"
    for layer, head in ((0, 1), (1, 3)):
        a, b = (trace[f"encoder.{layer}.self.pattern"][head].double() for trace in traces)
        by_hand = np.mean([float((p - q).abs().sum()) / 2 for p, q in zip(a, b, strict=True)])
        assert moved.values[layer, head] == pytest.approx(by_hand, abs=1e-6)
    assert moved.marked is not None and np.argwhere(moved.marked).tolist() == [[1, 3]]
    facts = board.rows[1][-1]
    assert isinstance(facts, Facts)
    assert float(np.asarray(facts.facts[0].values)) == pytest.approx(float(moved.values[1, 3]))


def test_outputs_stand_where_they_differ_most_or_where_one_chooses(seen: Comparison) -> None:
    lm = load_model("translator")
    p, q = (lm.trace(text)["logits"].double().softmax(-1) for text in (TIRED, WIDE))
    place = place_of(seen, None)
    assert place is not None and place_of(seen, 2) == 2 and place_of(seen, 99) == place
    outputs = board_of(seen, CHOSEN).rows[1][1]
    assert isinstance(outputs, Matrix)
    assert (outputs.title, list(outputs.columns)) == ("outputs after “trop”", ["A", "B"])
    for row, name in enumerate(outputs.rows):
        column = lm.outputs.index(name)
        expected = [float(p[place, column]), float(q[place, column])]
        np.testing.assert_allclose(outputs.values[row], expected, atol=1e-6)
    facts = board_of(seen, CHOSEN).rows[1][-1]
    assert isinstance(facts, Facts)
    kl = float((p[place] * (p[place] / q[place]).log()).sum())
    assert float(np.asarray(facts.facts[1].values)) == pytest.approx(kl, rel=1e-4)


def test_heads_of_one_pass_are_compared_with_the_first(seen: Comparison) -> None:
    other = ("encoder.self", 0, 2)
    board = board_of(seen, replace(CHOSEN, heads=(HEAD, other), compares=True))
    pattern = load_model("translator").trace(TIRED)
    distances = board.rows[1][0]
    assert isinstance(distances, Matrix) and distances.marked is not None
    assert np.argwhere(distances.marked).tolist() == [[0, 2]]
    b = load_model("translator").trace(WIDE)["encoder.0.self.pattern"][2].double()
    a = pattern["encoder.1.self.pattern"][3].double()
    assert distances.values[0, 2] == pytest.approx(float((a - b).abs().sum(-1).mean() / 2), abs=1e-6)


def test_a_gap_and_another_token_are_marked() -> None:
    places = Aligned(("a", "b", "c"), ("a", "x"), ((0, 0), (1, 1), (2, None)))
    assert labels(places, 0) == ["a", "≠b", "≠c"]
    assert labels(places, 1) == ["a", "≠x", "–"]
    assert labels(places, 2) == ["a", "≠b", "≠c"]


def test_what_does_not_move_is_said() -> None:
    places = Aligned(("a", "b"), ("a", "b"), ((0, 0), (1, 1)))
    same = np.array([[1.0, 0.0], [0.4, 0.6]])
    assert notice(same, same, places, places).startswith("**Nothing moves**")
    less = np.array([[1.0, 0.0], [0.2, 0.8]])
    assert notice(same, less, places, places) == (
        "**“b”** moves most, and looks at “b” (0.600) on side A, at “b” (0.800) on side B."
    )


def _frame(pattern: torch.Tensor) -> FramePair:
    n = len(pattern)
    places = {"encoder": Aligned(tuple("abc"[:n]), tuple("abc"[:n]), tuple((at, at) for at in range(n)))}
    patterns = {"encoder.0.self": pattern[None]}
    return FramePair((patterns, patterns), places, {"encoder.self": np.zeros((1, 1))}, None)


def test_what_counts_as_not_moving_is_pale_in_the_difference() -> None:
    eye = torch.eye(2)
    nudged = torch.tensor([[1.0, 0.0], [0.004, 0.996]])
    pair = replace(_frame(eye), patterns=({"encoder.0.self": eye[None]}, {"encoder.0.self": nudged[None]}))
    head = ("encoder.self", 0, 0)
    board = board_of(Comparison((pair,)), Selection((head, head), ("one", "other")))
    assert str(board.notice).startswith("**Nothing moves**")
    difference = board.rows[0][2]
    assert isinstance(difference, Matrix) and difference.reach is not None
    assert np.abs(difference.values).max() < 0.05 * difference.reach


def test_a_knob_has_a_frame_and_a_small_picture_for_each_value() -> None:
    eye, flat = torch.eye(2), torch.full((2, 2), 0.5)
    first = _frame(eye)
    turned = replace(_frame(flat), patterns=(first.patterns[0], {"encoder.0.self": flat[None]}))
    head = ("encoder.self", 0, 0)
    seen = Comparison((first, turned), ("on", "off"), 1)
    board = board_of(seen, Selection((head, head), ("as it is", "Scale"), label="Scale"))
    assert board.scrub is not None and list(board.scrub.words) == ["on", "off"]
    assert board.notice[0].startswith("**Nothing moves**") and "looks at" in board.notice[1]
    b = board.rows[0][1]
    assert isinstance(b, Matrix) and b.values.tolist() == [eye.tolist(), flat.tolist()]
    strip = board.rows[2]
    assert [(each.title, each.frame) for each in strip if isinstance(each, Matrix)] == [("on", 0), ("off", 1)]


def test_heads_cut_anew_stand_beside_those_in_the_same_place() -> None:
    eye, flat = torch.eye(2), torch.full((2, 2), 0.5)
    first = _frame(eye)
    two = replace(first, patterns=({"encoder.0.self": torch.stack([eye, flat])}, first.patterns[1]))
    cut = replace(
        two, patterns=(two.patterns[0], {"encoder.0.self": torch.stack([eye] * 3 + [flat])}), recut=True
    )
    assert cut.counterpart(("encoder.self", 0, 1)) == ("encoder.self", 0, 2)
    assert cut.laid(1, ("encoder.self", 0, 1)).tolist() == eye.tolist()
    assert cut.distances("encoder.self").tolist() == [[0.0, 0.5]]
    assert replace(cut, recut=False).counterpart(("encoder.self", 0, 1)) == ("encoder.self", 0, 1)


def test_frames_of_other_places_are_not_scrubbed_through() -> None:
    frames = (_frame(torch.eye(2)), _frame(torch.eye(3)))
    found = on_one_grid(Comparison(frames, ("2", "3"), 1), "encoder.self")
    assert (found.frames, found.names) == ((frames[1],), ())
    assert on_one_grid(Comparison(frames[:1] * 2, ("2", "2")), "encoder.self").names == ("2", "2")


def test_a_head_that_forms_is_told_by_its_steps_and_by_the_tokens_on_the_axes() -> None:
    places = Aligned(("d", "d"), ("d", "d"), ((0, 0), (1, 1)))
    one, other = np.array([[1.0, 0.0], [0.4, 0.6]]), np.array([[1.0, 0.0], [0.9, 0.1]])
    assert notice(one, other, places, places, ("at step 800", "at step 0")) == (
        "**“d₂”** looks at “d₂” (0.600) at step 800, at “d” (0.900) at step 0."
    )
    run = {"model": "induction", "differs": "step", "step": ""}
    seen = of_step(ComparisonRequest("induction", "", (), "step", "", (0, 0)), lambda share: None)
    called = side_names(run)
    head = ("decoder.self", 1, 0)
    board = board_of(seen, Selection((head, head), called, label=STEP))
    assert called[0] == f"step {steps_of('induction')[-1]:,}"
    assert f"at {called[0]}, at" in board.notice[0] and board.notice[0].endswith(" at step 0.")
    assert " ".join(seen.frames[0].aligned["decoder"].tokens_a) in seen.frames[0].note


def test_sides_of_one_frame_are_told_as_sides_whatever_the_label(seen: Comparison) -> None:
    assert board_of(seen, replace(CHOSEN, label=STEP)).notice == board_of(seen, CHOSEN).notice
