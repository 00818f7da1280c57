"""The list of runs: what it says of each, and in which order; those that differ by their seed are one."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import streamlit as st

from attention_lab.models.runs import owners
from attention_lab.models.runs.folder import Status, matches, tags_of
from attention_lab.models.runs.ranking import Group, differing, groups, main_score, mean_words
from attention_lab.models.runs.results import LOSS, Result, result_of
from attention_lab.pages.runs import state
from attention_lab.pages.shared import phrases, visitors, words
from attention_lab.pages.shared.browser.acts import Act
from attention_lab.pages.shared.browser.clock import run_again
from attention_lab.pages.shared.page_parts import show_problems
from attention_lab.pages.shared.state import problems
from attention_lab.pages.shared.table import Row, message, table
from attention_lab.pages.shared.training import curves, runs, uploads
from attention_lab.pages.shared.training.runs import Run
from attention_lab.viz_core.labels import short


@dataclass(frozen=True)
class RunGroup:
    """A row of the list: a run, or runs that differ by their seed alone. group: None for a run whose config
    is damaged, which stands alone. seed: of a run below its group's row, which tells it from the others.
    """

    runs: tuple[Run, ...]
    group: Group | None
    seed: int | None = None

    @property
    def name(self) -> str:
        """What the group is called."""
        return self.group.name if self.group else self.runs[0].title

    @property
    def together(self) -> Group | None:
        """The group where it has several runs, of which means are told."""
        return self.group if len(self.runs) > 1 else None

    @cached_property
    def described(self) -> list[dict[str, Any]]:
        return [runs.described(run) for run in self.runs]

    @cached_property
    def statuses(self) -> list[Status]:
        return [runs.status_of(run) for run in self.runs]

    @cached_property
    def records(self) -> list[list[curves.Entry]]:
        return [run.last_records() for run in self.runs]


def grouped(listed: Iterable[Run]) -> list[RunGroup]:
    """The runs by configuration, in the order of the list."""
    known: dict[str, tuple[Run, Result]] = {}
    rows: list[RunGroup] = []
    order: list[str] = []
    for run in listed:
        order.append(run.id)
        entries, finished = run.last_records(), runs.status_of(run).state == "finished"
        try:
            result = result_of(run.folder, entries=entries, finished=finished, name=run.title, id=run.id)
            known[run.id] = run, result
        except ValueError:  # its config is damaged
            rows.append(RunGroup((run,), None))
    for group in groups(result for _, result in known.values()):
        rows.append(RunGroup(tuple(known[each.id][0] for each in group.runs), group))
    return sorted(rows, key=lambda row: order.index(row.runs[0].id))


def filtered(listed: Sequence[Run], asked: str) -> list[Run]:
    """The runs whose name, tags, task, notes or state have all the words that are asked for."""
    if not asked.strip():
        return list(listed)
    matching = []
    for run in listed:
        status = "shipped" if run.shipped else runs.status_of(run).state
        if matches(asked, runs.described(run), f"{status} {words.say(status)}", name=run.title):
            matching.append(run)
    return matching


# What the list says of a row, and by what it is sorted: one column after the other.

Value = Any
"""What rows are sorted by: a number, or the parts of a text; None where a row has none."""
Cell = tuple[str, Value]
NONE: Cell = ("–", None)
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Column:
    """A column by its heading, which begins with "#" where it holds numbers; cell: of a row."""

    heading: str
    cell: Callable[[RunGroup], Cell]

    @property
    def name(self) -> str:
        return self.heading.removeprefix("#")


def _in_words(words: Callable[[RunGroup], str]) -> Callable[[RunGroup], Cell]:
    """A cell that is sorted by its words, so that "run 2" comes before "run 10"."""

    def cell(row: RunGroup) -> Cell:
        text = words(row)
        return text, _natural(text) or None

    return cell


def _natural(text: str) -> list[tuple[int, str]]:
    """A text in parts, its numbers by their sizes; [] of an empty one."""
    if not text:
        return []
    pieces = []
    for at, part in enumerate(_DIGITS.split(text.casefold())):
        digits = part.lstrip("0") if at % 2 else ""
        pieces.append((len(digits), digits or part))
    return pieces


def _title(row: RunGroup) -> str:
    if row.together:
        return row.name
    title = row.runs[0].title
    return title if row.seed is None or "seed" in title.lower() else f"{title}, seed {row.seed}"


def _status(row: RunGroup) -> Cell:
    pairs = zip(row.runs, row.statuses, strict=True)
    states = Counter("shipped" if run.shipped else status.state for run, status in pairs)
    named = {state: words.say(state) for state in states}
    said = [f"{count} {named[state]}" if row.together else named[state] for state, count in states.items()]
    return ", ".join(said), _natural(", ".join(states))


def _step(row: RunGroup) -> Cell:
    steps = sorted({status.step for status in row.statuses})
    words = f"{steps[0]:,}" if len(steps) == 1 else f"{steps[0]:,} to {steps[-1]:,}"
    (first, *_), several = row.statuses, row.together
    return words if several or not first.live else f"{words} of {first.steps:,}", steps[-1]


def _loss(row: RunGroup) -> Cell:
    """The last held-out loss; of a group its mean over the seeds that have finished."""
    if row.together:
        summary = row.together.summary(LOSS)
        return (mean_words(summary), summary.mean) if summary else NONE
    loss = curves.last(row.records[0], curves.validated("loss"))
    return NONE if loss is None else (f"{loss:.4f}" if loss >= 0.001 else short(loss), loss)


def score_of(row: RunGroup) -> tuple[str, str, float | None]:
    """The name of the main held-out score, with its value in words, and as a number."""
    if row.together:
        name = main_score([row.together])
        summary = row.together.summary(name) if name not in ("", LOSS) else None
        return (name, runs.worded_mean(name, summary), summary.mean) if summary else ("", *NONE)
    name, value = last_score(row.records[0])
    return (name, *NONE) if value is None else (name, f"{name} {runs.worded(name, value)}", value)


def last_score(entries: Sequence[curves.Entry]) -> tuple[str, float | None]:
    """The name of the main held-out score and its last value; "" and None where there is none yet."""
    for entry in reversed(entries):
        names = curves.scores_of([entry])
        if names:
            return names[0], curves.last([entry], curves.validated(names[0]))
    return "", None


def _count(row: RunGroup) -> Cell:
    """Of how many seeds the means are."""
    if not row.together:
        return NONE if _loss(row) == NONE else ("1", 1)
    summary = row.together.summary(LOSS) or row.together.summary(score_of(row)[0])
    return (str(summary.n), summary.n) if summary else NONE


def _trained(row: RunGroup) -> Cell:
    """How long its runs have trained, all together."""
    seconds = sum(
        status.seconds or curves.last(entries, curves.of("seconds")) or 0.0
        for status, entries in zip(row.statuses, row.records, strict=True)
    )
    return phrases.duration(seconds), seconds


def _made(row: RunGroup) -> Cell:
    """When its last run was made, to the minute; "" where its config does not say."""
    created = max(str(described.get("created", "")) for described in row.described)
    return created[:16].replace("T", " "), created or None


def _ownership(row: RunGroup) -> str:
    """Whether it is this visitor's, and whether others see it."""
    if row.together:
        return ""
    (run,), visitor = row.runs, visitors.visitor()
    if run.shipped:
        return "everybody's"
    owned = owners.ownership_of(run.folder.path)
    if owners.is_of(run.folder.path, visitor):
        name = "yours"
    else:
        name = f"visitor {owned.owner[:6]}" if owned.owner else "the server's"
    return f"{name}, shared" if owned.shared else name


