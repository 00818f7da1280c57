"""Talks: those that ship, and a visitor's own, which the browser keeps."""

import streamlit as st

from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.pages.shared.state import arrive, problems
from attention_lab.pages.talks.talks import ABOUT, OF_SHEETS, message_of, talks

arrive("talks")
talks.load()
with st.container(key="talks_heading"):
    st.html("<h1>Talks</h1>")
    st.markdown(f"{ABOUT} {OF_SHEETS}")
talks.show(message_of(), key="talks")
show_problems(problems())
