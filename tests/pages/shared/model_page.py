"""A page with the field for another model alone, on which the translator is open at first."""

import streamlit as st

from attention_lab.pages.shared import model_field
from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.pages.shared.state import problems


def show(name: str) -> None:
    if model_field.can_open(name):
        st.session_state.model = name


st.session_state.setdefault("model", "translator")
show_problems(problems())
model_field.field(show)
