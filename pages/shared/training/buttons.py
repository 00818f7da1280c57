"""The buttons of whatever trains, a run or a sweep: to pause, stop and resume it, and to delete it."""

from collections.abc import Callable

import streamlit as st

from attention_lab.models.runs.folder import Status
from attention_lab.pages.shared.phrases import plain

STATES = {
    "queued": "Starts",
    "running": "Works",
    "paused": "Paused",
    "stopping": "Ending",
    "finished": "Finished",
    "stopped": "Stopped",
    "failed": "Failed",
}
"""How it stands, in the words of a page."""


def confirm_deletion(name: str, loss: str, delete: Callable[[], None], *, live: bool, key: str) -> None:
    """A question and the button that answers it, for a menu. loss: a sentence about what goes with it. live:
    whether it still works, and so has to be stopped before.
    """
    st.markdown(f"Delete **{plain(name)}** for good? {loss}")
    tip = "Stop it first" if live else None
    st.button("Delete for good", type="primary", on_click=delete, disabled=live, help=tip, key=key)


def control_buttons(status: Status, ask: Callable[[str], None], *, resume: str, key: str) -> None:
    """What a run or a sweep can be asked to do now: "pause", "stop" or "resume", which is called `resume`."""
    if status.live:
        for what in ("pause", "stop"):
            ending = bool(status.asked)
            st.button(what.capitalize(), on_click=ask, args=(what,), disabled=ending, key=f"{key}.{what}")
    elif status.state != "finished":
        st.button(resume, type="primary", on_click=ask, args=("resume",), key=f"{key}.resume")
