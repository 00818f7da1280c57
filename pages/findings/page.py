"""Findings: published results, each measured on a model that is here, beside the paper's number."""

from functools import partial

import streamlit as st

from attention_lab.models.findings import Finding, findings
from attention_lab.models.findings.outcomes import measured_beforehand
from attention_lab.pages.findings import state, static
from attention_lab.pages.findings.board import board_of, claim
from attention_lab.pages.findings.measurement import lines_of, queue
from attention_lab.pages.shared import model_download
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.page_parts import heading
from attention_lab.pages.shared.work import Job, WorkPage

PAGE = WorkPage("findings", queue, "Measure it again")


@st.fragment
def page() -> None:
    inputs = state.page()
    inputs.take()
    finding = findings()[inputs.kept["finding"]]
    with heading("Findings", state.PAGE):
        inputs.draw("finding", width=320, format_func=state.listed)
    st.markdown(claim(finding))
    main, side = st.columns([3.3, 1], gap="medium")
    PAGE.draw(
        lambda: state.request(finding, inputs.kept), main, partial(figure, finding),
        (side, lambda job: controls(finding, job)),
    )  # fmt: skip


def controls(finding: Finding, job: Job | None) -> None:
    """What it is measured on, and what may be changed."""
    inputs = state.page()
    names = state.fields(finding)
    with st.container(key="findings_side"):
        with st.container(key="findings_claim"):  # stays in sight while presenting
            st.markdown(claim(finding))
        for name in names:
            inputs.draw(name, **state.offered(finding, name))
        if lacking := state.lacking(finding, inputs.kept):
            if st.session_state.get(model_download.WANTED) != lacking:
                model_download.want(lacking)
            model_download.field(lambda model: inputs.put({names[0]: model}))
        st.button("Reset", on_click=inputs.reset, args=(names,), width="stretch")
        rule, caveat = finding.words(**state.values(finding, inputs.kept))
        st.caption(f"**It holds here if** {rule}.")
        st.caption(f"**What this cannot say.** {caveat}")
        if job and measured_beforehand(finding, job.request.model, dict(job.request.parameters)):
            st.caption("Measured beforehand; changes are measured now.")


def figure(finding: Finding, job: Job) -> None:
    """Draws the outcome. The last one stays while another is measured, or where that fails."""
    last = PAGE.last(job, key=finding.name)
    if last is None:
        return
    request, outcome = last
    content, inputs = board_of(outcome), state.page()
    link, step = inputs.link(("finding", *state.fields(finding))), inputs.kept["step"]
    at = None if content.scrub is None else float(step)
    on_page.show(
        content, key="findings.board", part=finding.name, link=link, at=at, usual=0, fits=True,
        claim=f"**The claim.** {finding.brief}", where=f"Findings · {finding.title}",
    )  # fmt: skip
    title, name = f"Findings: {finding.title}", f"finding-{finding.name}"
    facts = {"model": request.model, **dict(request.parameters)}
    code = lines_of(finding, request)
    whole = on_page.whole("Findings", "findings", finding.name, static.parts_of)
    on_page.take_away(title, name, content, lambda frame: code, facts, (repr(finding),), whole)


state.enter()
on_page.component.load()
page()