def _tags(row: RunGroup) -> str:
    return ", ".join(dict.fromkeys(tag for described in row.described for tag in tags_of(described)))


COLUMNS = {
    "run": Column("run", _in_words(_title)),
    "task": Column("task", _in_words(lambda row: str(row.described[0]["task"].get("name", "")))),
    "status": Column("status", _status),
    "step": Column("#step", _step),
    "loss": Column("#loss, held out", _loss),
    "score": Column("#score, held out", lambda row: score_of(row)[1:]),
    "n": Column("#n", _count),
    "trained": Column("#trained", _trained),
    "made": Column("made", _made),
    "tags": Column("tags", _in_words(_tags)),
    "whose": Column("whose", _in_words(_ownership)),
}
"""All columns, as a link names them; that of tags is there where any run has some, the last in a class."""


def columns_for(listed: Iterable[Run]) -> list[Column]:
    """The columns of a list of these runs."""
    absent = set() if any(tags_of(runs.described(run)) for run in listed) else {"tags"}
    absent |= set() if visitors.is_class() else {"whose"}
    return [column for key, column in COLUMNS.items() if key not in absent]


# The order of the list of runs: as it comes, newest first, or by one of its columns, up or down.
# Losses and scores are sorted within one task and its data alone: those of others cannot be compared.

