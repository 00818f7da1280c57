"""The download of data that a task needs: a button that starts it, and its progress."""

import streamlit as st

from attention_lab.models.byte_units import readable
from attention_lab.models.data import downloads
from attention_lab.models.data.downloads import SOURCES
from attention_lab.models.limits import in_force
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.state import refuse
from attention_lab.pages.shared.visitors import without_places
from attention_lab.pages.shared.work import Job, Queue, progress


def offer(source: str) -> None:
    """The button for a named source; its progress while it is coming, for whoever asked."""
    if source not in SOURCES:
        return
    job = queue.jobs.get(source)
    if job is not None and not job.done.is_set():
        progress(job, key="train.download_stop", may_stop=visitors.visitor().all_rights)
        return
    if job is not None and job.problem:
        st.text(without_places(str(job.error or job.problem)))
    label = f"Download {SOURCES[source].title} ({readable(SOURCES[source].to_come)})"
    st.button(label, on_click=start, args=(source,), key="train.download")


def start(source: str) -> None:
    """Fetches a source, only once, however many visitors ask."""
    if in_force().read_only:
        refuse("this server is read-only: it downloads nothing")
        return
    try:
        queue.ask(source, source, anew=True)
    except ValueError as error:
        refuse(str(error))


def _fetch(job: Job) -> None:
    def tell(come: int, total: int) -> None:
        job.tell(come / max(1, total), f"{readable(come)} of {readable(total)} have come")

    downloads.fetch(job.request, tell)


queue = Queue(
    "downloads of data", _fetch, doing="asks for them", smaller="choose other data", threads=len(SOURCES)
)
