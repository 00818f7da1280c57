"""The order in which a page's parts are sent."""

from contextlib import nullcontext

import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.pages.shared import page_parts


@pytest.mark.parametrize(
    ("again", "order"),
    [(False, ["texts", "controls", "figure"]), (True, ["figure", "pause", "controls", "texts"])],
)
def test_the_figure_is_sent_first_when_a_page_runs_again(
    monkeypatch: pytest.MonkeyPatch, again: bool, order: list[str]
) -> None:
    done: list[str] = []
    monkeypatch.setattr(page_parts.time, "sleep", lambda _: done.append("pause"))
    parts = [(nullcontext(), lambda name=name: done.append(name)) for name in ("texts", "controls", "figure")]
    page_parts.draw_parts(parts, again=again)
    assert done == order


# What a page falls back to, and when what it shows counts as another.


def page() -> None:
    import streamlit as st

    from attention_lab.pages.shared.page_parts import computed_or_last, generation, last

    def make(inputs: int) -> int:
        if inputs < 0:
            raise ValueError(f"{inputs} is below 0")
        return inputs * inputs

    asked, usual = st.session_state.get("asked", 3), st.session_state.get("usual", 1)
    st.session_state.before = last("page", "nothing")
    try:
        st.session_state.found = computed_or_last("page", asked, (usual,), make)
    except ValueError as error:
        st.session_state.refused = str(error)
        st.stop()
    st.session_state.count = generation(st.session_state.found.inputs)


def run(at: AppTest, asked: int, usual: int = 1) -> tuple[object, int, int, str | None]:
    at.session_state["asked"], at.session_state["usual"] = asked, usual
    at.run()
    assert not at.exception
    found = at.session_state["found"]
    return at.session_state["before"], found.inputs, found.value, found.problem


def test_the_last_possible_inputs_stay_and_the_sentence_says_why() -> None:
    at = AppTest.from_function(page, default_timeout=60)
    assert run(at, -1) == ("nothing", 1, 1, "-1 is below 0")
    assert run(at, 4) == (1, 4, 16, None)
    assert run(at, -2) == (4, 4, 16, "-2 is below 0")
    at.session_state["page.last"] = -7  # what was possible is so no more
    assert run(at, -2, usual=5) == (-7, 5, 25, "-2 is below 0")


def test_where_nothing_is_possible_the_error_is_that_of_what_was_asked() -> None:
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["asked"], at.session_state["usual"] = -2, -3
    at.run()
    assert at.session_state["refused"] == "-2 is below 0"


@pytest.mark.parametrize(("asked", "counts"), [((3, 3, 3), [1, 1, 1]), ((3, 4, -1, 3), [1, 2, 2, 3])])
def test_only_something_else_counts_anew(asked: tuple[int, ...], counts: list[int]) -> None:
    at = AppTest.from_function(page, default_timeout=60)
    found = []
    for value in asked:
        run(at, value)
        found.append(at.session_state["count"])
    assert found == counts
