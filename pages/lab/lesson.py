"""What a lab page is made of: parts, each with texts, experiments, a board, a formula and questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

    Both come from numbers computed now, not from the author.
    """

    ask: str
    options: tuple[str, ...]
    right: int
    because: str


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

    name: as in a link. fields: the inputs that it depends on, in their order in a link. scrub: the one that
    the browser moves alone. lesson: from the page's inputs (the scrub's at its default) to what is shown;
    ValueError with a sentence where they are impossible; runs on the inference thread, without Streamlit.
    controls: draws the widgets beside the board. questions: two or three; their facts are computed at call.
    """

    name: str
    label: str
    fields: tuple[str, ...]
    lesson: Callable[[Any], Lesson]
    controls: Callable[[], None]
    tries: tuple[Try, ...]
    questions: Callable[[], Sequence[Question]]
    scrub: str | None = None


@dataclass(frozen=True)
class LabPage:
    """A page of the lab: its name in the address, its heading, its inputs (a frozen dataclass), its parts."""

    name: str
    title: str
    inputs: type[Any]
    parts: tuple[Part, ...]

    def part(self, name: str) -> Part:
        return next(part for part in self.parts if part.name == name)
