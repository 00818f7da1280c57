"""What the attention page says: true at first, and of other inputs too."""

from dataclasses import replace

import numpy as np
import pytest

from attention_lab.pages.lab.attention import films, order, steps, worked
from attention_lab.pages.lab.attention.inputs import STEP_NAMES, Inputs
from attention_lab.viz_core.boards import Diagram
from tests.pages.lab.boards import panel

PATTERN = "pattern: softmax"


def lesson(key: str, **changed):
    return steps.lesson(replace(Inputs(), step=key, **changed))


def diagram(board) -> Diagram:
    return next(p for row in board.rows for p in row if isinstance(p, Diagram))


@pytest.mark.parametrize("key", STEP_NAMES)
def test_every_computed_tensor_is_on_the_board_and_in_the_shapes(key: str):
    shown = lesson(key)
    step = steps.STEPS[list(STEP_NAMES).index(key)]
    assert len(shown.shapes) == len(step.axes)
    titles = [panel.title for row in shown.board.rows for panel in row]
    heads = {"Q_heads", "K_heads", "V_heads"}  # drawn as colours over the channels of Q, K and V
    alone = {line.name for line in step.lines} - heads - ({"dots"} if key == "v6" else set())
    for name in alone:
        drawn = "Z" if name == "z" and len(step.axes["z"].split()) > 1 else name
        assert any(title.replace(",", ":").split(":")[0] == drawn for title in titles), name


def test_what_is_new_is_marked_in_the_diagram_and_in_the_titles():
    shown = lesson("v5").board
    assert {node.id for node in diagram(shown).nodes if node.changed} == {"Q"}
    titles = [panel.title for row in shown.rows for panel in row]
    assert [title for title in titles if title.endswith("new")] == ["W_Q · new", "Q: X W_Q · new"]


def test_the_channels_of_q_k_and_v_wear_the_colours_of_their_heads():
    for title in ("Q: X W_Q", "K: X W_K", "V: X W_V", "concat: join(Z) · new"):
        assert list(panel(lesson("v6").board, title).column_heads) == [0, 0, 1, 1]
    assert list(panel(lesson("v5").board, "K: X W_K").column_heads) == []


def test_the_first_notice_counts_who_looks_at_itself():
    assert lesson("free").board.notice.startswith("**4 of 4** words look most at themselves")
    # A word of zeros looks at all words alike: argmax takes the first.
    fewer = lesson("free", tokens="animal street it tired too").board
    pattern = panel(fewer, PATTERN).values
    assert f"**{(pattern.argmax(axis=1) == np.arange(5)).sum()} of 5**" in fewer.notice


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("v0", "the network gives most weight to “animal” (**0.54**)"),
        ("v1", "“animal” (**0.56**); the network looked most at “animal”"),
        ("v2", "Dividing by √4 = 2 evens the weights out: the largest goes from 0.56 to **0.42**."),
        ("v3", "“il” at “animal” (**0.42**), “rue” at “street” (**0.55**), “fatigué” at “tired” (**0.55**)"),
        ("v4", "the weight from “il” goes from 0.33 to **0.10**"),
        ("v5", "“animal” (**0.58**), and gives itself **0.05**"),
        ("v6", "head 0 at “animal” (**0.84**), head 1 at “tired” (**0.83**)"),
    ],
)  # fmt: skip
def test_the_notices_tell_the_numbers_of_the_board(key: str, said: str):
    assert said in lesson(key).board.notice


def test_the_notices_hold_for_one_word_and_one_query():
    for key in STEP_NAMES:
        assert lesson(key, tokens="alone", queries="il").board.notice


def test_names_beyond_the_tables_rows_get_zeros():
    board = lesson("free", tokens="animal street it tired too").board
    assert panel(board, "X").values[4].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("words", "count"), [("", 0), ("a b c d e f g", 7)])
def test_too_many_words_or_none_are_refused(words: str, count: int):
    with pytest.raises(ValueError) as error:
        lesson("free", tokens=words)
    assert str(error.value) == f"There are {count} words, but this part shows 1 to 6; change the text."


def test_edited_dot_products_move_the_keys_that_are_drawn():
    board = worked.lesson(replace(Inputs(), dots=((50.0, -20.0),))).board
    q1, k1, k2 = panel(board, "one query, two keys").values
    assert (q1 @ k1, q1 @ k2) == pytest.approx((50, -20))
    assert panel(board, "channel by channel").values.sum(axis=1) == pytest.approx([50, -20])


def test_the_order_part_says_when_nothing_was_reordered():
    same = order.lesson(replace(Inputs(), reordered=Inputs().sentence)).board
    assert same.notice == "The order is the same, and so is every output."


def test_equal_films_are_all_recommended():
    board = films.lesson(replace(Inputs(), features=((1.0, 0.0, 0.0),) * 4)).board
    assert "Ana should watch **Space Chase or One Last Letter or" in board.notice
