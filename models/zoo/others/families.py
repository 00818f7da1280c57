"""Offers the families of shipped models: their dials are settings, and each turn opens the member there."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cache, partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ...config import ModelConfig
from ...fields import fields_of, one_of
from .. import load_model
from ..catalogue import Offer, Setting, of_card, register
from ..families import FAMILIES, Family
from ..folders import CARD, SHIPPED, read_card

if TYPE_CHECKING:
    from ..engine_model import TrainedModel


IN_SIGHT = 4
"""Dials of a family that are always in sight, as many as fit into a line; the others are settings."""
_RIGHT = "whole sentences"


def load(family: Family, **values: Any) -> TrainedModel[Any]:
    """The member with these values. Raises ValueError where none has them, or it did not ship."""
    name = family.member(values)
    model = load_model(name)
    model.source = repr(name)
    return model


@cache
def _card(name: str) -> dict[str, Any]:
    return read_card(SHIPPED / name / CARD)


def sizes_of(family: Family, values: dict[str, Any]) -> dict[str, Any]:
    """What the dials of a member are at: those that were not turned may follow, as d_head does from heads."""
    config = ModelConfig.from_dict(_card(family.member(values))["config"])
    read = {**asdict(config), "n_kv_heads": config.key_heads}
    return {name: read.get(name, value) for name, value in values.items()}


def standing(family: Family, values: dict[str, Any]) -> str:
    """How a member does beside the first, and how many parameters it has; "" where nobody scored it."""
    scored = family.scored()
    name, first = family.member(values), family.member(family.first)
    if _RIGHT not in family.scores or name not in scored:
        return ""
    right, usual = (fmean(each[_RIGHT] for each in scored[of]) for of in (name, first))
    beside = "" if name == first else f", of the first {usual:.0%}"
    return f"{right:.0%} of new sentences right{beside}; {_card(name)['parameters']:,} parameters"


def dials(family: Family) -> tuple[Setting, ...]:
    """The family's dials as settings."""

    def label(name: str) -> str:
        said = fields_of(ModelConfig)[name].label.partition(" (")[0] if name in fields_of(ModelConfig) else ""
        return said or (name if name.startswith("d_") else name.replace("_", " ").capitalize())

    return tuple(
        Setting(
            family.first[name],
            one_of({value: str(value) for value in values}),
            label(name),
            "Each value has a model of its own, trained by the same recipe",
            "segments",
            name=name,
            builds=True,
            trained=True,
            aside=at >= IN_SIGHT,
            alone=family.alone,
        )
        for at, (name, values) in enumerate(family.dials.items())
    )


def offer(family: Family) -> Offer:
    """The family as its first member is offered, with its dials."""
    name = family.member(family.first)
    first = of_card(name, _card(name))
    return replace(
        first,
        name=family.name,
        load=partial(load, family),
        title=family.title,
        summary=family.summary,
        text=family.examples[0]["text"],
        examples=family.examples,
        showcase={**first.showcase, **family.showcase},
        taught=family.taught,
        memory=family.recipe.get("memory", family.name),
        settings=(*dials(family), *first.settings),
    )


for each in FAMILIES.values():
    register(offer(each))