RANKED = ("loss", "score")
"""The columns that compare runs, and so are sorted within one task and its data."""
WHY = "sorted within each task and its data"
UNREAD = "Settings that cannot be read"
_DATA = "what the data holds"


@dataclass(frozen=True)
class ListSection:
    """Rows that are sorted together. label: what they have in common; "" where all rows are one part."""

    label: str
    members: tuple[RunGroup, ...]


def turned(sort: str, column: str) -> str:
    """The order after a press on a column's heading: up, then down, then as the list comes."""
    return {column: f"-{column}", f"-{column}": ""}.get(sort, column)


def sorted_parts(listed: Sequence[RunGroup], sort: str) -> list[ListSection]:
    """The rows in the order asked for: one part, or one for each task and data where these are ranked."""
    column = sort.removeprefix("-")
    if not column:
        return [ListSection("", tuple(listed))]
    kinds: dict[tuple[str, str], list[RunGroup]] = {("", ""): list(listed)}
    if column in RANKED:
        kinds = _kinds(listed, by_score=column == "score")
    labels = _labels(kinds) if len(kinds) > 1 else [""]
    sections = zip(labels, kinds.values(), strict=True)
    return [ListSection(label, tuple(sorted_rows(kind, sort))) for label, kind in sections]


def sorted_rows(rows: Sequence[RunGroup], sort: str) -> list[RunGroup]:
    """Sorted up, or down for "-…"; what has no value comes last either way, and equals keep their order."""
    if not sort:
        return list(rows)
    column = COLUMNS[sort.removeprefix("-")]
    pairs = [(column.cell(row)[1], row) for row in rows]
    known = [pair for pair in pairs if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=sort.startswith("-"))
    return [row for _, row in (*known, *(pair for pair in pairs if pair[0] is None))]


def _kinds(listed: Sequence[RunGroup], *, by_score: bool) -> dict[tuple[str, str], list[RunGroup]]:
    """The rows by data and score, in the order in which each was met; those that cannot be read are last.

    A row without a score yet goes with the others of its data.
    """
    kinds: dict[tuple[str, str], list[RunGroup]] = {}
    for row in listed:
        data = row.group.first.data_key if row.group else ""
        score = score_of(row)[0] if by_score and row.group else ""
        kinds.setdefault((data, score), []).append(row)
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
        # The options of the data that are not the same in all of these; digests say nothing to a reader.
        data = group.first.data if group else {}
        names = [name for name in differing(alike) if name in data and name != _DATA]
        options = [f"{name} {uploads.with_short_name(str(data[name]))[:40]}" for name in names]
        labels.append(", ".join([task, *options]) + (f": {score}" if score else ""))
    counts, times = Counter(labels), Counter[str]()
    for at, label in enumerate(labels):
        if counts[label] > 1:  # files that differ in what they hold, or scores of two names
            times[label] += 1
            labels[at] = f"{label}, data {times[label]}"
    return [f"{labels[0]} ({WHY})", *labels[1:]]


