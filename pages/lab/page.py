"""Runs a lab page: parts, texts, experiments, the board beside its controls, formula, questions."""

import inspect
import textwrap
import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from pages.lab import controls, questions
from pages.lab.lesson import LabPage, Lesson, Part
from pages.shared import cache as caches
from pages.shared import draw_order, memory
from pages.shared.board import pack
from pages.shared.board.component import board
from pages.shared.board.pack import Packed
from pages.shared.browser.acts import Act
from pages.shared.link import SHOWN
from pages.shared.problems import say
from pages.shared.shown import first_possible, generation
from pages.shared.state import problems, refuse
from viz_core import theme

_reading = threading.Lock()


@dataclass(frozen=True)
class Shown:
    """A lesson with its board packed, the inputs it was made from, and a sentence if others were asked."""

    lesson: Lesson
    packed: Packed
    inputs: Any
    problem: str | None = None


def run(page: LabPage) -> None:
    """Draws the page; call it at the end of the page's file."""
    page.state.enter()
    board.load()
    _lab(page)


@st.fragment
def _lab(page: LabPage) -> None:
    state = page.state
    state.enter()
    part, now = page.part(), page.now()
    if st.session_state.get("drawn_part") != (page.name, part.name):
        state.write_again()
    try:
        shown = _shown(page, part, now)
    except ValueError as error:  # not even the usual lesson: the server holds too much memory
        say([str(error)])
        return
    above = st.container()
    main, side = st.columns([3.3, 1], gap="medium")
    below = st.container()
    draw_order.draw(
        [
            (above, lambda: _above(page, part, shown)),
            (side, lambda: _side(page, part)),
            (main, lambda: _board(page, part, shown, now)),
        ],
        again=st.session_state.get("drawn_part") == (page.name, part.name),
    )
    st.session_state.drawn_part = (page.name, part.name)
    with below:
        _details(shown.lesson)
        questions.ask(page, part)
    if "takeaway" in st.session_state:
        from pages.shared.board import takeaway  # Plotly's figures are needed only now

        frame = int(st.session_state.pop("takeaway").get("frame", 0))
        name = f"{page.name}-{part.name}"
        takeaway.dialog(f"{page.title}: {part.label}", name, shown.lesson.board, frame, _source(shown.lesson))


def _shown(page: LabPage, part: Part, now: Any) -> Shown:
    """The lesson for the present inputs; for the last possible ones, with a sentence, where these are not."""
    asked, usual = page.computed_from(part, now), (page.inputs(),)
    found = first_possible(
        f"{page.name}.{part.name}", asked, usual, lambda inputs: _computed(page, part, inputs)
    )
    return Shown(*found.made, found.inputs, found.problem)


def _computed(page: LabPage, part: Part, inputs: Any) -> tuple[Lesson, Packed]:
    def make() -> tuple[Any, int]:
        memory.check()
        lesson = part.lesson(inputs)
        packed = pack.pack(board=lesson.board)
        return (lesson, packed), 2 * packed.size + 10_000

    return caches.cached(caches.payloads, (page.name, part.name, inputs), make)


def _above(page: LabPage, part: Part, shown: Shown) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="lab_heading"):
        st.html(f"<h1>{page.title}</h1>")
        page.state.draw("part")
    st.markdown(shown.lesson.see)
    with st.container(horizontal=True, vertical_alignment="center", key="lab_tries"):
        st.markdown("**Try this**", width="content")
        for experiment in part.tries:
            st.button(experiment.label, on_click=page.state.put, args=(experiment.set,))


def _side(page: LabPage, part: Part) -> None:
    controls.draw(page.state, part.controls)
    key = f"{page.name}.reset"
    st.button("Reset", on_click=page.state.reset, args=(part.fields,), width="stretch", key=key)


def _board(page: LabPage, part: Part, shown: Shown, now: Any) -> None:
    say([shown.problem, *problems()])
    key = f"{page.name}.board"

    def on_act(act: Act) -> None:
        if act["type"] == "edit":
            _edit(page, part, str(act.get("field")), str(act.get("value")))
        else:
            st.session_state.takeaway = act

    board.show(shown.packed.message(**_header(page, part, shown, now)), key=key, on_act=on_act)


def _edit(page: LabPage, part: Part, field: str, raw: str) -> None:
    if field in part.fields:
        page.state.edit(field, raw)
    else:
        refuse(f"{field[:SHOWN]!r} is no input of this part; reload the page.")


def _header(page: LabPage, part: Part, shown: Shown, now: Any) -> dict[str, Any]:
    usual = page.inputs()
    moves = st.session_state.get("moves", 0)
    scrub = {"at": getattr(now, part.scrub), "usual": getattr(usual, part.scrub)} if part.scrub else None
    return {
        "part": part.name,
        "scrub": scrub,
        "moves": moves,
        "generation": generation((page.name, part.name, shown.inputs, shown.problem, now, moves)),
        "link": page.link(part),
    }


def _details(lesson: Lesson) -> None:
    with st.container(key="lab_formula"):
        left, right = st.columns([3, 2], vertical_alignment="center")
    left.latex(_with_macros(lesson.formula))
    right.markdown(f"with ${_with_macros(lesson.sizes)}$")
    shapes, code = st.columns([2, 3])
    with shapes.expander("Shapes of every tensor"):
        rows = [
            f"| ${_with_macros(shape.name)}$ | {shape.axes} | {list(shape.sizes)} |"
            for shape in lesson.shapes
        ]
        st.markdown("\n".join(["| tensor | axes | shape |", "| --- | --- | --- |", *rows]))
    with code.expander("The code that ran"):
        st.code(_source(lesson), language="python")


def _source(lesson: Lesson) -> str:
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
