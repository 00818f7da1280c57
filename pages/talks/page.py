"""Talks: those that ship, and a visitor's own, which the browser keeps."""

import streamlit as st

from attention_lab.pages.shared import code_rooms, visitors, words
from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.pages.shared.state import arrive, problems
from attention_lab.pages.talks.talks import ABOUT, OF_SHEETS, message_of, talks


def show_rooms() -> None:
    """The halls and classes that this visitor may close: their own, or all."""
    opened = [(kind, *room) for kind in code_rooms.KINDS for room in kind.rooms(visitors.visitor())]
    if opened:
        st.subheader("Open halls and classes")
    for kind, code, title, users in opened:
        with st.container(horizontal=True, vertical_alignment="center", key=f"room_{code}"):
            st.text(f"{kind.the_room} {code}: “{title[:60]}”, {users} in it", width="content")
            with st.popover("Close"):
                st.text("All that is in it is deleted, with the answers.")
                st.button("Delete it", key=f"close_{code}", on_click=close, args=(kind, code), type="primary")


def close(kind: code_rooms.Rooms, code: str) -> None:
    """As the visitor who presses: a button that was drawn is no right."""
    kind.close_as(visitors.visitor(), code)


arrive("talks")
talks.load()
with st.container(key="talks_heading"):
    st.html("<h1>Talks</h1>")
    st.markdown(f"{ABOUT} {OF_SHEETS}")
talks.show(message_of([words.language()]), key="talks")
show_rooms()
show_problems(problems())
