"""Explore: every head of a transformer, on any sentence."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import controls, explore, figure_first, try_it
from pages.shared.problems import say
from pages.shared.stage.component import stage

KEY = "stage"


def on_act() -> None:
    """A wish from the stage: another sentence, numbers of another head, or something to take away."""
    act = st.session_state[KEY]["act"]
    if act["type"] == "text":
        controls.say(str(act["text"]))
    elif act["type"] == "open":
        st.session_state.opened = explore.opened_from(act)
    else:
        st.session_state.takeaway = act


def figure(beside: DeltaGenerator) -> None:
    current = explore.current()
    say([current.problem, *st.session_state.pop("link_problems", ())])
    explore.unknown_words(current.unknown)
    try_it.tool(current.tool, beside)
    if current.payload:
        stage.show(current.payload, key=KEY, on_act=on_act)


@st.fragment
def lab() -> None:
    controls.keep()
    controls.text_input()
    above = st.container()
    main, side = st.columns([3.3, 1], gap="medium")
    model, beside = side.container(), side.container()
    figure_first.draw(
        [(above, explore.examples), (model, controls.model_controls), (main, lambda: figure(beside))],
        again="shown" in st.session_state,
    )
    if "takeaway" in st.session_state:
        from pages.shared import takeaway  # Plotly's figures are needed only now

        takeaway.dialog(st.session_state.pop("takeaway"))


controls.load_link()
stage.load()
lab()
