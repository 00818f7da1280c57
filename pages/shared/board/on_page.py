"""A board on a page of Streamlit's: what a person does there, its take-away."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from attention_lab.pages.shared import cache, menu, server_load, words
from attention_lab.pages.shared.board.message import message
from attention_lab.pages.shared.browser.acts import Act, Kinds
from attention_lab.pages.shared.browser.component import Component
from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.viz_core.boards import Board
from attention_lab.viz_core.viewer.static.documents import Part, page_as_file

ACTS: Kinds = {
    **menu.ACTS,
    "edit": {"field": str, "value": str},
    "takeaway": {"frame": int, "address": str},
    "part": {"name": str},
    "answer": {"question": int, "option": int},
}
component = Component("board", acts=ACTS)
TAKE_AWAY = "takeaway"
"""Where the session notes that a take-away is wanted, until its dialog opens."""


def show(board: Board, *, key: str, on_act: Callable[[Act], None] | None = None, **how: Any) -> None:
    """Shows a board, or says that it is too large. on_act: hears what a person does there, but for the wish
    to take it away, which `take_away` answers. how: as `message` takes it.
    """

    def note(act: Act) -> None:
        if act["type"] == "takeaway":
            st.session_state[TAKE_AWAY] = act
        elif act["type"] in menu.ACTS:
            menu.go(key.partition(".")[0], act)  # a board's key begins with the name of its page
        elif on_act is not None:
            on_act(act)

    try:
        content = message(board, **how)
    except ValueError as error:
        show_problems([str(error)], of=key)
        return
    component.show(content, key=key, on_act=note)


def wants_take_away() -> bool:
    """Whether the visitor has asked for the take-away, and its dialog has not opened yet."""
    return TAKE_AWAY in st.session_state


def whole(title: str, page: str, part: str, make: Callable[[], Sequence[Part]]) -> Callable[[Any], str]:
    """What makes one file of a page with all its parts, open at one of them, given a catalogue's data."""

    def parts() -> tuple[Sequence[Part], int]:
        server_load.check_memory()
        made = make()
        return made, sum(len(state.message) for each in made for state in each.states)

    def made(said: Any) -> str:
        return page_as_file(
            title, page, cache.cached(cache.results, ("whole", page), parts), at=part, words=said
        )

    return made


def take_away(
    title: str, file_name: str, board: Board, code: Callable[[int], str],
    facts: Mapping[str, object] = {}, sources: Sequence[str] = (), whole: Callable[[Any], str] | None = None,
) -> None:  # fmt: skip
    """Opens the dialog where it was asked for. code: the lines of Python that give a frame. facts: what the
    board is of: model, text, seed. sources: texts that name the papers it stands on. whole: makes one file
    of the page with all its parts.
    """
    if not wants_take_away():
        return
    from attention_lab.pages.shared.board import takeaway  # Plotly's figures are needed only now
    from attention_lab.pages.shared.takeaway_dialog import Web

    act = st.session_state.pop(TAKE_AWAY)
    whole_page = whole and partial(whole, words.given())
    frame, web = act.get("frame", 0), Web(act.get("address", ""), whole_page)
    takeaway.dialog(title, file_name, board, frame, code(frame), facts, sources, web)
