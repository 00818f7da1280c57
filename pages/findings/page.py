"""Findings: published results, each measured on a model that is here, beside the paper's number."""

from __future__ import annotations

from functools import partial

import streamlit as st

from models.findings import Finding
from pages.findings import state
from pages.findings.board import board_of
from pages.findings.measurement import FindingRequest, lines_of, queue
from pages.shared.board.component import board
from pages.shared.browser.component import Act
from pages.shared.training.message import message
from pages.shared.work import Job, WorkPage
from viz_core.boards import Board

PAGE = WorkPage("findings", queue, "Measure it again")


@st.fragment
def page() -> None:
    inputs = state.page()
    inputs.take()
    finding = state.finding_of(inputs.kept)
    heading(finding)
    main, side = st.columns([3.3, 1], gap="medium")
    PAGE.draw(
        lambda: state.request(finding, inputs.kept), main, partial(figure, finding),
        (side, lambda job: controls(finding)),
    )  # fmt: skip


def heading(finding: Finding) -> None:
    """The page's name, the choice of a finding, and the claim as the paper has it."""
    with st.container(horizontal=True, vertical_alignment="center", key="findings_heading"):
        st.html("<h1>Findings</h1>", width="content")
        state.page().draw("finding", width=320)
    st.markdown(f"**The claim.** {finding.claim} *{finding.paper}.*")


def controls(finding: Finding) -> None:
    """What it is measured on, and what may be changed."""
    inputs = state.page()
    names = state.fields(finding)
    with st.container(key="findings_side"):
        for name in names:
            inputs.draw(name, **state.offered(finding, name))
        st.button("Reset", on_click=inputs.reset, args=(names,), width="stretch")
        rule, caveat = finding.words(**state.values(finding, inputs.kept))
        st.caption(f"**It holds here if** {rule}.")
        st.caption(f"**What this cannot say.** {caveat}")


def figure(finding: Finding, job: Job) -> None:
    """The outcome; while another is measured, or where it cannot be, the last one stays."""
    last = PAGE.last(job, key=finding.name)
    if last is None:
        return
    request, outcome = last
    drawn, inputs = board_of(outcome), state.page()
    link, step = inputs.link(("finding", *state.fields(finding))), inputs.kept["step"]
    at = None if drawn.scrub is None else float(drawn.scrub.values[-1] if step == state.LAST else step)
    bytes_ = message(drawn, part=finding.name, link=link, at=at, fits=True)
    board.show(bytes_, key="findings.board", on_act=on_act)
    if "takeaway" in st.session_state:
        take_away(finding, request, drawn)


def on_act(act: Act) -> None:
    if act["type"] == "takeaway":  # a clicker may also ask for a page after this one
        st.session_state.takeaway = act


def take_away(finding: Finding, request: FindingRequest, drawn: Board) -> None:
    from pages.shared.board import takeaway  # Plotly's figures are needed only now

    frame = st.session_state.pop("takeaway").get("frame", 0)
    code = lines_of(finding, request)
    takeaway.dialog(f"Findings: {finding.title}", f"finding-{finding.name}", drawn, frame, code)


state.page().enter()
board.load()
page()
