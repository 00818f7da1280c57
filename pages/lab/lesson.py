"""What a lab page is made of: parts, each with texts, experiments, a board, a formula and questions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from models.fields import Field, one_of
from models.fields import fields_of as declared_fields
from pages.lab.controls import Controls, fields_of
from pages.shared.state import State
from viz_core.boards import Board


@dataclass(frozen=True)
class Try:
    """An experiment that one click sets up: the page's inputs by name, all others as they are."""

    label: str
    set: Mapping[str, Any]


@dataclass(frozen=True)
class Shape:
    """One tensor of the computation: its name in the formula, its axes in words, its sizes."""

    name: str
    axes: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Question:
    """Predict, then reveal. `right` is the place of the answer among the options; `because` explains it.

    Both come from numbers computed now, not from the author. told: whether the headline gives the answer
    away; where nothing is said, it does if it has the answer's words.
    """

    ask: str
    options: tuple[str, ...]
    right: int
    because: str
    told: bool | None = None


@dataclass(frozen=True)
class Lesson:
    """One part of a page for its present inputs.

    see: what is shown, in Markdown of one or two lines. formula: LaTeX. sizes: the present sizes, in LaTeX.
    code: the functions that computed the numbers; their source is shown.
    """

    see: str
    board: Board
    formula: str
    sizes: str
    shapes: Sequence[Shape]
    code: Sequence[Callable[..., Any] | type]


@dataclass(frozen=True)
class Part:
    """One view of a page.

    name: as in a link. controls: what stands beside the board. lesson: from the page's inputs (the scrub's
    at its default) to what is shown; ValueError with a sentence where they are impossible; runs on the
    inference thread, without Streamlit. questions: two or three; their facts are computed at call. scrub:
    the input that the browser moves alone. also: the inputs that are written into the board's cells.
    """

    name: str
    label: str
    controls: Controls
    lesson: Callable[[Any], Lesson]
    tries: tuple[Try, ...]
    questions: Callable[[], Sequence[Question]]
    scrub: str | None = None
    also: tuple[str, ...] = ()

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The inputs that it depends on, in their order in a link."""
        scrub = (self.scrub,) if self.scrub else ()
        return tuple(dict.fromkeys((*fields_of(self.controls), *self.also, *scrub)))


@dataclass(frozen=True)
class LabPage:
    """A page of the lab: its name in the address, its heading, its inputs (a frozen dataclass), its parts."""

    name: str
    title: str
    inputs: type[Any]
    parts: tuple[Part, ...]

    @cached_property
    def state(self) -> State:
        """The part that is shown, and all parts' inputs."""
        names = {part.name: part.label for part in self.parts}
        part = Field(
            self.parts[0].name,
            one_of(names),
            "Part",
            control="segments",
            more={"label_visibility": "collapsed"},
        )
        return State(self.name, {"part": part, **declared_fields(self.inputs)})

    def part(self) -> Part:
        """The part that this visitor has chosen."""
        return next(part for part in self.parts if part.name == self.state.kept["part"])

    def named(self, name: str) -> Part:
        """The part of this name; the first where none has it."""
        return next((part for part in self.parts if part.name == name), self.parts[0])

    def now(self) -> Any:
        """What this visitor's controls say."""
        return self.inputs(**{name: value for name, value in self.state.kept.items() if name != "part"})

    def computed_from(self, part: Part, now: Any) -> Any:
        """The inputs that a part's lesson depends on: all others, and the scrub, at their defaults."""
        mine = set(part.fields) - {part.scrub}
        return replace(self.inputs(), **{name: getattr(now, name) for name in mine})

    def link(self, part: Part) -> dict[str, str]:
        """The query parameters of what is shown, but for the scrub, which the browser writes."""
        return self.state.link(("part", *(name for name in part.fields if name != part.scrub)))
