"""The list of all runs, kept up to date while one of them trains."""

from collections.abc import Sequence

import streamlit as st

from models.runs import owners
from models.runs.status import Status
from pages.runs import state
from pages.shared import visitors, wording
from pages.shared.browser.acts import Act
from pages.shared.problems import say
from pages.shared.state import problems
from pages.shared.table.component import Row, message, table
from pages.shared.training import curves, runs, scores
from pages.shared.training.history import latest
from pages.shared.training.runs import Run

SECONDS = 2.0
KEY = "runs.table"
COLUMNS = ("run", "task", "status", "#step", "#loss, held out", "#score, held out", "#trained", "made")
WHOSE = "whose"
"""One more column, in a class."""


def draw(listed: Sequence[Run]) -> None:
    """The table, read again every two seconds as long as a run is live."""
    live = any(runs.status_of(run).live for run in listed)
    st.fragment(_table, run_every=SECONDS if live else None)(live)


def _table(was_live: bool) -> None:
    listed = runs.every()
    chosen = state.chosen()
    rows = [_row(run, chosen) for run in listed]
    say(problems())
    columns = (*COLUMNS, WHOSE) if visitors.is_class() else COLUMNS
    table.show(message("All runs", columns, rows, choose=True), key=KEY, on_act=_on_act)
    if (was_live and not any(runs.status_of(run).live for run in listed)) or st.session_state.pop(
        "runs_acted", False
    ):
        st.rerun()


def _on_act(act: Act) -> None:
    if act["type"] == "open":
        state.choose([act["id"]])
    else:
        state.choose([str(run_id) for run_id in act["ids"]])
    st.session_state.runs_acted = True


def _row(run: Run, chosen: Sequence[str]) -> Row:
    described, status = runs.described(run), runs.status_of(run)
    entries = latest(run.folder.path / "metrics.jsonl")
    loss = curves.last(entries, curves.validated("loss"))
    made = str(described.get("created", ""))[:16].replace("T", " ")
    cells = [
        run.title,
        str(described["task"].get("name", "")),
        "shipped" if run.shipped else status.state,
        f"{status.step:,}" if not status.live else f"{status.step:,} of {status.steps:,}",
        "–" if loss is None else f"{loss:.4f}",
        _score(entries),
        wording.duration(_seconds(entries, status)),
        made,
    ]
    if visitors.is_class():
        cells.append(_whose(run))
    return Row(run.id, cells, chosen=run.id in chosen, opened=chosen == [run.id])


def _whose(run: Run) -> str:
    """Whether it is this visitor's, and whether others see it."""
    owned, visitor = owners.owned(run.folder.path), visitors.visitor()
    if run.shipped:
        return "everybody's"
    if owners.is_of(run.folder.path, visitor):
        name = "yours"
    else:
        name = f"visitor {owned.owner[:6]}" if owned.owner else "the server's"
    return f"{name}, shared" if owned.shared else name


def _score(entries: Sequence[curves.Entry]) -> str:
    """The main score, with its name."""
    for entry in reversed(entries):
        names = curves.scores_of([entry])
        if names:
            value = curves.last([entry], curves.validated(names[0]))
            return "–" if value is None else f"{names[0]} {scores.worded(names[0], value)}"
    return "–"


def _seconds(entries: Sequence[curves.Entry], status: Status) -> float:
    return status.seconds or curves.last(entries, curves.of("seconds")) or 0.0
