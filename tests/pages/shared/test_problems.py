"""Tests of the box that says what was wrong with an input."""

from streamlit.testing.v1 import AppTest


def page() -> None:
    from pages.shared.problems import say

    say(["give a shorter one", None, "It was stopped.", ""])


def test_each_sentence_ends_as_one() -> None:
    (box,) = AppTest.from_function(page).run().text
    assert box.value == "give a shorter one.\nIt was stopped."
