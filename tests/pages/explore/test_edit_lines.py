"""What a press makes of the lines of edits."""

import pytest

from attention_lab.pages.explore.edit_lines import after_press, heads_off

OFF = "encoder.1.self heads 3: zero"
MODULE = 'module "encoder.layers.1.feed_forward"'
ROW = "encoder.1.self.pattern heads 3 at 10"


@pytest.mark.parametrize(
    ("lines", "line", "how", "left"),
    [
        (["encoder.0: off"], OFF, "toggle", ["encoder.0: off", OFF]),
        (["encoder.1.self heads 3: mean", "encoder.0: off"], OFF, "toggle", ["encoder.0: off", OFF]),
        ([OFF], OFF, "toggle", []),
        (["encoder.1.self  heads 3:  zero"], OFF, "toggle", []),  # the same, however it is written
        ([OFF], OFF, "put", [OFF]),
        ([f"{ROW}: uniform", OFF], f"{ROW}: only 4", "put", [OFF, f"{ROW}: only 4"]),
        ([f"{ROW}: only 4", OFF], f"{ROW}: uniform", "undo", [OFF]),
        ([OFF], "no edit", "toggle", [OFF, "no edit"]),  # the figure says what is wrong with it
    ],
)
def test_an_edit_takes_the_place_of_one_at_the_same_place(lines, line, how, left) -> None:
    assert after_press(lines, line, how) == left


@pytest.mark.parametrize(
    ("lines", "head", "left"),
    [
        ([], 3, ["encoder.1.self heads 3: zero"]),
        (["encoder.0: off", OFF], 3, ["encoder.0: off"]),
        (["encoder.1.self heads 0-3: zero"], 1, ["encoder.1.self heads 0,2,3: zero"]),
        (["encoder.1.self: zero"], 3, ["encoder.1.self heads 0-2,4: zero"]),
        (["encoder.1.self heads 3: mean"], 3, ["encoder.1.self heads 3: zero"]),
        (["encoder.0.self: zero"], 3, ["encoder.0.self: zero", "encoder.1.self heads 3: zero"]),
    ],
)
def test_a_heads_switch_knows_it_among_others_and_brings_it_alone_back(lines, head, left) -> None:
    assert after_press(lines, f"encoder.1.self heads {head}: zero", "switch", 5) == left


def test_the_heads_that_are_off_are_told() -> None:
    lines = [OFF, "encoder.1.self heads 0: zero", "decoder.0.cross: zero", "encoder.0.self heads 1: mean"]
    found = heads_off("\n".join([*lines, "encoder.0.self heads 2 at 3: zero", "encoder.0.ff: zero"]))
    assert found == {"encoder.1.self": [3, 0], "decoder.0.cross": None}
    assert heads_off("") == {}


@pytest.mark.parametrize(
    ("known", "painted", "how", "set_"),
    [
        ("", "4=0.8", "join renormalised", "4=0.8 renormalised"),
        ("set 4=0.8 renormalised", "2=0.15", "join", "2=0.15 4=0.8"),
        ("set 2=0.15 4=0.8", "4=0.5", "join renormalised", "2=0.15 4=0.5 renormalised"),
        ("uniform", "4=1", "join", "4=1"),
        ("", "5=0.25 1=0.125", "join renormalised", "1=0.125 5=0.25 renormalised"),
        ("set 2=0.5 5=1", "5=0.25 1=0.125", "join", "1=0.125 2=0.5 5=0.25"),
        # no more than 1 where the rest shares, and what is painted comes first
        ("set 2=0.5 3=0.75", "5=0.25 1=0.125", "join renormalised",
         "1=0.125 2=0.25 3=0.375 5=0.25 renormalised"),
        ("set 9=0.5", "0=0.9 1=0.9 2=0.9 3=0.9 4=0.9 5=0.9 6=0.9", "join renormalised",
         "0=0.142 1=0.142 2=0.142 3=0.142 4=0.142 5=0.142 6=0.142 9=0.006 renormalised"),
    ],
)  # fmt: skip
def test_painted_cells_join_those_of_their_row(known, painted, how, set_) -> None:
    lines = ["encoder.0: off", *([f"{ROW}: {known}"] if known else [])]
    assert after_press(lines, f"{ROW}: set {painted}", how) == ["encoder.0: off", f"{ROW}: set {set_}"]
