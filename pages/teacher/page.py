"""Teacher: signing in to a class, for the right to look after all visitors' runs."""

import streamlit as st

from attention_lab.pages.shared import teachers, visitors
from attention_lab.pages.shared.browser.requests import RENEW
from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.pages.shared.state import arrive, problems, refuse

KEY, CODE = "teacher.secret", "teacher.code"
# The page leaves its script's hands: only an answer to a request of the browser's own can bring a cookie.
_FETCH = st.components.v2.component(
    "attention_lab_renewal", js="export default ({ data }) => location.assign(data);"
)


def page() -> None:
    arrive("teacher")
    with st.container(key="teacher_heading"):
        st.html("<h1>Teacher</h1>")
    show_problems(problems())
    visitor = visitors.visitor()
    if visitor.all_rights:
        st.text("You may see, stop, rename, share, delete and export every run.")
        st.button("Sign out", on_click=lambda: teachers.sign_out(visitors.token_id()))
        return
    if CODE in st.session_state:
        _FETCH(data=f"./{RENEW}/{st.session_state.pop(CODE)}")
        return
    st.text(f"Whoever knows the secret looks after all runs for {teachers.HOURS} hours.")
    with st.form("teacher", border=False, width=400):
        st.text_input("Secret", type="password", max_chars=teachers.MOST, key=KEY)
        st.form_submit_button("Sign in", on_click=_sign_in, type="primary")


def _sign_in() -> None:
    """Signs the visitor in. The secret does not stay in the session."""
    secret, st.session_state[KEY] = str(st.session_state.get(KEY, "")), ""
    try:
        st.session_state[CODE] = teachers.sign_in(visitors.token_id(), secret)
    except ValueError as error:
        refuse(str(error))


page()
