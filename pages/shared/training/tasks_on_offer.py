"""What there is to train: every task with its options, as plain values that a page can hold without torch."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from attention_lab.models.fields import Option, options_of
from attention_lab.pages.shared import cache

if TYPE_CHECKING:
    from attention_lab.models.data.tasks import Task

GROUPS = {  # by how the tasks' names begin
    "Algorithms": ("reverse", "modular", "induction", "back", "needle"),
    "Language": ("characters", "language", "masked", "translation", "long", "next", "everyday"),
    "Classification": ("sentiment", "verb"),
    "Pictures": ("digits",),
}
OTHERS = "Your own"
_BYTES = 50_000


@dataclass(frozen=True)
class TaskInfo:
    """A task as the page shows it."""

    name: str
    title: str
    group: str
    about: str
    see: str
    kind: str
    options: tuple[Option, ...]
    sizes: dict[str, Any]
    training: dict[str, Any]
    fixes: dict[str, str]
    see_own: str = ""

    def look_for(self, options: Mapping[str, Any]) -> str:
        """What to look for in the heads of a run with these options."""
        own = any(options.get(option.name) for option in self.options if option.file)
        return self.see_own if own and self.see_own else self.see

    def about_run(self, options: Mapping[str, Any]) -> str:
        """What the model learns and what to look for; of a file of one's own, only what holds of any file."""
        see = self.look_for(options)
        return f"{self.about}\n{see}" if see == self.see else see

    @property
    def label(self) -> str:
        return f"{self.group}: {self.title}"


@cache.kept(cache.results, _BYTES)
def tasks() -> dict[str, TaskInfo]:
    """Every task by name, group by group. The first call imports torch, on the inference thread."""
    from attention_lab.models.data.tasks import TASKS

    infos = [_described(name, kind) for name, kind in TASKS.items()]
    order = [*GROUPS, OTHERS]
    infos.sort(key=lambda info: order.index(info.group))
    return {info.name: info for info in infos}


def task_of(described: Mapping[str, Any]) -> TaskInfo | None:
    """The task of a run, from its config.json; None for one that is not known here."""
    return tasks().get(str(described["task"].get("name")))


def _described(name: str, kind: type[Task]) -> TaskInfo:
    options = tuple(replace(option, name=name) for name, option in options_of(kind).items())
    about = inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    group = next((group for group, names in GROUPS.items() if name.startswith(names)), OTHERS)
    sizes, training, fixes = dict(kind.sizes), dict(kind.training), dict(kind.fixes)
    return TaskInfo(
        name, kind.title, group, about, kind.see, kind.kind, options, sizes, training, fixes, kind.see_own
    )
