"""The state of Runs: the chosen runs, the filter and the order of the list. One run is opened, several
are compared."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from attention_lab.models.fields import Field, Rule, characters, checked, one_of, whole
from attention_lab.models.runs import owners
from attention_lab.models.runs.folder import MAX_FILTER
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.state import State, arrive, refuse
from attention_lab.pages.shared.training import curves, runs
from attention_lab.pages.shared.training.runs import SHIPPED, Run

PAGE = "runs"
MOST, MOST_CHARACTERS = 64, 200
FIRST = f"{SHIPPED}induction"


def _are_ids(value: Any) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) <= MOST
        and all(isinstance(run_id, str) and len(run_id) <= MOST_CHARACTERS for run_id in value)
    )


IDS = Rule(
    f"ids of at most {MOST} runs, with dots between",
    lambda raw: checked(tuple(raw.split(".")), _are_ids),
    _are_ids,
)
SORTED = ("run", "task", "status", "step", "loss", "score", "n", "trained", "made", "tags", "whose")
"""The columns by which the list is sorted, as a link names them."""
_ORDERS = ("", *(f"{sign}{column}" for column in SORTED for sign in ("", "-")))
SORT = replace(one_of(_ORDERS), words=f"a column ({', '.join(SORTED)}), with - before it from its end")
_HIDDEN = {"label_visibility": "collapsed"}
_FILTER = {**_HIDDEN, "placeholder": "Filter by name, tag, task or status", "width": 300}
STATE = State(
    PAGE,
    {
        "runs": Field((), IDS),
        "step": Field(None, whole(0, 10**11)),
        "weights": Field("last", one_of(("last", "best")), "Weights", control="segments", more=_HIDDEN),
        "filter": Field("", characters(MAX_FILTER), "Filter", more=_FILTER),
        "sort": Field("", SORT),
    },
)


def view_state() -> State:
    """How the curves are drawn."""
    return curves.view_state(PAGE, log_x=True)


def enter(listed: Sequence[Run]) -> None:
    """On arrival, chooses the link's runs, else those of the last visit, else `first_of` the list."""
    if not arrive(PAGE):
        STATE.take()
        view_state().take()
        return
    STATE.arrive()
    view_state().arrive()
    gone = [run_id for run_id in STATE.kept["runs"] if not runs.find(run_id)]
    if gone and "runs" in st.query_params:
        refuse(f"The link's run {gone[0][:60]!r} is not here; choose one of the list.")
    elif not STATE.kept["runs"]:
        first = first_of(listed)
        STATE.put({"runs": (first,) if first else ()})


def first_of(listed: Sequence[Run]) -> str:
    """The run that a first visit opens: the visitor's newest that is live or has finished, else a shipped one
    with snapshots, else the first of the list; "" where it is empty.
    """
    for run in listed:
        is_own = runs.may_change(run)  # as any where there is but one person
        if visitors.is_class():
            is_own = not run.shipped and owners.is_of(run.folder.path, visitors.visitor())
        if is_own and ((status := runs.status_of(run)).live or status.state == "finished"):
            return run.id
    ids = [run.id for run in listed]
    return FIRST if FIRST in ids else next(iter(ids), "")


def chosen() -> list[str]:
    """The ids of the chosen runs that are still there."""
    return [run_id for run_id in STATE.kept["runs"] if runs.find(run_id)]


def choose(ids: Sequence[str]) -> None:
    """Chooses these runs, 64 at most."""
    STATE.put({"runs": tuple(run_id[:MOST_CHARACTERS] for run_id in ids[:MOST])})
    if len(ids) > MOST:
        refuse(f"{len(ids)} runs are too many to compare; the first {MOST} are.")
