"""The state of a page: from links, widgets and cells to values that all fit, and back into a link."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import MagicMock

import pytest

from attention_lab.models.fields import Field, characters, fields_of, number, one_of, setting, table, whole
from attention_lab.pages.shared import state as module
from attention_lab.pages.shared import streamlit_internals
from attention_lab.pages.shared.state import State, draw_widget, problems


@dataclass(frozen=True)
class Inputs:
    n: int = setting(4, whole(1, 8), "Words", control="slider")
    spread: float = setting(1.0, number(0.01, 100))
    kind: str = setting("a", one_of({"a": "first", "b": "second"}), "Kind: choose one")
    text: str = setting("", characters(5), "Text")
    cells: tuple = setting(((1.0, 2.0),), table((1, 2), (1, 3)))


DEFAULTS = {"n": 4, "spread": 1.0, "kind": "a", "text": "", "cells": ((1.0, 2.0),)}
PAGE, OTHER = State("demo", fields_of(Inputs)), State("other", fields_of(Inputs))


class Session(dict):
    """Stands for Streamlit's session state: keys are attributes too."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class FakeStreamlit:
    def __init__(self) -> None:
        self.session_state = Session()
        self.query_params: dict[str, str] = {}


@pytest.fixture
def st(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeStreamlit]:
    fake = FakeStreamlit()
    monkeypatch.setattr(module, "st", fake)
    monkeypatch.setattr(streamlit_internals, "st", fake)
    yield fake


class Place:
    """Notes what is drawn in it."""

    def __init__(self) -> None:
        self.drawn: dict[str, dict] = {}

    def __getattr__(self, kind: str):
        return lambda **given: self.drawn.__setitem__(kind, given)


def test_a_first_visit_has_the_defaults(st: FakeStreamlit) -> None:
    PAGE.enter()
    assert PAGE.kept == DEFAULTS
    assert PAGE.link(DEFAULTS) == {}


def test_a_link_is_shown_and_written_again(st: FakeStreamlit) -> None:
    st.query_params = {"n": "7", "cells": "3,0.5", "foreign": "1"}
    PAGE.enter()
    assert PAGE.kept == DEFAULTS | {"n": 7, "cells": ((3.0, 0.5),)}
    assert PAGE.link(["n", "spread", "cells"]) == {"n": "7", "cells": "3,0.5"}
    assert problems() == []


def test_a_damaged_link_says_what_it_dropped(st: FakeStreamlit) -> None:
    st.query_params = {"n": "70", "kind": "c"}
    PAGE.enter()
    assert PAGE.kept == DEFAULTS
    assert problems() == [
        "The link's n='70' is not a whole number from 1 to 8; its default is shown.",
        "The link's kind='c' is not one of a, b; its default is shown.",
    ]
    assert problems() == []


def test_what_a_widget_says_is_kept_beyond_it_and_beyond_visits_to_other_pages(st: FakeStreamlit) -> None:
    PAGE.enter()
    st.session_state["demo.n"] = 5
    PAGE.enter()
    del st.session_state["demo.n"]  # as Streamlit does with a widget that is not drawn
    PAGE.enter()
    assert PAGE.kept["n"] == 5
    OTHER.enter()
    del st.session_state["demo.n"]
    PAGE.enter()
    assert (PAGE.kept["n"], OTHER.kept["n"]) == (5, 4)


