"""What a part has besides its board, each in a drawer that the board's buttons and keys open beside it."""

import inspect
import textwrap
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any

import streamlit as st

from pages.lab import questions
from pages.lab.lesson import LabPage, Lesson, Part
from pages.shared import glossary
from viz_core import theme

_reading = threading.Lock()


def draw(page: LabPage, part: Part, lesson: Lesson, terms: Mapping[str, str]) -> None:
    """Sends all drawers; the browser shows one at a time (pages/shared/browser/drawers.js).

    terms: those that stand in the part, as pages.shared.glossary found them.
    """
    with st.container(key="lab_drawer_formula"):
        _formula(lesson)
    with st.container(key="lab_drawer_code"):
        st.markdown("##### The code that ran")
        st.code(source(lesson), language="python")
    with st.container(key="lab_drawer_questions"):
        questions.ask(page, part)
    st.html(glossary.drawer(terms, "Terms and symbols of this part"))


def _formula(lesson: Lesson) -> None:
    st.markdown("##### The formula")
    with st.container(key="lab_formula"):
        st.latex(_with_macros(lesson.formula))
        st.markdown(f"with ${_with_macros(lesson.sizes)}$")
    st.markdown("##### Shapes of every tensor")
    rows = [
        f"| ${_with_macros(shape.name)}$ | {shape.axes} | {list(shape.sizes)} |" for shape in lesson.shapes
    ]
    st.markdown("\n".join(["| tensor | axes | shape |", "| --- | --- | --- |", *rows]))


def source(lesson: Lesson) -> str:
    """The functions that computed a lesson's numbers, as they stand in their files."""
    return "\n\n".join(map(_source_of, lesson.code))


@cache
def _source_of(made_by: Any) -> str:
    """Read by one visitor at a time: in Python 3.11.7, two that parse at once may meet a SystemError."""
    with _reading:
        return textwrap.dedent(inspect.getsource(made_by)).strip()


def _with_macros(formula: str) -> str:
    r"""LaTeX in which \q, \k and \v colour queries, keys and values, and \new marks what changed."""
    colours = theme.palette(st.context.theme.type == "dark")
    for macro, role in (("q", "query"), ("k", "key"), ("v", "value"), ("new", "accent")):
        formula = formula.replace(f"\\{macro}{{", f"\\textcolor{{{colours[role]}}}{{")
    return formula
