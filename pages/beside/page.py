"""Side by side: any two things in linked views with one cursor, and their difference."""

from __future__ import annotations

import streamlit as st

from pages.beside import comparison, state
from pages.beside.board import PLACE, Selection, board_of, on_one_grid
from pages.beside.comparison import Comparison, ComparisonJob, ComparisonRequest
from pages.shared import page_parts
from pages.shared.board.component import board
from pages.shared.browser.component import Act
from pages.shared.page_parts import show_problems
from pages.shared.state import problems, refuse
from pages.shared.training.message import message
from pages.shared.work import STOPPED, progress, sentence, this_page
from viz_core.boards import Board

KEY = "beside.board"


@st.fragment
def compared() -> None:
    shown = state.page()
    shown.take()
    state.heading()
    above = st.container()
    main, side = st.columns([4.2, 1], gap="medium")
    try:
        work = comparison.ask(state.request(shown.kept), this_page())
    except ValueError as error:
        with above:
            state.sides(None)
        with side:
            state.head_controls(None)
        with main:
            show_problems([str(error), *problems()])
        return
    work.done.wait(0.3)
    seen = _last(work)[1]
    parts = [
        (above, lambda: state.sides(work.seen)),
        (side, lambda: state.head_controls(seen)),
        (main, lambda: figure(work)),
    ]
    page_parts.draw_parts(parts, again=work.done.is_set())


def _last(work: ComparisonJob) -> tuple[ComparisonRequest | None, Comparison | None, dict[str, object]]:
    """What was compared last on this page, with the inputs that it was compared for; this, if it is done."""
    if work.done.is_set() and work.seen is not None:
        st.session_state["beside.last"] = (work.asked, work.seen, dict(state.page().kept))
    found: tuple[ComparisonRequest, Comparison, dict[str, object]] | None = st.session_state.get(
        "beside.last"
    )
    return found or (None, None, {})


def figure(work: ComparisonJob) -> None:
    """The board, or how far it is; while another is computed, or where it cannot be, the last one stays."""
    done, refused = work.done.is_set(), problems()
    if not done:
        refuse(*refused)  # to be said again, once this is drawn anew, which may be at once
        progress(work)
    said = sentence(work.problem) or state.unchanged(work.asked) if done else None
    show_problems([said, *refused])
    if done and work.problem == STOPPED:
        st.button("Compare again", on_click=comparison.forget, args=(this_page(),))
    asked, seen, kept = _last(work)
    if asked is None or seen is None:
        return
    kept |= {name: state.page().kept[name] for name in (*state.PLACE_FIELDS, "layer2", "head2")}
    chosen = state.selection(kept, seen)
    drawn = board_of(on_one_grid(seen, chosen.heads[0][0]), chosen)
    frame = state.page().kept["frame"]
    last = max(0, len(seen.names) - 1)
    at = None if drawn.scrub is None else float(seen.first if frame == state.CHOSEN else min(frame, last))
    try:
        sent = message(
            drawn, part=asked.differs, link=state.link(), at=at, usual=float(seen.first), fits=True
        )
    except ValueError as error:  # too large for a message
        show_problems([str(error)])
        return
    board.show(sent, key=KEY, on_act=on_act)
    if "takeaway" in st.session_state:
        _take_away(asked, chosen, drawn, seen)


def on_act(act: Act) -> None:
    """A press on the map chooses a head; a clicker may also ask for a page after this one."""
    if act["type"] == "takeaway":
        st.session_state.takeaway = act
    elif act["type"] == "edit" and act["field"] == PLACE:
        state.choose(act["value"])


def _take_away(asked: ComparisonRequest, chosen: Selection, drawn: Board, seen: Comparison) -> None:
    from pages.beside import code
    from pages.shared.board import takeaway  # Plotly's figures are needed only now

    frame = st.session_state.pop("takeaway").get("frame", 0)
    lines = code.code_of(asked, chosen, seen, frame if drawn.scrub else None)
    takeaway.dialog("Side by side", f"beside-{asked.differs}", drawn, frame, lines)


state.page().enter()
board.load()
compared()
