"""The order of the list of runs: as it comes, newest first, or by one of its columns, up or down.

Losses and scores are sorted within one task and its data alone: those of others cannot be compared.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from models.runs.groups import Group, differing, main_score
from models.runs.notes import tags_of
from models.runs.results import LOSS
from pages.runs import facts
from pages.runs.grouping import Shown
from pages.shared.training import curves, runs, uploads
from pages.shared.training.history import latest
from pages.shared.training.runs import Run

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
    shown: tuple[Shown, ...]


def turned(sort: str, column: str) -> str:
    """The order after a press on a column's heading: up, then down, then as the list comes."""
    return {column: f"-{column}", f"-{column}": ""}.get(sort, column)


def parts(listed: Sequence[Shown], sort: str) -> list[Part]:
    """The rows in the order asked for: one part, or one for each task and data where these are ranked."""
    column = sort.removeprefix("-")
    if not column:
        return [Part("", tuple(listed))]
    kinds: dict[tuple[str, str], list[Shown]] = {("", ""): list(listed)}
    if column in RANKED:
        kinds = _kinds(listed, by_score=column == "score")
    labels = _labels(kinds) if len(kinds) > 1 else [""]
    return [
        Part(label, tuple(_sorted(kind, sort, lambda each: value_of(column, each.runs, each.group))))
        for label, kind in zip(labels, kinds.values(), strict=True)
    ]


def members(shown: Shown, sort: str) -> list[int]:
    """The places of a group's runs in the order asked for."""
    places, column = list(range(len(shown.runs))), sort.removeprefix("-")
    if not column:
        return places
    return _sorted(places, sort, lambda at: value_of(column, (shown.runs[at],), None))


def _sorted(found: Sequence[_T], sort: str, value: Callable[[_T], Value]) -> list[_T]:
    """Sorted up, or down for "-…"; what has no value comes last either way, and equals keep their order."""
    pairs = [(value(each), each) for each in found]
    known = [pair for pair in pairs if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=sort.startswith("-"))
    return [each for _, each in (*known, *(pair for pair in pairs if pair[0] is None))]


def _kinds(listed: Sequence[Shown], *, by_score: bool) -> dict[tuple[str, str], list[Shown]]:
    """The rows by data and score, in the order in which each was met; those that cannot be read are last.

    A row without a score yet goes with the others of its data.
    """
    kinds: dict[tuple[str, str], list[Shown]] = {}
    for shown in listed:
        data = shown.group.first.data_key if shown.group else ""
        score = _score(shown.runs, shown.group)[0] if by_score and shown.group else ""
        kinds.setdefault((data, score), []).append(shown)
    for data, score in [key for key in kinds if not key[1] and key[0]]:
        other = next((key for key in kinds if key[0] == data and key[1]), None)
        if other:
            kinds[other] += kinds.pop((data, score))
    if ("", "") in kinds:
        kinds["", ""] = kinds.pop(("", ""))
    return kinds


def _labels(kinds: dict[tuple[str, str], list[Shown]]) -> list[str]:
    """What tells the parts from each other: task, options of the data where they differ, and score."""
    firsts = [kind[0].group for kind in kinds.values()]
    tasks = [group.first.task if group else UNREAD for group in firsts]
    said = []
    for task, group, (_, score) in zip(tasks, firsts, kinds, strict=True):
        alike = [each for each in firsts if each and group and each.first.task == task]
        options = [f"{name} {_text(group.first.data.get(name))}" for name in _differing(alike) if group]
        said.append(", ".join([task, *options]) + (f": {score}" if score else ""))
    counts, seen = Counter(said), Counter[str]()
    for at, label in enumerate(said):
        if counts[label] > 1:  # files that differ in what they hold, or scores of two names
            seen[label] += 1
            said[at] = f"{label}, data {seen[label]}"
    return [f"{said[0]} ({WHY})", *said[1:]]


def _differing(found: Sequence[Group]) -> list[str]:
    """The options of the data that are not the same in all of these; digests say nothing to a reader."""
    return [name for name in differing(found) if name in found[0].first.data and name != _DATA]


def _text(value: Any) -> str:
    return uploads.told(str(value))[:40]


def value_of(column: str, found: Sequence[Run], group: Group | None) -> Value:
    """What a row is sorted by; group: of the runs where they are one row, else their only one's is read."""
    run = found[0]
    together = group if len(found) > 1 else None
    if column == "loss":
        return _loss(found, together)
    if column == "score":
        return _score(found, together)[1]
    if column == "n":
        counted = together and (together.summary(LOSS) or together.summary(_score(found, together)[0]))
        return counted.n if counted else 1 if not together and _loss(found, None) is not None else None
    statuses = [runs.status_of(each) for each in found] if column in ("status", "step", "trained") else []
    if column == "step":
        return max(status.step for status in statuses)
    if column == "trained":
        every = [latest(each.folder.path / "metrics.jsonl") for each in found]
        return sum(facts.seconds(*pair) for pair in zip(every, statuses, strict=True))
    if column == "made":
        return max(str(runs.described(each).get("created", "")) for each in found) or None
    said = {
        "run": lambda: together.name if together else run.title,
        "task": lambda: str(runs.described(run)["task"].get("name", "")),
        "status": lambda: ", ".join({"shipped" if run.shipped else each.state: 0 for each in statuses}),
        "tags": lambda: ", ".join(dict.fromkeys(tag for r in found for tag in tags_of(runs.described(r)))),
        "whose": lambda: "" if together else facts.whose(run),
    }
    return _natural(said[column]()) or None


def _loss(found: Sequence[Run], group: Group | None) -> float | None:
    if group is None:
        return curves.last(latest(found[0].folder.path / "metrics.jsonl"), curves.validated("loss"))
    summary = group.summary(LOSS)
    return summary.mean if summary else None


def _score(found: Sequence[Run], group: Group | None) -> tuple[str, float | None]:
    """The name and the value of the main score, as the row shows it."""
    if group is None or len(found) == 1:
        return facts.last_score(latest(found[0].folder.path / "metrics.jsonl"))
    name = main_score([group])
    summary = group.summary(name) if name not in ("", LOSS) else None
    return (name, summary.mean) if summary else ("", None)


def _natural(text: str) -> list[tuple[int, str]]:
    """A text in parts, so that "run 2" comes before "run 10"; [] of an empty one."""
    if not text:
        return []
    found = []
    for at, part in enumerate(_DIGITS.split(text.casefold())):
        digits = part.lstrip("0") if at % 2 else ""
        found.append((len(digits), digits or part))
    return found
