"""Runs a lab page: parts, texts, experiments, the board beside its controls, formula, questions."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from models.fields import SHOWN
from models.limits import in_force
from pages.lab import controls, drawers, questions
from pages.lab.lesson import LabPage, Lesson, Part
from pages.shared import cache, glossary, lab_stops, page_parts, server_load
from pages.shared.board import pack
from pages.shared.board.component import board
from pages.shared.board.pack import Packed
from pages.shared.browser.component import Act
from pages.shared.page_parts import computed_or_last, generation, show_problems
from pages.shared.state import problems, refuse


@dataclass(frozen=True)
class Shown:
    """A lesson with its board packed and the terms that stand there, the inputs it was made from, and a
    sentence if others were asked.
    """

    lesson: Lesson
    packed: Packed
    terms: dict[str, str]
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
    if "leave_by" in st.session_state:
        _leave(page)
    part, now = page.part(), page.now()
    if st.session_state.get("drawn_part") != (page.name, part.name):
        state.write_again()
    try:
        shown = _shown(page, part, now)
    except ValueError as error:  # not even the usual lesson: the server holds too much memory
        show_problems([str(error)])
        return
    above = st.container()
    main, side = st.columns([3.3, 1], gap="medium")
    tries, figure = main.container(), main.container()
    page_parts.draw_parts(
        [
            (above, lambda: _heading(page)),
            (side, lambda: _side(page, part, shown)),
            (tries, lambda: _tries(page, part)),
            (figure, lambda: _board(page, part, shown, now)),
        ],
        again=st.session_state.get("drawn_part") == (page.name, part.name),
    )
    st.session_state.drawn_part = (page.name, part.name)
    drawers.draw(page, part, shown.lesson, shown.terms)
    if "takeaway" in st.session_state:
        from pages.shared.board import takeaway  # Plotly's figures are needed only now

        frame = st.session_state.pop("takeaway")["frame"]
        name = f"{page.name}-{part.name}"
        takeaway.dialog(
            f"{page.title}: {part.label}", name, shown.lesson.board, frame, drawers.source(shown.lesson)
        )


def _shown(page: LabPage, part: Part, now: Any) -> Shown:
    """The lesson for the present inputs; for the last possible ones, with a sentence, where these are not."""
    asked, usual = page.computed_from(part, now), (page.inputs(),)
    found = computed_or_last(
        f"{page.name}.{part.name}", asked, usual, lambda inputs: _computed(page, part, inputs)
    )
    return Shown(*found.made, found.inputs, found.problem)


def _computed(page: LabPage, part: Part, inputs: Any) -> tuple[Lesson, Packed, dict[str, str]]:
    def make() -> tuple[Any, int]:
        server_load.check_memory()
        lesson = part.lesson(inputs)
        packed = pack.pack(board=lesson.board)
        terms = glossary.found_in(lesson, part.label, part.tries, questions.of(page, part))
        return (lesson, packed, terms), 2 * packed.size + 10_000

    return cache.cached(cache.payloads, (page.name, part.name, inputs), make)


def _heading(page: LabPage) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="lab_heading"):
        st.html(f"<h1>{page.title}</h1>")
        page.state.draw("part")


def _tries(page: LabPage, part: Part) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="lab_tries"):
        st.markdown("**Try this**", width="content")
        for experiment in part.tries:
            st.button(experiment.label, on_click=page.state.put, args=(experiment.set,))


def _side(page: LabPage, part: Part, shown: Shown) -> None:
    with st.container(key="lab_side"):
        st.markdown(shown.lesson.see)
        controls.draw(page.state, part.controls)
        key = f"{page.name}.reset"
        st.button("Reset", on_click=page.state.reset, args=(part.fields,), width="stretch", key=key)


def _board(page: LabPage, part: Part, shown: Shown, now: Any) -> None:
    show_problems([shown.problem, *problems()])
    key = f"{page.name}.board"

    def on_act(act: Act) -> None:
        match act["type"]:
            case "edit":
                _edit(page, part, act["field"], act["value"])
            case "part":
                page.state.put({"part": page.named(act["name"]).name})
            case "go":
                _go(page, part, 1 if act["by"] > 0 else -1)
            case _:
                st.session_state.takeaway = act

    board.show(shown.packed.message(**_header(page, part, shown, now)), key=key, on_act=on_act)


def _go(page: LabPage, part: Part, by: int) -> None:
    """To the next part or the one before; past the last, to the next page (`_leave`)."""
    at = page.parts.index(part) + by
    if 0 <= at < len(page.parts):
        page.state.put({"part": page.parts[at].name})
    else:
        st.session_state.leave_by = by


def _leave(page: LabPage) -> None:
    """To the page after this one, or before it, where there is one; where there is none, it stays."""
    at = lab_stops.NAMES.index(page.name) + st.session_state.pop("leave_by")
    if 0 <= at < len(lab_stops.NAMES) and not in_force().kiosk:
        st.switch_page(f"lab/{lab_stops.NAMES[at]}/page.py")


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
        "page": page.name,
        "part": part.name,
        "scrub": scrub,
        "moves": moves,
        "generation": generation((page.name, part.name, shown.inputs, shown.problem, now, moves)),
        "link": page.link(part),
        "fits": True,
        "spoils": questions.spoiled_by(page, part, shown.lesson.board.notice),
        "parts": [each.name for each in page.parts],
        "terms": glossary.sentences(shown.terms),
    }
