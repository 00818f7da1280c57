"""What the list of runs says of a run beside its status: when it was made, whose it is, what it reached."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import streamlit as st

from models.runs import owners
from models.runs.comparison import Group, differing, groups, main_score, mean_words
from models.runs.folder import Status, matches, tags_of
from models.runs.results import LOSS, Result, result_of
from pages.runs import state
from pages.shared import visitors, wording
from pages.shared.browser.component import Act
from pages.shared.page_parts import show_problems
from pages.shared.state import problems
from pages.shared.table.component import Row, message, table
from pages.shared.training import curves, runs, uploads
from pages.shared.training.runs import Run


def created_minute(described: Mapping[str, Any]) -> str:
    """When a run was made, to the minute; "" where its config does not say."""
    return str(described.get("created", ""))[:16].replace("T", " ")


def ownership_words(run: Run) -> str:
    """Whether it is this visitor's, and whether others see it."""
    owned, visitor = owners.ownership_of(run.folder.path), visitors.visitor()
    if run.shipped:
        return "everybody's"
    if owners.is_of(run.folder.path, visitor):
        name = "yours"
    else:
        name = f"visitor {owned.owner[:6]}" if owned.owner else "the server's"
    return f"{name}, shared" if owned.shared else name


def last_score(entries: Sequence[curves.Entry]) -> tuple[str, float | None]:
    """The name of the main held-out score and its last value; "" and None where there is none yet."""
    for entry in reversed(entries):
        names = curves.scores_of([entry])
        if names:
            return names[0], curves.last([entry], curves.validated(names[0]))
    return "", None


def trained_seconds(entries: Sequence[curves.Entry], status: Status) -> float:
    """How long a run has trained, in seconds."""
    return status.seconds or curves.last(entries, curves.of("seconds")) or 0.0


# The runs of the page as results and groups: those that differ by their seed alone are one.


@dataclass(frozen=True)
class RunGroup:
    """A group of the page. group: None for a run whose config is damaged, which stands alone."""

    runs: tuple[Run, ...]
    group: Group | None

    @property
    def name(self) -> str:
        """What the group is called."""
        return self.group.name if self.group else self.runs[0].title


def grouped(listed: Iterable[Run]) -> list[RunGroup]:
    """The runs by configuration, in the order of the list."""
    known: dict[str, tuple[Run, Result]] = {}
    rows: list[RunGroup] = []
    order: list[str] = []
    for run in listed:
        order.append(run.id)
        result = result_of_run(run)
        if result is not None:
            known[run.id] = run, result
        else:
            rows.append(RunGroup((run,), None))
    for group in groups(result for _, result in known.values()):
        rows.append(RunGroup(tuple(known[each.id][0] for each in group.runs), group))
    return sorted(rows, key=lambda run_group: order.index(run_group.runs[0].id))


def result_of_run(run: Run) -> Result | None:
    """What a run was and reached; None where its config is damaged."""
    try:
        return result_of(
            run.folder,
            entries=run.last_records(),
            finished=runs.status_of(run).state == "finished",
            name=run.title,
            id=run.id,
        )
    except ValueError:
        return None


def filtered(listed: Sequence[Run], words: str) -> list[Run]:
    """The runs whose name, tags, task, notes or state have all the words."""
    if not words.strip():
        return list(listed)
    return [
        run
        for run in listed
        if matches(
            words,
            runs.described(run),
            "shipped" if run.shipped else runs.status_of(run).state,
            name=run.title,
        )
    ]


# The order of the list of runs: as it comes, newest first, or by one of its columns, up or down.
# Losses and scores are sorted within one task and its data alone: those of others cannot be compared.

RANKED = ("loss", "score")
"""The columns that compare runs, and so are sorted within one task and its data."""
WHY = "sorted within each task and its data, which alone can be compared"
UNREAD = "Settings that cannot be read"
_DATA = "what the data holds"
_DIGITS = re.compile(r"(\d+)")
_T = TypeVar("_T")
Value = Any
"""What rows are sorted by: a number, or the parts of a text; None where a run has none."""


