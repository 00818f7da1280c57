"""Explore: every head of a transformer, on any sentence."""

from dataclasses import fields

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.explore import computing, controls, quantities, sweep
from pages.explore import figure as figure_module
from pages.explore.stage.component import stage
from pages.shared import glossary, page_parts
from pages.shared.browser.component import Act
from pages.shared.page_parts import last, show_problems
from pages.shared.state import problems

KEY = "stage"


def on_act(act: Act) -> None:
    """A wish from the stage: another sentence or model, numbers of another head, something to take away."""
    if act["type"] == "text":
        controls.read_text(act["text"])
    elif act["type"] == "sweep":
        computing.note_request("swept", *(act[field.name] for field in fields(sweep.Wish)))
    elif act["type"] == "written":
        computing.note_request("written")
    elif act["type"] == "smallest":
        computing.note_request("smallest", act["stack"])
    elif act["type"] == "edits":
        controls.page().edit("edits", act["text"])
    elif act["type"] == "contrast":
        controls.open_contrast(act)
    elif act["type"] == "beside":
        st.session_state.leave_for_beside = controls.beside_link(act)
    elif act["type"] == "open":
        st.session_state.opened = figure_module.opened_from(act)
    elif act["type"] == "map":
        computing.note_request("mapped", act["stack"])
    elif act["type"] == "repeated":
        quantities.note_random_tokens()
    elif act["type"] == "sums":
        computing.note_request("sums", act["stack"], act["queries"], act["keys"])
    elif act["type"] == "further":
        computing.note_request("further", *figure_module.wanted_from(act))
    else:
        st.session_state.takeaway = act


def figure(beside: DeltaGenerator) -> None:
    # It has its place from the start, so that the stage keeps its own.
    shown = figure_module.figure_of_widgets(st.empty())
    show_problems([shown.problem, *problems()])
    computing.offer_again()
    controls.draw_advice(shown.advice, shown.unknown)
    controls.draw_ability(shown.abilities, beside)
    if shown.payload:
        stage.show(shown.payload, key=KEY, on_act=on_act)
        with st.container(key="lab_drawer_glossary"):
            st.markdown("##### Terms of this page")
            st.html(glossary.as_list(shown.terms))


@st.fragment
def lab() -> None:
    if "leave_for_beside" in st.session_state:
        st.switch_page("beside/page.py", query_params=st.session_state.pop("leave_for_beside"))
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
        [(model, controls.model_controls), (main, lambda: figure(beside))],
        again=last("explore", None) is not None,
    )
    if "takeaway" in st.session_state:
        from pages.explore import takeaway  # Plotly's figures are needed only now

        takeaway.dialog(st.session_state.pop("takeaway"))


controls.load_link()
stage.load()
lab()
