"""Start here: the walk, and nine stops with what this browser remembers of them."""

import streamlit as st

from attention_lab.pages.shared import menu
from attention_lab.pages.shared.browser.acts import Act
from attention_lab.pages.shared.lab_stops import part_of
from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.pages.shared.state import arrive, problems, refuse
from attention_lab.pages.start import walk
from attention_lab.pages.start.component import ABOUT, SHELF, message, start

arrive("start")
start.load()


def on_act(act: Act) -> None:
    """Leaves for the station or the part that was pressed, or goes on as a clicker does."""
    if act["type"] == "walk":
        return walk.go(act["at"])
    if act["type"] != "open":
        return menu.go("start", act)
    place = part_of(act["page"], act["part"])
    if place:
        menu.open_page(place[0], {"part": place[1]})
    else:
        refuse("The lab has no such part; press one of those below.")


ends = st.query_params.get("walk") == walk.END
if not ends:
    with st.container(key="start_heading"):
        st.html("<h1>Start here</h1>")
        st.markdown(f"{ABOUT} {SHELF}")
else:
    st.markdown(SHELF)
start.show(message(stations=not ends), key="start", on_act=on_act)
show_problems(problems())
