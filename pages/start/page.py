"""Start here: nine stops, each with its section of the paper and what this browser remembers of it."""

import streamlit as st

from pages.shared.browser.component import Act
from pages.shared.lab_stops import part_of
from pages.shared.page_parts import show_problems
from pages.shared.state import arrive, problems, refuse
from pages.start.way import MESSAGE, way

arrive("start")
way.load()


def open_part(act: Act) -> None:
    """Notes where a press leads; a page is left only once its script runs."""
    place = part_of(act["page"], act["part"])
    if place:
        st.session_state.opens = place
    else:
        refuse("The lab has no such part; press one of those below.")


with st.container(key="start_heading"):
    st.html("<h1>Start here</h1>")
    st.markdown(
        "Nine stops through *Attention Is All You Need* (Vaswani et al., 2017). At each, move something, "
        "predict what happens, then look."
    )
way.show(MESSAGE, key="way", on_act=open_part)
show_problems(problems())
if "opens" in st.session_state:
    name, part = st.session_state.pop("opens")
    st.switch_page(f"lab/{name}/page.py", query_params={"part": part})
