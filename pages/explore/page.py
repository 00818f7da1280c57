"""Explore: every head of a transformer, on any sentence."""

import streamlit as st

from attention_lab.pages.explore import controls, waiting
from attention_lab.pages.explore import figure as figure_module
from attention_lab.pages.explore.component import stage
from attention_lab.pages.explore.edit_lines import after_press
from attention_lab.pages.explore.figure import REQUESTS
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.shared import chain, glossary, page_parts
from attention_lab.pages.shared.browser.component import Act
from attention_lab.pages.shared.page_parts import last, show_problems
from attention_lab.pages.shared.state import problems

KEY = "stage"


def on_act(act: Act) -> None:
    """Does what the stage asks for: another sentence or model, numbers of another head, a take-away.

    The figure alone is drawn again, unless controls change as well.
    """
    match act["type"]:
        case "text":
            if not controls.read_wider(act["text"]):
                controls.read_text(act["text"])
            page_parts.redraw("lab")
        case "contrast":
            controls.open_contrast(act)
            page_parts.redraw("lab")
        case "edits":
            controls.page().edit("edits", act["text"])
        case "edit":
            lines = last("explore", Inputs()).edits.splitlines()
            joined = after_press(lines, act["line"], act["how"], act["count"])
            controls.page().edit("edits", "\n".join(joined))
        case "beside":
            st.session_state.leave_for_beside = controls.beside_link(act)
        case "go" | "skip":
            chain.go("explore", act)
        case "open":
            st.session_state.opened = figure_module.opened_from(act)
        case kind if kind in REQUESTS:
            waiting.note_request(kind, *REQUESTS[kind].arguments(act))
        case _:
            st.session_state.takeaway = act


@st.fragment(key="figure")
def figure() -> None:
    """The stage with what is said above it, and the terms beside it."""
    if "leave_for_beside" in st.session_state:
        st.switch_page("beside/page.py", query_params=st.session_state.pop("leave_for_beside"))
    # It has its place from the start, so that the stage keeps its own.
    current = figure_module.figure_of_widgets(st.empty())
    st.session_state.abilities = current.abilities
    # page.css fades the picture that is not of what was refused.
    show_problems([current.problem, *problems()], of="refused" if current.problem else "")
    waiting.offer_again()
    controls.draw_advice(current.advice, current.unknown)
    if "fill" in current.abilities:
        controls.draw_masks()
    if current.payload:
        stage.show(current.payload, key=KEY, on_act=on_act)
        st.html(glossary.drawer(current.terms, "Terms of this page"))
    if current.payload and "takeaway" in st.session_state:
        from attention_lab.pages.explore import takeaway  # Plotly's figures are needed only now

        takeaway.dialog(st.session_state.pop("takeaway"), current.payload)


@st.fragment(key="lab")
def lab() -> None:
    """The whole page; a changed control on which no other depends redraws only the figure in it."""
    controls.page().take()
    with st.container(key="explore_text"):
        controls.text_input()
        # As soon as it has the figure, the browser may ask for a head's numbers, and tells what its widgets
        # say: those that follow the text have to be there by then.
        figure_module.examples()
    main, side = st.columns([3.3, 1], gap="medium")
    with side.container(key="explore_side"):
        model, beside = st.container(), st.container()
    page_parts.draw_parts(
        [(model, controls.model_controls), (main, figure)], again=last("explore", None) is not None
    )
    if "continue" in st.session_state.get("abilities", ()):
        with beside:
            controls.draw_continuation()


controls.load_link()
stage.load()
lab()
