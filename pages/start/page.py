"""Start here: nine stops, each with its section of the paper and what this browser remembers of it."""

import streamlit as st

from attention_lab.pages.shared import chain
from attention_lab.pages.shared.browser.component import Act
from attention_lab.pages.shared.lab_stops import part_of
from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.pages.shared.state import arrive, problems, refuse
from attention_lab.pages.start.way import ABOUT, MESSAGE, way

arrive("start")
way.load()


def on_act(act: Act) -> None:
    """Leaves for the part that was pressed, or goes on as a clicker does."""
    if act["type"] != "open":
        return chain.go("start", act)
    place = part_of(act["page"], act["part"])
    if place:
        st.switch_page(f"lab/{place[0]}/page.py", query_params={"part": place[1]})
    else:
        refuse("The lab has no such part; press one of those below.")


with st.container(key="start_heading"):
    st.html("<h1>Start here</h1>")
    st.markdown(ABOUT)
way.show(MESSAGE, key="way", on_act=on_act)
show_problems(problems())
