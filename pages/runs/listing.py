"""The list of all runs, kept up to date while one of them trains."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from models.runs.groups import Group, main_score
from models.runs.notes import tags_of
from models.runs.results import LOSS
from models.runs.verdicts import mean_words
from pages.runs import facts, grouping, sorting, state
from pages.runs.grouping import Shown
from pages.runs.sorting import Part
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
PART = "part:"
"""Begins the id of the row above those that are sorted together, which ends with their first run's."""
KEYS = {"loss, held out": "loss", "score, held out": "score"}
"""What a link calls the columns whose names are long."""
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
    sort = str(state.STATE.kept["sort"])
    parts = sorting.parts(grouping.grouped(_filtered()), sort)
    tagged = any(tags_of(runs.described(run)) for run in listed)
    rows = [row for part in parts for row in _part(part, chosen, tagged, sort)]
    say(problems())
    columns = (*COLUMNS, *([TAGS] if tagged else []), *([WHOSE] if visitors.is_class() else []))
    if not rows:
        st.text(f"No run has all of these words: {state.STATE.kept['filter']}")
    shown = message("All runs", columns, rows, choose=True, sort=_named(sort))
    table.show(shown, key=KEY, on_act=_on_act)
    if (was_live and not any(runs.status_of(run).live for run in listed)) or st.session_state.pop(
        "runs_acted", False
    ):
        st.rerun()


def _on_act(act: Act) -> None:
    if act["type"] == "open":
        state.choose(_members(str(act["id"])))
    elif act["type"] == "sort":
        column = KEYS.get(str(act["column"]), str(act["column"]))
        if column in state.SORTED:
            state.STATE.put({"sort": sorting.turned(str(state.STATE.kept["sort"]), column)})
    else:
        ids = [str(run_id) for run_id in act["ids"]]
        here = {run.id for run in _filtered()}
        state.choose([*(run_id for run_id in state.chosen() if run_id not in here), *ids])
    st.session_state.runs_acted = True


def _named(sort: str) -> str:
    """The order in the words of the columns, which the table shows."""
    sign, column = sort[: sort.startswith("-")], sort.removeprefix("-")
    return sign + next((name for name, key in KEYS.items() if key == column), column)


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


def _part(part: Part, chosen: Sequence[str], tagged: bool, sort: str) -> list[Row]:
    """The rows that are sorted together, below what they have in common."""
    rows = [row for each in part.shown for row in _rows(each, chosen, tagged, sort)]
    first = part.shown[0].runs[0].id if part.shown else ""
    return [*([Row(f"{PART}{first}", [part.label], heading=True)] if part.label else []), *rows]


def _rows(shown: Shown, chosen: Sequence[str], tagged: bool, sort: str = "") -> list[Row]:
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
        *(rows[at] for at in sorting.members(shown, sort)),
    ]


def _group_cells(shown: Shown, group: Group, tagged: bool) -> list[str]:
    """Means and standard deviations over the seeds of finished runs; n is how many seeds those are."""
    statuses = [runs.status_of(run) for run in shown.runs]
    states = Counter(status.state for status in statuses)
    steps = sorted({status.step for status in statuses})
    loss, main = group.summary(LOSS), main_score([group])
    found = group.summary(main) if main not in ("", LOSS) else None
    entries = [latest(run.folder.path / "metrics.jsonl") for run in shown.runs]
    seconds = sum(facts.seconds(each, status) for each, status in zip(entries, statuses, strict=True))
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
        max(facts.made(runs.described(run)) for run in shown.runs),
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
        _score(*facts.last_score(entries)),
        "–" if loss is None else "1",
        wording.duration(facts.seconds(entries, status)),
        facts.made(described),
    ]
    if tagged:
        cells.append(", ".join(tags_of(described)))
    if visitors.is_class():
        cells.append(facts.whose(run))
    return cells


def _score(name: str, value: float | None) -> str:
    """The main score, with its name."""
    return "–" if value is None else f"{name} {scores.worded(name, value)}"
