"""Sweeps: many runs that differ in chosen settings, started, watched and compared as one."""

import streamlit as st

from pages.shared.board.component import board
from pages.shared.problems import say
from pages.shared.table.component import table
from pages.shared.training import runs
from pages.sweeps import form, found, listing, opened, state


def page() -> None:
    state.enter()
    board.load()
    table.load()
    sweep = state.opened()
    listed = found.every()
    with st.container(horizontal=True, vertical_alignment="center", key="sweeps_heading"):
        st.html("<h1>Sweeps</h1>", width="content")
        st.markdown("Which settings are best? Many runs answer, over several seeds.", width="content")
        if sweep is not None:
            st.button("New sweep", on_click=state.open_sweep, args=(state.NEW,), key="sweeps.new")
    say(runs.refusals(), of="folder")
    if listed:
        listing.draw(listed, sweep.name if sweep else "")
    if sweep is None:
        form.draw()
        return
    opened.draw(sweep)
    if "takeaway" in st.session_state:
        opened.take_away(sweep)


page()
