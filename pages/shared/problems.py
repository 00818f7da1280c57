"""The box in which a page says what was wrong with an input."""

from collections.abc import Iterable

import streamlit as st

from pages.shared.places import without_places


def say(sentences: Iterable[str | None]) -> None:
    """Shows sentences about bad input in one box, as plain text, since they quote what people typed."""
    found = list(filter(None, sentences))
    if found:
        with st.container(border=True, key="problems"):
            st.text(without_places("\n".join(found)))
