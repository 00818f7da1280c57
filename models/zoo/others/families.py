"""Offers the families of shipped models: their dials are settings, and each turn opens the member there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...config import ModelConfig
from ...fields import fields_of, one_of
from .. import load_model
from ..families import FAMILIES, Family
from ..folders import CARD, SHIPPED, read_card
from ..offers import Offer, Setting, as_read, register

if TYPE_CHECKING:
    from ..engine_model import TrainedModel


def load(family: Family, **values: Any) -> TrainedModel[Any]:
    """The member with these values. Raises FileError where it did not ship."""
    name = family.member(values)
    model = load_model(name)
    model.source = repr(name)
    return model


def dials(family: Family) -> tuple[Setting, ...]:
    """The family's dials as settings."""
    fields = fields_of(ModelConfig)
    return tuple(
        Setting(
            family.first[name],
            one_of({value: str(value) for value in values}),
            fields[name].label or name.capitalize(),
            "Each value has a model of its own, trained by the same recipe",
            "segments",
            name=name,
            builds=True,
            trained=True,
        )
        for name, values in family.dials.items()
    )


def offer(family: Family) -> Offer:
    """The family as its first member is offered, with its dials."""
    card = read_card(SHIPPED / family.member(family.first) / CARD)
    text = family.examples[0]["text"]
    read = as_read(card["config"], card["task"]["name"], text)
    sizes = {name: value for name, value in read["sizes"].items() if name != "d_head"}
    return Offer(
        name=family.name,
        load=partial(load, family),
        title=family.title,
        summary=family.summary,
        text=text,
        examples=family.examples,
        showcase=family.showcase,
        taught=family.taught,
        sizes=sizes,
        reads=read["reads"],
        settings=(*dials(family), *read["settings"]),
    )


for each in FAMILIES.values():
    register(offer(each))
