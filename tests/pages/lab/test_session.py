from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from pages.lab import session
from pages.lab.lesson import LabPage, Part
from pages.shared.link import number, param, table, whole


@dataclass(frozen=True)
class Inputs:
    n: int = param(4, whole(1, 8))
    spread: float = param(1.0, number(0.01, 100))
    cells: tuple = param(((1.0, 2.0),), table((1, 2), (1, 3)))


def part(name: str, fields: tuple[str, ...], scrub: str | None = None) -> Part:
    return Part(name, name.title(), fields, lambda inputs: None, lambda: None, (), lambda: (), scrub)


PAGE = LabPage("demo", "Demo", Inputs, (part("first", ("n", "spread"), "spread"), part("second", ("cells",))))
OTHER = LabPage("other", "Other", Inputs, (part("only", ("n",)),))


class State(dict):
    """Stands for Streamlit's session state: keys are attributes too."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class FakeStreamlit:
    def __init__(self) -> None:
        self.session_state = State()
        self.query_params: dict[str, str] = {}


@pytest.fixture
def st(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeStreamlit]:
    fake = FakeStreamlit()
    monkeypatch.setattr(session, "st", fake)
    yield fake


def test_a_first_visit_has_the_defaults(st: FakeStreamlit) -> None:
    session.enter(PAGE)
    assert session.inputs(PAGE) == Inputs()
    assert session.part_of(PAGE).name == "first"
    assert session.link(PAGE, PAGE.parts[0], Inputs()) == {}


def test_a_link_sets_part_and_inputs_and_is_written_again_without_the_scrub(st: FakeStreamlit) -> None:
    st.query_params = {"n": "7", "spread": "2.5", "part": "first"}
    session.enter(PAGE)
    now = session.inputs(PAGE)
    assert now == Inputs(n=7, spread=2.5)
    assert session.link(PAGE, PAGE.parts[0], now) == {"n": "7"}


def test_a_damaged_link_says_what_it_dropped(st: FakeStreamlit) -> None:
    st.query_params = {"n": "70", "part": "third"}
    session.enter(PAGE)
    assert session.inputs(PAGE) == Inputs()
    assert st.session_state.link_problems == [
        "The link's n='70' is not a whole number from 1 to 8; its default is shown.",
        "The link's part='third' is not one of first, second; the first is shown.",
    ]


def test_a_link_names_only_what_its_part_depends_on(st: FakeStreamlit) -> None:
    now = Inputs(n=2, cells=((3.0, 0.5),))
    assert session.link(PAGE, PAGE.parts[0], now) == {"n": "2"}
    assert session.link(PAGE, PAGE.parts[1], now) == {"part": "second", "cells": "3,0.5"}


def test_a_lesson_is_computed_from_its_part_s_inputs_without_the_scrub() -> None:
    now = Inputs(n=2, spread=50.0, cells=((3.0,),))
    assert session.computed_from(PAGE, PAGE.parts[0], now) == Inputs(n=2)


def test_inputs_outlive_widgets_that_are_not_drawn_and_visits_to_other_pages(st: FakeStreamlit) -> None:
    session.enter(PAGE)
    st.session_state["demo.n"] = 5
    session.inputs(PAGE)
    del st.session_state["demo.n"]  # as Streamlit does
    session.enter(PAGE)
    assert session.inputs(PAGE).n == 5
    session.enter(OTHER)
    session.inputs(OTHER)
    del st.session_state["demo.n"]
    session.enter(PAGE)
    assert session.inputs(PAGE).n == 5


def test_what_a_widget_began_with_gives_way_to_what_was_kept(st: FakeStreamlit) -> None:
    session.enter(PAGE)
    st.session_state[session.key("demo", "n")] = 7
    session.inputs(PAGE)
    session.enter(OTHER)
    st.session_state[session.key("demo", "n")] = Inputs().n  # Streamlit puts a new widget's default there
    before = st.session_state.moves
    session.enter(PAGE)
    assert session.inputs(PAGE).n == 7
    assert st.session_state.moves == before + 1


def test_reset_is_for_the_part_alone_and_tells_the_browser(st: FakeStreamlit) -> None:
    st.query_params = {"n": "7", "cells": "9,9"}
    session.enter(PAGE)
    before = st.session_state.moves
    session.reset(PAGE, PAGE.parts[0])
    assert session.inputs(PAGE) == Inputs(cells=((9.0, 9.0),))
    assert st.session_state.moves == before + 1


def test_cells_that_were_written_become_an_input(st: FakeStreamlit) -> None:
    session.enter(PAGE)
    assert session.edit(PAGE, PAGE.parts[1], {"field": "cells", "value": "5,6"}) is None
    assert session.inputs(PAGE).cells == ((5.0, 6.0),)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("5,abc", "'abc' is not a number from -1,000,000 to 1,000,000; the numbers before it are kept"),
        ("5,1e9", "'1e9' is not a number from -1,000,000 to 1,000,000"),
        ("5,nan", "'nan' is not a number from -1,000,000 to 1,000,000"),
        ("5,6;7", "'5,6;7' is not a table like 1,2;3,4"),
    ],
)
def test_cells_that_make_no_table_are_refused(st: FakeStreamlit, value: str, sentence: str) -> None:
    session.enter(PAGE)
    problem = session.edit(PAGE, PAGE.parts[1], {"field": "cells", "value": value})
    assert problem is not None
    assert sentence in problem
    assert session.inputs(PAGE) == Inputs()


def test_only_inputs_of_the_part_can_be_written(st: FakeStreamlit) -> None:
    session.enter(PAGE)
    problem = session.edit(PAGE, PAGE.parts[0], {"field": "cells", "value": "5,6"})
    assert problem == "'cells' is no input of this part; reload the page."
