"""Findings: published results, each measured on a model that is here, beside the paper's number."""

from __future__ import annotations

import streamlit as st

from models.findings import Finding
from pages.findings import measurement, state
from pages.findings.board import board_of
from pages.findings.measurement import FindingJob, FindingRequest, lines_of
from pages.shared import page_parts
from pages.shared.board.component import board
from pages.shared.browser.component import Act
from pages.shared.page_parts import show_problems
from pages.shared.state import problems, refuse
from pages.shared.training.message import message
from pages.shared.work import STOPPED, progress, sentence, this_page
from viz_core.boards import Board

KEY = "findings.board"


@st.fragment
def gallery() -> None:
    shown = state.page()
    shown.take()
    finding = state.shown(shown.kept)
    heading(finding)
    main, side = st.columns([3.3, 1], gap="medium")
    try:
        work = measurement.ask(state.request(finding, shown.kept), this_page())
    except ValueError as error:
        with side:
            controls(finding)
        with main:
            show_problems([sentence(str(error)), *problems()])
        return
    parts = [(side, lambda: controls(finding)), (main, lambda: measured(finding, work))]
    page_parts.draw_parts(parts, again=work.done.is_set())


def heading(finding: Finding) -> None:
    """The page's name, the choice of a finding, and the claim as the paper has it."""
    with st.container(horizontal=True, vertical_alignment="center", key="findings_heading"):
        st.html("<h1>Findings</h1>", width="content")
        state.page().draw("finding", width=320)
    st.markdown(f"**The claim.** {finding.claim} *{finding.paper}.*")


def controls(finding: Finding) -> None:
    """What it is measured on, and what may be changed."""
    shown = state.page()
    names = state.fields(finding)
    with st.container(key="findings_side"):
        for name in names:
            shown.draw(name, **state.offered(finding, name))
        st.button("Reset", on_click=shown.reset, args=(names,), width="stretch")
        rule, caveat = finding.words(**state.values(finding, shown.kept))
        st.caption(f"**It holds here if** {rule}.")
        st.caption(f"**What this cannot say.** {caveat}")


def measured(finding: Finding, work: FindingJob) -> None:
    """The outcome, or how far it is; while another is measured, or where it cannot be, the last one stays."""
    kept: dict[str, tuple[FindingRequest, Board]] = st.session_state.setdefault("findings.last", {})
    done = work.done.wait(0.15)
    refused = problems()
    if not done:
        refuse(*refused)  # to be said again, once this is drawn anew, which may be at once
        progress(work)
    show_problems([sentence(work.problem) if done else None, *refused])
    if done and work.problem == STOPPED:
        st.button("Measure it again", on_click=measurement.forget, args=(this_page(),))
    if work.outcome is not None:
        kept[finding.name] = (work.asked, board_of(work.outcome))
    if finding.name not in kept:
        return
    asked, drawn = kept[finding.name]
    link = state.page().link(("finding", *state.fields(finding)))
    step = state.page().kept["step"]
    at = None if drawn.scrub is None else float(drawn.scrub.values[-1] if step == state.LAST else step)
    board.show(message(drawn, part=finding.name, link=link, at=at, fits=True), key=KEY, on_act=on_act)
    if "takeaway" in st.session_state:
        _take_away(finding, asked, drawn)


def on_act(act: Act) -> None:
    if act["type"] == "takeaway":  # a clicker may also ask for a page after this one
        st.session_state.takeaway = act


def _take_away(finding: Finding, asked: FindingRequest, drawn: Board) -> None:
    from pages.shared.board import takeaway  # Plotly's figures are needed only now

    frame = st.session_state.pop("takeaway").get("frame", 0)
    code = lines_of(finding, asked)
    takeaway.dialog(f"Findings: {finding.title}", f"finding-{finding.name}", drawn, frame, code)


state.page().enter()
board.load()
gallery()