@dataclass(frozen=True)
class Part:
    """Rows that are sorted together. label: what they have in common; "" where all rows are one part."""

    label: str
    members: tuple[RunGroup, ...]


def turned(sort: str, column: str) -> str:
    """The order after a press on a column's heading: up, then down, then as the list comes."""
    return {column: f"-{column}", f"-{column}": ""}.get(sort, column)


def sorted_parts(listed: Sequence[RunGroup], sort: str) -> list[Part]:
    """The rows in the order asked for: one part, or one for each task and data where these are ranked."""
    column = sort.removeprefix("-")
    if not column:
        return [Part("", tuple(listed))]
    kinds: dict[tuple[str, str], list[RunGroup]] = {("", ""): list(listed)}
    if column in RANKED:
        kinds = _kinds(listed, by_score=column == "score")
    labels = _labels(kinds) if len(kinds) > 1 else [""]
    return [
        Part(label, tuple(_sorted(kind, sort, lambda each: value_of(column, each.runs, each.group))))
        for label, kind in zip(labels, kinds.values(), strict=True)
    ]


def sorted_members(run_group: RunGroup, sort: str) -> list[int]:
    """The places of a group's runs in the order asked for."""
    places, column = list(range(len(run_group.runs))), sort.removeprefix("-")
    if not column:
        return places
    return _sorted(places, sort, lambda at: value_of(column, (run_group.runs[at],), None))


def _sorted(rows: Sequence[_T], sort: str, value: Callable[[_T], Value]) -> list[_T]:
    """Sorted up, or down for "-…"; what has no value comes last either way, and equals keep their order."""
    pairs = [(value(each), each) for each in rows]
    known = [pair for pair in pairs if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=sort.startswith("-"))
    return [each for _, each in (*known, *(pair for pair in pairs if pair[0] is None))]


def _kinds(listed: Sequence[RunGroup], *, by_score: bool) -> dict[tuple[str, str], list[RunGroup]]:
    """The rows by data and score, in the order in which each was met; those that cannot be read are last.

    A row without a score yet goes with the others of its data.
    """
    kinds: dict[tuple[str, str], list[RunGroup]] = {}
    for run_group in listed:
        data = run_group.group.first.data_key if run_group.group else ""
        score = _score(run_group.runs, run_group.group)[0] if by_score and run_group.group else ""
        kinds.setdefault((data, score), []).append(run_group)
    for data, score in [key for key in kinds if not key[1] and key[0]]:
        other = next((key for key in kinds if key[0] == data and key[1]), None)
        if other:
            kinds[other] += kinds.pop((data, score))
    if ("", "") in kinds:
        kinds["", ""] = kinds.pop(("", ""))
    return kinds


def _labels(kinds: dict[tuple[str, str], list[RunGroup]]) -> list[str]:
    """What tells the parts from each other: task, options of the data where they differ, and score."""
    firsts = [kind[0].group for kind in kinds.values()]
    tasks = [group.first.task if group else UNREAD for group in firsts]
    labels = []
    for task, group, (_, score) in zip(tasks, firsts, kinds, strict=True):
        alike = [each for each in firsts if each and group and each.first.task == task]
        options = [f"{name} {_text(group.first.data.get(name))}" for name in _differing(alike) if group]
        labels.append(", ".join([task, *options]) + (f": {score}" if score else ""))
    counts, times = Counter(labels), Counter[str]()
    for at, label in enumerate(labels):
        if counts[label] > 1:  # files that differ in what they hold, or scores of two names
            times[label] += 1
            labels[at] = f"{label}, data {times[label]}"
    return [f"{labels[0]} ({WHY})", *labels[1:]]


