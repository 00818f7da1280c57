"""The runs of the page as results and groups: those that differ by their seed alone are one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from models.runs.groups import Group, groups
from models.runs.notes import matches
from models.runs.results import Result, result_of
from pages.shared.training import runs
from pages.shared.training.history import latest
from pages.shared.training.runs import Run


@dataclass(frozen=True)
class Shown:
    """A group of the page. group: None for a run whose config is damaged, which stands alone."""

    runs: tuple[Run, ...]
    group: Group | None

    @property
    def name(self) -> str:
        """What the group is called."""
        return self.group.name if self.group else self.runs[0].title


def grouped(listed: Iterable[Run]) -> list[Shown]:
    """The runs by configuration, in the order of the list."""
    known: dict[str, tuple[Run, Result]] = {}
    found: list[Shown] = []
    order: list[str] = []
    for run in listed:
        order.append(run.id)
        result = result_of_run(run)
        if result is not None:
            known[run.id] = run, result
        else:
            found.append(Shown((run,), None))
    for group in groups(result for _, result in known.values()):
        found.append(Shown(tuple(known[each.id][0] for each in group.runs), group))
    return sorted(found, key=lambda shown: order.index(shown.runs[0].id))


def result_of_run(run: Run) -> Result | None:
    """What a run was and reached; None where its config is damaged."""
    try:
        return result_of(
            run.folder,
            entries=latest(run.folder.path / "metrics.jsonl"),
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