# The list of all runs, kept up to date while one of them trains.

SECONDS = 2.0
KEY = "runs.table"
GROUP = "group:"
"""Begins the id of a group's row, which ends with its first run's."""
PART = "part:"
"""Begins the id of the row above those that are sorted together, which ends with their first run's."""


def draw(listed: Sequence[Run]) -> None:
    """The table, read again every two seconds as long as a run is live."""
    live = any(runs.status_of(run).live for run in listed)
    st.fragment(_table)(live)


def _table(was_live: bool) -> None:
    if was_live:
        run_again(SECONDS, KEY)
    listed = runs.every()
    chosen, columns = state.chosen(), columns_for(listed)
    sort = str(state.STATE.kept["sort"])
    parts = sorted_parts(grouped(_filtered()), sort)
    rows = [row for part in parts for row in rows_of(part, chosen, columns, sort)]
    show_problems(problems())
    if not rows:
        st.text(f"No run has all of these words: {state.STATE.kept['filter']}")
    headings = [column.heading for column in columns]
    table.show(message("All runs", headings, rows, choose=True, sort=_named(sort)), key=KEY, on_act=_on_act)
    ended = was_live and not any(runs.status_of(run).live for run in listed)
    if ended or st.session_state.pop("runs_acted", False):
        st.rerun()


def _on_act(act: Act) -> None:
    if act["type"] == "open":
        row_id, ids = str(act["id"]), [str(act["id"])]
        if row_id.startswith(GROUP):
            firsts = {each.runs[0].id: each.runs for each in grouped(_filtered())}
            ids = [run.id for run in firsts.get(row_id.removeprefix(GROUP), ())]
        state.choose(ids)
    elif act["type"] == "sort":
        names = {column.name: key for key, column in COLUMNS.items()}
        if act["column"] in names:
            state.STATE.put({"sort": turned(str(state.STATE.kept["sort"]), names[act["column"]])})
    else:
        ids = [str(run_id) for run_id in act["ids"]]
        here = {run.id for run in _filtered()}
        state.choose([*(run_id for run_id in state.chosen() if run_id not in here), *ids])
    st.session_state.runs_acted = True


def _named(sort: str) -> str:
    """The order in the words of the columns, which the table shows."""
    sign, key = sort[: sort.startswith("-")], sort.removeprefix("-")
    return sign + (COLUMNS[key].name if key else "")


def _filtered() -> list[Run]:
    """The runs that the filter leaves; those that are chosen stay so where it hides them."""
    return filtered(runs.every(), str(state.STATE.kept["filter"]))


def rows_of(part: ListSection, chosen: Sequence[str], columns: Sequence[Column], sort: str = "") -> list[Row]:
    """The table's rows of those that are sorted together, below what they have in common."""
    rows = [row for each in part.members for row in _rows(each, chosen, columns, sort)]
    first = part.members[0].runs[0].id if part.members else ""
    return [*([Row(f"{PART}{first}", [part.label], heading=True)] if part.label else []), *rows]


def _rows(run_group: RunGroup, chosen: Sequence[str], columns: Sequence[Column], sort: str) -> list[Row]:
    """The row of a run; of a group one row with means, and the rows of its runs below."""
    cells, ids = [column.cell(run_group)[0] for column in columns], [run.id for run in run_group.runs]
    opened = sorted(chosen) == sorted(ids)
    every = all(run_id in chosen for run_id in ids)
    if not run_group.together:
        return [Row(ids[0], cells, chosen=every, opened=opened)]
    head = f"{GROUP}{ids[0]}"
    pairs = zip(run_group.runs, run_group.together.runs, strict=True)
    members = [RunGroup((run,), None, result.seed) for run, result in pairs]
    below = [row for each in sorted_rows(members, sort) for row in _rows(each, chosen, columns, sort)]
    first = Row(head, cells, chosen=every, opened=opened, members=ids)
    return [first, *(replace(row, group=head) for row in below)]
