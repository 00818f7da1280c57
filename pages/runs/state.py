"""What Runs holds: the runs that are chosen. One is opened, several are compared."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared.training import runs
from pages.shared.training.runs import SHIPPED, Run

PAGE = "runs"
MOST = 8
FIRST = f"{SHIPPED}induction"


def enter(listed: Sequence[Run]) -> None:
    """On arrival the link's runs, else those of the last visit, else one that has something to scrub."""
    arrived, st.session_state.page = st.session_state.get("page") != PAGE, PAGE
    if not arrived:
        return
    params = dict(st.query_params)
    st.session_state.runs_step = _step(params.get("step", ""))
    if "runs" in params:
        asked = params["runs"].split(".")[:MOST]
        st.session_state.runs_chosen = [run_id for run_id in asked if runs.find(run_id)]
        gone = [run_id[:60] for run_id in asked if not runs.find(run_id)]
        if gone:
            st.session_state.runs_problem = f"The link's run {gone[0]!r} is not here; choose one of the list."
    elif "runs_chosen" not in st.session_state:
        ids = [run.id for run in listed]
        st.session_state.runs_chosen = [FIRST] if FIRST in ids else ids[:1]


def _step(raw: str) -> float | None:
    """The step of a link, where it is a number."""
    return float(raw) if raw.isdecimal() and len(raw) < 12 else None


def chosen() -> list[str]:
    """The ids of the chosen runs that are still there."""
    return [run_id for run_id in st.session_state.get("runs_chosen", []) if runs.find(run_id)]


def choose(ids: Sequence[str]) -> None:
    """Chooses these runs; more than eight would not be told apart."""
    st.session_state.runs_chosen = list(ids)[:MOST]
    if len(ids) > MOST:
        st.session_state.runs_problem = (
            f"{len(ids)} runs are more than can be told apart; {MOST} are compared."
        )
