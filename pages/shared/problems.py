"""The box in which a page says what was wrong with an input."""

from collections.abc import Iterable

import streamlit as st

from pages.shared.places import without_places


def say(sentences: Iterable[str | None], *, of: str = "") -> None:
    """Shows sentences about bad input in one box, as plain text, since they quote what people typed.

    of: what a second box of the page is about, whose sentences outlast the next input.
    """
    found = list(filter(None, sentences))
    if found:
        with st.container(border=True, key=f"problems_{of}" if of else "problems"):
            st.text(without_places("\n".join(found)))
