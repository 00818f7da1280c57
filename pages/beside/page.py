"""Side by side: any two things in linked views with one cursor, and their difference."""

from __future__ import annotations

import streamlit as st

from pages.beside import state
from pages.beside.board import PLACE, Selection, board_of, on_one_grid
from pages.beside.comparison import Comparison, ComparisonRequest, queue
from pages.shared.board.component import board
from pages.shared.browser.component import Act
from pages.shared.page_parts import show_problems
from pages.shared.training.message import message
from pages.shared.work import Job, WorkPage
from viz_core.boards import Board

PAGE = WorkPage("beside", queue, "Compare again", seconds=0.3)


@st.fragment
def page() -> None:
    inputs = state.page()
    inputs.take()
    state.heading()
    above = st.container()
    main, side = st.columns([4.2, 1], gap="medium")
    PAGE.draw(
        lambda: state.request(inputs.kept), main, figure,
        (above, lambda job: state.sides(job.result if job else None)), (side, controls),
        remark=lambda job: state.unchanged(job.request),
    )  # fmt: skip


def controls(job: Job | None) -> None:
    """Which head is shown, of what was compared last."""
    last = PAGE.last(job, dict(state.page().kept)) if job else None
    state.head_controls(last[1] if last else None)


def figure(job: Job) -> None:
    """The board; while another is computed, or where it cannot be, the last one stays."""
    inputs = state.page()
    last = PAGE.last(job, dict(inputs.kept))
    if last is None:
        return
    request, comparison, kept = last
    kept |= {name: inputs.kept[name] for name in (*state.PLACE_FIELDS, "layer2", "head2")}
    selection = state.selection(kept, comparison)
    drawn = board_of(on_one_grid(comparison, selection.heads[0][0]), selection)
    frame, end = inputs.kept["frame"], max(0, len(comparison.names) - 1)
    first = float(comparison.first)
    at = None if drawn.scrub is None else first if frame == state.CHOSEN else float(min(frame, end))
    try:
        bytes_ = message(drawn, part=request.differs, link=state.link(), at=at, usual=first, fits=True)
    except ValueError as error:  # too large for a message
        show_problems([str(error)])
        return
    board.show(bytes_, key="beside.board", on_act=on_act)
    if "takeaway" in st.session_state:
        take_away(request, selection, drawn, comparison)


def on_act(act: Act) -> None:
    """A press on the map chooses a head; a clicker may also ask for a page after this one."""
    if act["type"] == "takeaway":
        st.session_state.takeaway = act
    elif act["type"] == "edit" and act["field"] == PLACE:
        state.choose(act["value"])


def take_away(request: ComparisonRequest, selection: Selection, drawn: Board, comparison: Comparison) -> None:
    from pages.beside import code
    from pages.shared.board import takeaway  # Plotly's figures are needed only now

    frame = st.session_state.pop("takeaway").get("frame", 0)
    lines = code.code_of(request, selection, comparison, frame if drawn.scrub else None)
    takeaway.dialog("Side by side", f"beside-{request.differs}", drawn, frame, lines)


state.page().enter()
board.load()
page()