def _differing(candidates: Sequence[Group]) -> list[str]:
    """The options of the data that are not the same in all of these; digests say nothing to a reader."""
    return [name for name in differing(candidates) if name in candidates[0].first.data and name != _DATA]


def _text(value: Any) -> str:
    return uploads.with_short_name(str(value))[:40]


def value_of(column: str, members: Sequence[Run], group: Group | None) -> Value:
    """What a row is sorted by; group: of the runs where they are one row, else their only one's is read."""
    run = members[0]
    together = group if len(members) > 1 else None
    if column == "loss":
        return _loss(members, together)
    if column == "score":
        return _score(members, together)[1]
    if column == "n":
        counted = together and (together.summary(LOSS) or together.summary(_score(members, together)[0]))
        return counted.n if counted else 1 if not together and _loss(members, None) is not None else None
    statuses = [runs.status_of(each) for each in members] if column in ("status", "step", "trained") else []
    if column == "step":
        return max(status.step for status in statuses)
    if column == "trained":
        every = [each.last_records() for each in members]
        return sum(trained_seconds(*pair) for pair in zip(every, statuses, strict=True))
    if column == "made":
        return max(str(runs.described(each).get("created", "")) for each in members) or None
    words = {
        "run": lambda: together.name if together else run.title,
        "task": lambda: str(runs.described(run)["task"].get("name", "")),
        "status": lambda: ", ".join({"shipped" if run.shipped else each.state: 0 for each in statuses}),
        "tags": lambda: ", ".join(dict.fromkeys(tag for r in members for tag in tags_of(runs.described(r)))),
        "whose": lambda: "" if together else ownership_words(run),
    }
    return _natural(words[column]()) or None


def _loss(members: Sequence[Run], group: Group | None) -> float | None:
    if group is None:
        return curves.last(members[0].last_records(), curves.validated("loss"))
    summary = group.summary(LOSS)
    return summary.mean if summary else None


def _score(members: Sequence[Run], group: Group | None) -> tuple[str, float | None]:
    """The name and the value of the main score, as the row shows it."""
    if group is None or len(members) == 1:
        return last_score(members[0].last_records())
    name = main_score([group])
    summary = group.summary(name) if name not in ("", LOSS) else None
    return (name, summary.mean) if summary else ("", None)


def _natural(text: str) -> list[tuple[int, str]]:
    """A text in parts, so that "run 2" comes before "run 10"; [] of an empty one."""
    if not text:
        return []
    pieces = []
    for at, part in enumerate(_DIGITS.split(text.casefold())):
        digits = part.lstrip("0") if at % 2 else ""
        pieces.append((len(digits), digits or part))
    return pieces


# The list of all runs, kept up to date while one of them trains.

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
    parts = sorted_parts(grouped(_filtered()), sort)
    tagged = any(tags_of(runs.described(run)) for run in listed)
    rows = [row for part in parts for row in _part(part, chosen, tagged, sort)]
    show_problems(problems())
    columns = (*COLUMNS, *([TAGS] if tagged else []), *([WHOSE] if visitors.is_class() else []))
    if not rows:
        st.text(f"No run has all of these words: {state.STATE.kept['filter']}")
    content = message("All runs", columns, rows, choose=True, sort=_named(sort))
    table.show(content, key=KEY, on_act=_on_act)
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
            state.STATE.put({"sort": turned(str(state.STATE.kept["sort"]), column)})
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
    return filtered(runs.every(), str(state.STATE.kept["filter"]))


def _members(row_id: str) -> list[str]:
    """The runs of a row: one, or all of a group."""
    if not row_id.startswith(GROUP):
        return [row_id]
    first = row_id.removeprefix(GROUP)
    run_groups = grouped(_filtered())
    return next(([run.id for run in each.runs] for each in run_groups if each.runs[0].id == first), [])


