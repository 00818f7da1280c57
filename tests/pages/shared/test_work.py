"""How a page says what it waits for, and what came in the way."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.shared.work import STOPPED, sentence


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("", ""),
        ("a window of 4 keys has no room; widen it", "A window of 4 keys has no room; widen it."),
        ("It was stopped.", "It was stopped."),
        ("mask='x' is no mask", "mask='x' is no mask."),
    ],
)
def test_a_problem_is_said_as_a_sentence(problem: str, said: str) -> None:
    assert sentence(problem) == said


def _waits() -> None:
    import streamlit as st

    from pages.shared.work import progress

    wish = st.session_state.setdefault("wish", Wish(asked=None, share=0.25, doing="reads a text"))
    if not wish.done.is_set():
        progress(wish)


def test_what_is_done_follows_the_wish_and_stop_ends_it() -> None:
    page = AppTest.from_function(_waits).run()
    assert not page.exception
    (bar,) = page.get("progress")
    assert (bar.proto.text, bar.proto.value) == ("Reads a text …", 25)
    page.session_state.wish.doing = "draws it"
    page.run()
    assert page.get("progress")[0].proto.text == "Draws it …"
    page.button[0].click().run()
    wish = page.session_state.wish
    assert wish.stopped.is_set() and wish.problem == STOPPED
    assert not page.button, "who stops it waits no longer"
