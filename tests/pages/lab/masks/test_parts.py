"""The parts of the masks page: what their boards and sentences say, against numbers from elsewhere."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention_lab.models.engine import masks
from attention_lab.models.fields import read_link
from attention_lab.pages.lab.lesson import Lesson
from attention_lab.pages.lab.masks import cost, graph, late, mask, padding, reach
from attention_lab.pages.lab.masks.inputs import TALK, Inputs, allowed_of
from tests.pages.lab.boards import frame, panel


def matrix(lesson: Lesson, title: str) -> np.ndarray:
    return panel(lesson.board, title).values


def notice(lesson: Lesson, value: float | None = None) -> str:
    """What is to be noticed; with a scrub, in the frame of this value."""
    if isinstance(lesson.board.notice, str):
        return lesson.board.notice
    assert lesson.board.scrub is not None and value is not None
    return lesson.board.notice[frame(lesson.board, value)]


def made(module: Any, **inputs: Any) -> Lesson:
    return module.PART.lesson(replace(Inputs(), **inputs))


def test_the_opening_example_is_the_talks() -> None:
    lesson = made(mask)
    np.testing.assert_allclose(matrix(lesson, "scores"), TALK)
    weights = np.exp(np.array(TALK)) * np.tri(4)
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(matrix(lesson, "weights"), weights, rtol=1e-12)
    masked = np.where(np.tri(4) > 0, TALK, -np.inf)
    np.testing.assert_array_equal(matrix(lesson, "masked scores"), masked)
    powers = np.exp(TALK[1])
    assert notice(lesson) == (
        "**10 of 16** pairs are left. “I” shares its weight among 2 words: “I” gets "
        f"**{powers[1] / powers[:2].sum():.2f}**, unmasked {powers[1] / powers.sum():.2f}."
    )


def test_a_row_that_sees_nothing_is_shown_both_ways() -> None:
    lesson = made(mask, mask="1000;0000;1110;1111")
    assert np.isnan(matrix(lesson, "by the formula")[1]).all()
    assert not matrix(lesson, "weights")[1].any()
    assert notice(lesson).startswith("“I” may look at nothing")


def test_nothing_hidden_is_said() -> None:
    assert notice(made(mask, mask="none", n=3)).startswith("All **9** pairs are kept")


def test_memory_carries_words_over_segments_and_nothing_else_does() -> None:
    without, memory = (reach.PART.tries[at].set for at in (0, 1))
    assert notice(made(reach, **without), 5) == (
        "After **5** layers “who” can depend on **3 of 12** words; no number of layers brings it “<start>”."
    )
    for layers, heard in ((1, 6), (2, 9), (3, 12)):
        assert notice(made(reach, **memory), layers).endswith(
            f"**{heard} of 12** words; “<start>” needs **3** layers to get there."
        )


def test_what_can_be_depended_on_grows_by_the_window() -> None:
    lesson = made(reach, length=8, flow_argument="2")
    needed = panel(lesson.board, reach.NEEDED)
    assert needed.marked is not None
    for layers, heard in enumerate(needed.marked, start=1):
        np.testing.assert_array_equal(heard, np.tri(8) - np.tri(8, k=-layers - 1))
    assert needed.values[7].tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
    assert np.isposinf(needed.values[0, 1:]).all(), "never is no negative number of layers"
    assert "∞: never" in reach.NEEDED


def pairs_of_stride(n: int, stride: int) -> int:
    return sum((i - j <= stride or (i - j) % stride == 0) for i in range(n) for j in range(i + 1))


def test_headline_and_question_name_the_same_best_stride() -> None:
    counted = {stride: pairs_of_stride(49, stride) for stride in range(1, 50)}
    best = min(counted, key=counted.__getitem__)
    assert (best, counted[best], counted[7]) == (5, 451, 469)
    notices = [notice(made(cost), stride) for stride in counted]
    for kept, said in zip(counted.values(), notices, strict=True):
        assert f"keeps **{kept:,}** of 1,225 causal pairs" in said
    assert [stride for stride, said in zip(counted, notices, strict=True) if "No other stride" in said] == [5]
    assert "stride 5 keeps 451; stride 7 keeps 469" in cost.PART.questions()[0].because


def test_a_hidden_score_takes_from_the_visible_until_nothing_is_left() -> None:
    lesson = made(late)
    powers = np.exp(np.array(TALK[1], dtype=np.float32))
    left = powers[:2].sum() / powers.sum()
    assert f"“I” keeps **{left:.3g}** of its 1" in notice(lesson, 0.1)
    assert "0 / 0 is **NaN**" in notice(lesson, 120)
    before = matrix(lesson, late.FIRST)
    np.testing.assert_allclose(before, np.broadcast_to(before[0], before.shape), rtol=1e-6)


def test_hidden_padding_changes_nothing() -> None:
    lesson = made(padding, padding=5, seed=4)
    np.testing.assert_allclose(
        matrix(lesson, "padding hidden")[:, :4], matrix(lesson, "no padding at all"), rtol=1e-12
    )
    wasted = matrix(lesson, "padding seen")[:, 4:].sum(axis=1).mean()
    assert f"**{wasted:.0%}** of the weights" in notice(lesson)


@pytest.mark.parametrize(
    "edges", ["0-1 1-2", "0-1 0-2 0-3 0-4 0-5", "100000;110000;001000;000100;000010;000001"]
)
def test_the_nodes_that_may_look_at_a_changed_one_answer(edges: str) -> None:
    lesson = made(graph, graph=edges)
    seen_by = matrix(lesson, "mask")[:, 0].sum()
    assert f"**{seen_by} of 6** outputs have moved" in notice(lesson)


def test_painted_rows_are_cut_or_continued() -> None:
    assert allowed_of("01;10", "", 2).equal(masks.painted("01;10")[0, 0])
    assert allowed_of("01;10", "", 4).equal(masks.painted("0100;1000;1110;1111")[0, 0])
    assert allowed_of("011;100;000", "", 2).equal(masks.painted("01;10")[0, 0])
    with pytest.raises(ValueError, match="row 2 of the painted mask is '1', not 2 cells of 0 or 1"):
        allowed_of("01;1", "", 2)


@pytest.mark.parametrize(
    ("raw", "accepted"),
    [
        ("causal+window", True), ("10;11", True), ("10;1", False), ("painted", False), ("12;11", False),
        (";".join(["1" * 16] * 16), True), (";".join(["1" * 17] * 17), False),
    ],
)  # fmt: skip
def test_a_link_holds_a_mask_by_name_or_painted(raw: str, accepted: bool) -> None:
    values, problems = read_link(Inputs, {"mask": raw})
    assert values == ({"mask": raw} if accepted else {})
    assert accepted or "is not a mask, one of none, causal" in problems[0]