def _part(part: Part, chosen: Sequence[str], tagged: bool, sort: str) -> list[Row]:
    """The rows that are sorted together, below what they have in common."""
    rows = [row for each in part.members for row in _rows(each, chosen, tagged, sort)]
    first = part.members[0].runs[0].id if part.members else ""
    return [*([Row(f"{PART}{first}", [part.label], heading=True)] if part.label else []), *rows]


def _rows(run_group: RunGroup, chosen: Sequence[str], tagged: bool, sort: str = "") -> list[Row]:
    """The row of a run; of a group one row with means, and the rows of its runs below."""
    group = run_group.group
    if group is None or len(run_group.runs) == 1:
        return [_row(run, chosen, tagged=tagged) for run in run_group.runs]
    head = f"{GROUP}{run_group.runs[0].id}"
    rows = [
        replace(_row(run, chosen, tagged=tagged), group=head, cells=_cells(run, tagged, seed=result.seed))
        for run, result in zip(run_group.runs, group.runs, strict=True)
    ]
    every = all(run.id in chosen for run in run_group.runs)
    opened = every and len(chosen) == len(run_group.runs)
    members = [run.id for run in run_group.runs]
    return [
        Row(head, _group_cells(run_group, group, tagged), chosen=every, opened=opened, members=members),
        *(rows[at] for at in sorted_members(run_group, sort)),
    ]


def _group_cells(run_group: RunGroup, group: Group, tagged: bool) -> list[str]:
    """Means and standard deviations over the seeds of finished runs; n is how many seeds those are."""
    statuses = [runs.status_of(run) for run in run_group.runs]
    states = Counter(status.state for status in statuses)
    steps = sorted({status.step for status in statuses})
    loss, main = group.summary(LOSS), main_score([group])
    score = group.summary(main) if main not in ("", LOSS) else None
    entries = [run.last_records() for run in run_group.runs]
    seconds = sum(trained_seconds(each, status) for each, status in zip(entries, statuses, strict=True))
    counted = loss or score
    cells = [
        group.name,
        group.first.task,
        ", ".join(f"{count} {state}" for state, count in states.items()),
        f"{steps[0]:,}" if len(steps) == 1 else f"{steps[0]:,} to {steps[-1]:,}",
        "–" if loss is None else mean_words(loss),
        "–" if score is None else runs.worded_mean(main, score),
        "–" if counted is None else str(counted.n),
        wording.duration(seconds),
        max(created_minute(runs.described(run)) for run in run_group.runs),
    ]
    if tagged:
        cells.append(
            ", ".join(dict.fromkeys(t for run in run_group.runs for t in tags_of(runs.described(run))))
        )
    return [*cells, *([""] if visitors.is_class() else [])]


def _row(run: Run, chosen: Sequence[str], *, tagged: bool = False) -> Row:
    return Row(run.id, _cells(run, tagged), chosen=run.id in chosen, opened=list(chosen) == [run.id])


def _cells(run: Run, tagged: bool, seed: int | None = None) -> list[str]:
    """What is known of a run. seed: of one in a group, which tells it from the others."""
    described, status = runs.described(run), runs.status_of(run)
    entries = run.last_records()
    loss = curves.last(entries, curves.validated("loss"))
    cells = [
        run.title if seed is None or "seed" in run.title.lower() else f"{run.title}, seed {seed}",
        str(described["task"].get("name", "")),
        "shipped" if run.shipped else status.state,
        f"{status.step:,}" if not status.live else f"{status.step:,} of {status.steps:,}",
        "–" if loss is None else f"{loss:.4f}" if loss >= 0.001 else f"{loss:.2e}",
        _score_listing(*last_score(entries)),
        "–" if loss is None else "1",
        wording.duration(trained_seconds(entries, status)),
        created_minute(described),
    ]
    if tagged:
        cells.append(", ".join(tags_of(described)))
    if visitors.is_class():
        cells.append(ownership_words(run))
    return cells


def _score_listing(name: str, value: float | None) -> str:
    """The main score, with its name."""
    return "–" if value is None else f"{name} {runs.worded(name, value)}"
