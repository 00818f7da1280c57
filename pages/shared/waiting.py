"""What a page shows while its wish is fulfilled, and how it says what came in the way."""

import streamlit as st

from pages.shared.wishes import Wish
from pages.shared.wording import plain

LOOKS = 0.4
"""Seconds between two looks at how far a wish is."""


@st.fragment(run_every=LOOKS)
def progress(work: Wish) -> None:
    """How far the work is, with a way to stop it; the page is drawn anew once it is done."""
    if work.done.is_set():
        st.rerun()
    st.progress(min(1.0, work.share), text=f"{plain(work.doing.capitalize())} …")
    st.button("Stop", on_click=work.stop)


def this_page() -> str:
    """This open page: two of one visitor do not stop each other."""
    return str(st.session_state.session)


def sentence(problem: str) -> str:
    """A problem as a sentence: a capital, but where it begins with what was typed, and its full stop."""
    if not problem:
        return ""
    first = problem[0] if "=" in problem.split()[0] else problem[0].upper()
    return f"{first}{problem[1:].removesuffix('.')}."
