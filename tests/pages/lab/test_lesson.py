"""What follows from a part's controls: its inputs, what it is computed from, and its link."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from attention_lab.models.fields import number, setting, table, whole
from attention_lab.pages.lab.lesson import Columns, LabPage, Note, Own, Part, Set, When
from attention_lab.pages.shared import state, streamlit_internals
from attention_lab.pages.shared.state import problems
from tests.pages.shared.test_state import FakeStreamlit


@dataclass(frozen=True)
class Inputs:
    n: int = setting(4, whole(1, 8))
    spread: float = setting(1.0, number(0.01, 100))
    cells: tuple = setting(((1.0, 2.0),), table((1, 2), (1, 3)))


def part(name: str, controls: tuple, scrub: str | None = None, also: tuple[str, ...] = ()) -> Part:
    return Part(name, name.title(), controls, lambda inputs: None, (), lambda: (), scrub, also)


PAGE = LabPage("demo", "Demo", Inputs, (part("first", ("n",), "spread"), part("second", (), also=("cells",))))


@pytest.fixture
def st(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeStreamlit]:
    fake = FakeStreamlit()
    monkeypatch.setattr(state, "st", fake)
    monkeypatch.setattr(streamlit_internals, "st", fake)
    yield fake


def test_a_part_depends_on_all_that_its_controls_may_set() -> None:
    controls = (
        "a",
        Note("words"),
        Columns((("b", Set("c")), ("d",))),
        When("a", 1, ("e",), (Own(print, ("f",)),)),
    )
    assert part("any", controls, "scrubbed", ("cells",)).fields == (*"abcdef", "cells", "scrubbed")


def test_the_first_control_is_in_sight_where_there_is_no_scrub() -> None:
    first, columns, note = "a", Columns((("b",), ("c",))), Note("words")
    alone, scrubbed = part("alone", (note, first, columns)), part("scrubbed", (first, note, columns), "s")
    assert (alone.in_sight, alone.folded) == ([note, first], [columns])
    assert (scrubbed.in_sight, scrubbed.folded) == ([note], [first, columns])


def test_a_link_names_part_and_inputs_but_not_the_scrub(st: FakeStreamlit) -> None:
    st.query_params = {"n": "7", "spread": "2.5", "part": "first"}
    PAGE.state.enter()
    assert PAGE.now() == Inputs(n=7, spread=2.5)
    assert PAGE.part().name == "first"
    assert PAGE.link(PAGE.part()) == {"n": "7"}


def test_a_link_names_only_what_its_part_depends_on(st: FakeStreamlit) -> None:
    st.query_params = {"n": "2", "cells": "3,0.5", "part": "second"}
    PAGE.state.enter()
    assert PAGE.part().name == "second"
    assert PAGE.link(PAGE.part()) == {"part": "second", "cells": "3,0.5"}


def test_a_part_that_is_not_there_is_refused(st: FakeStreamlit) -> None:
    st.query_params = {"part": "third"}
    PAGE.state.enter()
    assert PAGE.part().name == "first"
    assert problems() == ["The link's part='third' is not one of first, second; its default is shown."]


def test_a_lesson_is_computed_from_its_part_s_inputs_without_the_scrub() -> None:
    now = Inputs(n=2, spread=50.0, cells=((3.0,),))
    assert PAGE.computed_from(PAGE.parts[0], now) == Inputs(n=2)
