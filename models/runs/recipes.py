"""How each shipped model is trained, and what its card says of it beyond the numbers (recipes.toml)."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..fields import fields_of
from ..training.config import TrainingConfig
from ..zoo.families import FAMILIES, Family

Examples = list[dict[str, Any]]
"""Each with a label, a text to type, what to see, and where: a query, and a layer and head if others."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A task with its options, what differs from the task's own sizes and training, and words for the card.

    title: in pickers, where the name alone does not say enough. contrast: the model to compare it with, and
    the label of the button that opens it; models with the same memory read the same texts. wider: the
    model that reads what this one has no words for. note: what else is known of it. data: what it was trained
    on and under which licence, where this project did not make it; file: the task's option that names it.
    showcase: the view that Explore opens with, of the head whose story the first example tells.
    half: its weights ship as float16, packed. keeps_run: the run's curves and snapshots ship, too, so that
    its heads can be watched as they form.
    """

    task: str
    summary: str = ""
    title: str = ""
    contrast: dict[str, str] = field(default_factory=dict)
    memory: str = ""
    wider: str = ""
    data: str = ""
    license: str = ""
    file: str = ""
    note: str = ""
    examples: Examples = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    limits: str = "Small and trained for minutes: a model to look into."
    showcase: dict[str, Any] = field(default_factory=dict)
    half: bool = False
    keeps_run: bool = False


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_OWN = {name: Recipe(**fields) for name, fields in _TABLE["models"].items()}


def _recipe(family: Family, values: dict[str, Any]) -> Recipe:
    """The family's recipe with a member's values: sizes of the model, or of its training."""
    own, turned = family.recipe, family.changed(values) if family.alone else values
    training = {name: value for name, value in turned.items() if name in fields_of(TrainingConfig)}
    sizes = {name: value for name, value in turned.items() if name not in training}
    return Recipe(
        **own | {"sizes": own.get("sizes", {}) | sizes, "training": own["training"] | training},
    )


RECIPES = _OWN | {
    name: _recipe(family, values)
    for family in FAMILIES.values()
    for name, values in family.members().items()
    if family.recipe and name not in _OWN
}
TRANSLATIONS: Examples = _TABLE["translations"]
"""Sentences for the card of any translator."""
