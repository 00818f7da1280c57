"""The list of all runs, kept up to date while one of them trains."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from models.runs import owners
from models.runs.groups import Group, main_score
from models.runs.notes import tags_of
from models.runs.results import LOSS
from models.runs.status import Status
from models.runs.verdicts import mean_words
from pages.runs import grouping, state
from pages.runs.grouping import Shown
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
COLUMNS = ("run", "task", "status", "#step", "#loss, held out", "#score, held out", "#n", "#trained", "made")
GROUP = "group:"
"""Begins the id of a group's row, which ends with its first run's."""
TAGS = "tags"
"""One more column, where any run has some."""
WHOSE = "whose"
"""One more column, in a class."""


def draw(listed: Sequence[Run]) -> None:
    """The table, read again every two seconds as long as a run is live."""
    live = any(runs.status_of(run).live for run in listed)
    st.fragment(_table, run_every=SECONDS if live else None)(live)


def _table(was_live: bool) -> None:
    listed = runs.every()
    chosen = state.chosen()
    shown = grouping.grouped(_filtered())
    tagged = any(tags_of(runs.described(run)) for run in listed)
    rows = [row for each in shown for row in _rows(each, chosen, tagged)]
    say(problems())
    columns = (*COLUMNS, *([TAGS] if tagged else []), *([WHOSE] if visitors.is_class() else []))
    if not rows:
        st.text(f"No run has all of these words: {state.STATE.kept['filter']}")
    table.show(message("All runs", columns, rows, choose=True), key=KEY, on_act=_on_act)
    if (was_live and not any(runs.status_of(run).live for run in listed)) or st.session_state.pop(
        "runs_acted", False
    ):
        st.rerun()


def _on_act(act: Act) -> None:
    if act["type"] == "open":
        state.choose(_members(str(act["id"])))
    else:
        ids = [str(run_id) for run_id in act["ids"]]
        here = {run.id for run in _filtered()}
        state.choose([*(run_id for run_id in state.chosen() if run_id not in here), *ids])
    st.session_state.runs_acted = True


def _filtered() -> list[Run]:
    """The runs that the filter leaves; those that are chosen stay so where it hides them."""
    return grouping.filtered(runs.every(), str(state.STATE.kept["filter"]))


def _members(row_id: str) -> list[str]:
    """The runs of a row: one, or all of a group."""
    if not row_id.startswith(GROUP):
        return [row_id]
    first = row_id.removeprefix(GROUP)
    shown = grouping.grouped(_filtered())
    return next(([run.id for run in each.runs] for each in shown if each.runs[0].id == first), [])


def _rows(shown: Shown, chosen: Sequence[str], tagged: bool) -> list[Row]:
    """The row of a run; of a group one row with means, and the rows of its runs below."""
    group = shown.group
    if group is None or len(shown.runs) == 1:
        return [_row(run, chosen, tagged=tagged) for run in shown.runs]
    head = f"{GROUP}{shown.runs[0].id}"
    rows = [
        replace(_row(run, chosen, tagged=tagged), group=head, cells=_cells(run, tagged, seed=result.seed))
        for run, result in zip(shown.runs, group.runs, strict=True)
    ]
    every = all(run.id in chosen for run in shown.runs)
    opened = every and len(chosen) == len(shown.runs)
    members = [run.id for run in shown.runs]
    return [
        Row(head, _group_cells(shown, group, tagged), chosen=every, opened=opened, members=members),
        *rows,
    ]


def _group_cells(shown: Shown, group: Group, tagged: bool) -> list[str]:
    """Means and standard deviations over the seeds of finished runs; n is how many seeds those are."""
    statuses = [runs.status_of(run) for run in shown.runs]
    states = Counter(status.state for status in statuses)
    steps = sorted({status.step for status in statuses})
    loss, main = group.summary(LOSS), main_score([group])
    found = group.summary(main) if main not in ("", LOSS) else None
    entries = [latest(run.folder.path / "metrics.jsonl") for run in shown.runs]
    seconds = sum(_seconds(each, status) for each, status in zip(entries, statuses, strict=True))
    counted = loss or found
    cells = [
        group.name,
        group.first.task,
        ", ".join(f"{count} {state}" for state, count in states.items()),
        f"{steps[0]:,}" if len(steps) == 1 else f"{steps[0]:,} to {steps[-1]:,}",
        "–" if loss is None else mean_words(loss),
        "–" if found is None else scores.worded_mean(main, found),
        "–" if counted is None else str(counted.n),
        wording.duration(seconds),
        max(_made(runs.described(run)) for run in shown.runs),
    ]
    if tagged:
        cells.append(", ".join(dict.fromkeys(t for run in shown.runs for t in tags_of(runs.described(run)))))
    return [*cells, *([""] if visitors.is_class() else [])]


def _row(run: Run, chosen: Sequence[str], *, tagged: bool = False) -> Row:
    return Row(run.id, _cells(run, tagged), chosen=run.id in chosen, opened=list(chosen) == [run.id])


def _cells(run: Run, tagged: bool, seed: int | None = None) -> list[str]:
    """What is known of a run. seed: of one in a group, which tells it from the others."""
    described, status = runs.described(run), runs.status_of(run)
    entries = latest(run.folder.path / "metrics.jsonl")
    loss = curves.last(entries, curves.validated("loss"))
    cells = [
        run.title if seed is None or "seed" in run.title.lower() else f"{run.title}, seed {seed}",
        str(described["task"].get("name", "")),
        "shipped" if run.shipped else status.state,
        f"{status.step:,}" if not status.live else f"{status.step:,} of {status.steps:,}",
        "–" if loss is None else f"{loss:.4f}" if loss >= 0.001 else f"{loss:.2e}",
        _score(entries),
        "–" if loss is None else "1",
        wording.duration(_seconds(entries, status)),
        _made(described),
    ]
    if tagged:
        cells.append(", ".join(tags_of(described)))
    if visitors.is_class():
        cells.append(_whose(run))
    return cells


def _made(described: Mapping[str, Any]) -> str:
    return str(described.get("created", ""))[:16].replace("T", " ")


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
