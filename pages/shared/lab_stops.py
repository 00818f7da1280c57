"""The way through the pages of the lab, and the texts of each page: pages/lab/<page>/texts.toml.

They are read without the pages themselves, so that no page has to be loaded to name its parts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

LAB = Path(__file__).parents[1] / "lab"
NAMES = (
    "attention", "softmax", "heads", "masks", "positions", "block", "translation", "objective", "design",
)  # fmt: skip
"""The pages in their order."""


@dataclass(frozen=True)
class QuestionTexts:
    """What is asked, the options, and why one is right; {names} stand for numbers that are computed.

    options: none where they are computed, too. set: the inputs with which the board shows the answer, or the
    experiment that sets them. in_headline: whether the headline gives the answer away; where
    nothing is said, it does if it has the answer's words. in_panels: the titles of panels that give it away,
    too: they fade while the headline is covered.
    """

    ask: str
    because: str
    options: tuple[str, ...] = ()
    in_headline: bool | None = None
    in_panels: tuple[str, ...] = ()
    set: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PartTexts:
    """What is said of a part whatever its inputs are.

    main: the panels in sight before a person asks for more, by their titles, in which * stands for any words,
    or kinds. see: what is shown, in Markdown. formula: LaTeX. shapes: the axes of each tensor in it. tries:
    experiments, each the inputs that it sets. questions: those to predict an answer to. variants: main, see,
    formula and shapes where these depend on an input. advanced: whether it waits behind the others.
    """

    label: str = ""
    advanced: bool = False
    main: Sequence[str] = ()
    tries: dict[str, dict[str, Any]] = field(default_factory=dict)
    see: str = ""
    formula: str = ""
    shapes: dict[str, str] = field(default_factory=dict)
    questions: tuple[QuestionTexts, ...] = ()
    variants: dict[str, PartTexts] = field(default_factory=dict)


@dataclass(frozen=True)
class Stop:
    """One page of the lab.

    name: as its address says. after: what one understands after it. section: numbers and titles in "Attention
    Is All You Need". parts: by name, in their order.
    """

    name: str
    title: str
    after: str
    section: str
    parts: dict[str, PartTexts]


@cache
def stop(name: str) -> Stop:
    """The page of this name."""
    texts = tomllib.loads((LAB / name / "texts.toml").read_text(encoding="utf-8"))
    parts = {part: _part(**of_part) for part, of_part in texts["parts"].items()}
    return Stop(name, **texts | {"parts": parts})


def _part(
    *, see: str = "", tries: Any = (), questions: Sequence[Any] = (), variants: Any = (), **rest: Any
) -> PartTexts:
    values = {label: _inputs(inputs) for label, inputs in dict(tries).items()}
    texts = tuple(_question(values, **question) for question in questions)
    others = {name: _part(**variant) for name, variant in dict(variants).items()}
    return PartTexts(see=" ".join(see.split()), tries=values, questions=texts, variants=others, **rest)


def _question(
    tries: Mapping[str, dict[str, Any]], *, ask: str, because: str, options: Sequence[str] = (), **rest: Any
) -> QuestionTexts:
    shows, panels = rest.pop("set", {}), tuple(rest.pop("in_panels", ()))
    values = tries[shows] if isinstance(shows, str) else _inputs(shows)
    texts = " ".join(ask.split()), " ".join(because.split()), tuple(options)
    return QuestionTexts(*texts, set=values, in_panels=panels, **rest)


def _inputs(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _frozen(value) for name, value in values.items()}


def _frozen(value: Any) -> Any:
    """A table of numbers as tuples, which inputs are."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


STOPS = tuple(map(stop, NAMES))


def part_of(name: str, part: str) -> tuple[str, str] | None:
    """The names of a page and its part as they are, where there is such a page with such a part."""
    return (name, part) if name in NAMES and part in stop(name).parts else None
