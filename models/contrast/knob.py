"""A knob: one thing of a model, or of its text, that is set otherwise while all else stays. One file each."""

import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..engine.address import Address
from ..fields import shortened
from ..interventions.edited_pass import Editing, one_after_the_other
from ..zoo.engine_model import EngineModel
from ..zoo.model import Model
from .side import Side

WORDS = tomllib.loads((Path(__file__).parent / "knobs" / "words.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class Knob:
    """name: in links. title: what a person reads; help: what it does exactly. Both are in knobs/words.toml.

    own: the value that a model has by itself. values: what is offered for a model. read: a typed value as it
    is written everywhere; raises ValueError, with a sentence. why_not: the sentence why a side cannot have
    the knob, "" where it can. turned: the side with a value that is not its own; raises ValueError for one
    that does not fit the side.
    """

    name: str
    title: str
    help: str
    own: Callable[[Model], str]
    values: Callable[[Model], tuple[str, ...]]
    read: Callable[[str], str]
    why_not: Callable[[Side], str]
    turned: Callable[[Side, str], Side]

    def applied(self, side: Side, value: str) -> Side:
        """The side with this value of the knob; the very same side where that is the model's own.

        Raises ValueError for a value that cannot be read or does not fit, and for a knob turned already.
        """
        own = self.own(side.model)
        value = own if value.strip() == own else self.read(value.strip())
        if self.name in side.knobs:
            raise ValueError(
                f"{self.name}={side.knobs[self.name]} is set already; start from the side without"
            )
        if value == own:
            return side
        why = self.why_not(side)
        if why:
            raise ValueError(why)
        turned = self.turned(side, value)
        return replace(turned, knobs={**side.knobs, self.name: value})


def words_of(name: str) -> dict[str, Any]:
    """The fields of a knob that are words."""
    return {"name": name, **WORDS[name]}


def one_of(name: str, *known: str) -> Callable[[str], str]:
    """Reads one of these values."""

    def read(value: str) -> str:
        if value not in known:
            raise ValueError(f"{name}={shortened(value)!r} is unknown; choose one of {', '.join(known)}")
        return value

    return read


def number(name: str, value: str, low: int | float, high: int | float) -> float:
    """A number within bounds. Raises ValueError."""
    try:
        parsed = float(value)
    except ValueError:
        parsed = math.nan
    if not low <= parsed <= high:
        raise ValueError(f"{name}={shortened(value)!r} is no number from {low:g} to {high:g}; try 2")
    return parsed


def with_model(side: Side, model: Model) -> Side:
    """The side with a changed model; the unchanged one still reads."""
    return replace(side, model=model, unchanged=side.reader)


def with_editing(side: Side, editing: Editing) -> Side:
    """The side whose every pass is edited so, after what other knobs do."""
    return replace(side, editing=one_after_the_other(side.editing, editing))


def is_ours(model: Model) -> bool:
    """Whether its network is one of our engine, whose parts can be exchanged."""
    return isinstance(model, EngineModel)


def only_ours(side: Side, what: str) -> str:
    """The sentence for a model whose network is not of our engine; "" for one whose is."""
    if is_ours(side.model):
        return ""
    return f"{what} can only be changed in models of our engine; open one of ours, not {side.model.name!r}"


def unheard(side: Side) -> str:
    """The sentence for a model whose scores cannot be changed; "" for one whose can."""
    model, stacks = side.model, stacks_of(side.model)
    if not stacks:
        return f"the scores of {model.name!r} are not known; open another model"
    sunk = any(model.attention(stack).normalizer == "learnt-sink" for stack in stacks)
    if sunk and not is_ours(model):
        return f"the sinks of {model.name!r} shift its scores, which cannot be changed; open another model"
    return ""


def stacks_of(model: Model) -> list[str]:
    """The families of attentions that can be edited, such as "encoder.self"."""
    return sorted({Address.parse(a).family for a in model.addresses() if a.endswith(".pattern")})