def test_what_a_widget_began_with_gives_way_to_what_was_kept(st: FakeStreamlit) -> None:
    PAGE.enter()
    st.session_state["demo.n"] = 7
    PAGE.enter()
    OTHER.enter()
    st.session_state["demo.n"] = 4  # Streamlit puts a new widget's default there
    before = st.session_state.moves
    PAGE.enter()
    assert (PAGE.kept["n"], st.session_state.moves) == (7, before + 1)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("n", 9, "Words: 9 is not a whole number from 1 to 8; the previous value is kept."),
        ("n", True, "Words: True is not a whole number from 1 to 8; the previous value is kept."),
        ("spread", math.nan, "spread: nan is not a number from 0.01 to 100; the previous value is kept."),
        ("kind", "/etc/passwd", "Kind: '/etc/passwd' is not one of a, b; the previous value is kept."),
        (
            "text",
            "x" * 22_000_000,
            "Text: 22,000,000 characters; at most 5 are read; remove 21,999,995; the previous value is kept.",
        ),
    ],
)
def test_a_value_that_does_not_fit_never_becomes_an_input(
    st: FakeStreamlit, field: str, value: object, sentence: str
) -> None:
    PAGE.enter()
    st.session_state[f"demo.{field}"] = value
    PAGE.enter()
    assert PAGE.kept == DEFAULTS
    assert st.session_state[f"demo.{field}"] == DEFAULTS[field]
    assert problems() == [sentence]


def test_reset_is_for_the_named_inputs_alone_and_tells_the_browser(st: FakeStreamlit) -> None:
    st.query_params = {"n": "7", "cells": "9,9"}
    PAGE.enter()
    before = st.session_state.moves
    PAGE.reset(["n", "spread"])
    assert PAGE.kept == DEFAULTS | {"cells": ((9.0, 9.0),)}
    assert st.session_state.moves == before + 1


def test_cells_that_were_written_become_an_input(st: FakeStreamlit) -> None:
    PAGE.enter()
    PAGE.edit("cells", "5,6")
    assert PAGE.kept["cells"] == ((5.0, 6.0),)
    assert problems() == []


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ("5,1e9", "'1e9' is not a number from -1,000,000 to 1,000,000; the previous value is kept."),
        ("5,nan", "'nan' is not a number from -1,000,000 to 1,000,000; the previous value is kept."),
        (
            "5,6;7",
            "'5,6;7' is not a table like 1,2;3,4: 1 to 2 rows of 1 to 3 numbers within ±1,000,000; the "
            "previous value is kept.",
        ),
    ],
)
def test_cells_that_make_no_table_are_refused(st: FakeStreamlit, raw: str, sentence: str) -> None:
    PAGE.enter()
    PAGE.edit("cells", raw)
    assert PAGE.kept == DEFAULTS
    assert problems() == [sentence]


def test_a_widget_is_drawn_as_declared_and_says_what_follows(st: FakeStreamlit) -> None:
    PAGE.enter()
    place, followed = Place(), []
    PAGE.draw("n", place, then=lambda: followed.append(PAGE.kept["n"]))
    drawn = place.drawn["slider"]
    assert (drawn["label"], drawn["min_value"], drawn["max_value"], drawn["key"]) == ("Words", 1, 8, "demo.n")
    st.session_state["demo.n"] = 6
    drawn["on_change"]()
    assert followed == [6]
    PAGE.draw("kind", place, label="Other")
    drawn = place.drawn["selectbox"]
    assert (drawn["label"], drawn["options"], drawn["format_func"]("b")) == ("Other", ("a", "b"), "second")


def test_an_input_without_a_widget_cannot_be_drawn(st: FakeStreamlit) -> None:
    with pytest.raises(TypeError, match=r"demo\.spread is declared without a widget"):
        PAGE.draw("spread", Place())


def test_no_value_is_kept_where_that_is_the_default(st: FakeStreamlit) -> None:
    shown = State("step", {"step": Field(None, whole(0, 9))})
    shown.take()
    assert shown.kept["step"] is None
    assert problems() == []


def test_a_step_of_a_field_that_was_not_drawn_since_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit has forgotten its value."""
    presses: list[dict[str, Any]] = []
    changes: list[str] = []
    monkeypatch.setattr(module.st, "button", lambda label, **how: presses.append(how))
    monkeypatch.setattr(module.st, "number_input", lambda **how: how)
    monkeypatch.setattr(module.st, "session_state", {})
    field = Field(1e-3, number(1e-9, 10), "Rate", control="rate")
    draw_widget(field, MagicMock(), key="rate", on_change=lambda: changes.append("rate"))
    for how in presses:
        how["on_click"](*how["args"])
    assert len(presses) == 2 and not changes
