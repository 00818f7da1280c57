"""What a lab page is made of: parts, each with controls, a board, a formula, questions."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import string
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from importlib import import_module
from typing import Any

from attention_lab.models.fields import Field, one_of
from attention_lab.models.fields import fields_of as declared_fields
from attention_lab.pages.shared import st
from attention_lab.pages.shared.lab_stops import QuestionTexts, stop
from attention_lab.pages.shared.st import DeltaGenerator
from attention_lab.pages.shared.state import State
from attention_lab.viz_core.boards import Board, Panel, Scrub
from attention_lab.viz_core.labels import decimal, short


@dataclass(frozen=True)
class Note:
    """A sentence in Markdown, in small letters or not."""

    text: str
    small: bool = True


@dataclass(frozen=True)
class Columns:
    """Controls side by side. widths: those of the columns, which are else alike."""

    columns: tuple[Controls, ...]
    widths: tuple[int, ...] = ()


@dataclass(frozen=True)
class When:
    """Controls that are there only while an input has this value, and what stands there otherwise."""

    field: str
    value: Any
    then: Controls
    otherwise: Controls = ()


@dataclass(frozen=True)
class Set:
    """An input whose widget differs from its declaration. then: what a changed value entails."""

    field: str
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    then: Callable[[State], None] | None = None


@dataclass(frozen=True)
class Own:
    """Widgets that a part draws itself, of these inputs."""

    draw: Callable[[State], None]
    fields: tuple[str, ...] = ()


Control = str | Note | Columns | When | Set | Own
Controls = Sequence[Control]


def draw_controls(state: State, controls: Controls, place: DeltaGenerator | Any = st) -> None:
    """Draws them in `place`, from top to bottom."""
    for control in controls:
        match control:
            case str():
                state.draw(control, place)
            case Note(text, small):
                (place.caption if small else place.markdown)(text)
            case Columns(columns, widths):
                for column, inside in zip(place.columns(widths or len(columns)), columns, strict=True):
                    draw_controls(state, inside, column)
            case When(name, value, then, otherwise):
                draw_controls(state, then if state.kept[name] == value else otherwise, place)
            case Set(name, changes, then):
                state.draw(name, place, then=then and (lambda then=then: then(state)), **changes)
            case Own(draw_own):
                with place.container():
                    draw_own(state)


def fields_of(controls: Controls) -> Iterator[str]:
    """The inputs that they set, whether or not they are there just now."""
    for control in controls:
        match control:
            case str():
                yield control
            case Set(name):
                yield name
            case Own(_, names):
                yield from names
            case Columns(columns):
                for inside in columns:
                    yield from fields_of(inside)
            case When(_, _, then, otherwise):
                yield from fields_of((*then, *otherwise))


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
class Question(QuestionTexts):
    """Predict, then reveal. right: the place of the answer among the options.

    It and `because`, which explains it, come from numbers computed now, not from the author.
    """

    right: int = 0


@dataclass(frozen=True)
class Answer:
    """What is computed for a question of the page's texts.toml: the place of the right option, the numbers
    that its texts name, and the options where these are computed, too.
    """

    right: int
    options: tuple[str, ...]
    numbers: Mapping[str, Any]

    @classmethod
    def of(cls, right: int, *, options: tuple[str, ...] = (), **numbers: Any) -> Answer:
        return cls(right, options, numbers)

    def to(self, texts: QuestionTexts) -> Question:
        """The question with its numbers written in."""
        ask, because, *written = (
            _WRITER.vformat(text, (), self.numbers) for text in (texts.ask, texts.because, *texts.options)
        )
        options = self.options or tuple(written)
        asked = replace(texts, ask=ask, because=because, options=options)
        return Question(**vars(asked), right=self.right)


class _Writer(string.Formatter):
    """Writes numbers into texts; {gap:short} and {gap:decimal} are written as viz_core.labels does."""

    def format_field(self, value: Any, format_spec: str) -> str:
        known = {"short": short, "decimal": decimal}
        return known[format_spec](value) if format_spec in known else str(format(value, format_spec))


_WRITER = _Writer()


@dataclass(frozen=True)
class Lesson:
    """One part of a page for its present inputs.

    rows, notice, scrub, across: of its board. sizes: the present sizes, in LaTeX. code: the functions that
    computed the numbers; their source is shown. axes: the size of each axis of its tensors; one that is not
    there has none of the tensors with that axis. see: what is shown, in Markdown. formula: LaTeX. These and
    the tensors' shapes are those of the page's texts.toml where nothing else is said here: those of the
    variant, if there are some, with the numbers that `see` names.
    """

    rows: Sequence[Sequence[Panel]]
    notice: str | Sequence[str]
    sizes: str
    code: Sequence[Callable[..., Any] | type]
    axes: Mapping[str, int] = dataclasses.field(default_factory=dict)
    shapes: Sequence[Shape] = ()
    scrub: Scrub | None = None
    across: int = 0
    see: str = ""
    formula: str = ""
    variant: str = ""
    numbers: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @cached_property
    def board(self) -> Board:
        return Board(rows=self.rows, notice=self.notice, scrub=self.scrub, across=self.across)


@dataclass(frozen=True)
class Part:
    """One view of a page.

    name: as in a link. controls: what stands beside the board, the main one first. lesson: from the page's
    inputs (the scrub's at its default) to what is shown; ValueError with a sentence where they are
    impossible; runs on the inference thread, without Streamlit. questions: two or three; their facts are
    computed at call. scrub: the input that the browser moves alone. also: the inputs that are written into
    the board's cells. walks: the input whose options are the part's sequence, which a clicker goes through.
    """

    name: str
    label: str
    controls: Controls
    lesson: Callable[[Any], Lesson]
    tries: tuple[Try, ...]
    questions: Callable[[], Sequence[Question]]
    scrub: str | None = None
    also: tuple[str, ...] = ()
    walks: str | None = None

    @cached_property
    def in_sight(self) -> Controls:
        """Notes and the main control, which is the scrub where there is one."""
        main = next((each for each in self.controls if not self.scrub and not isinstance(each, Note)), None)
        return [each for each in self.controls if each is main or isinstance(each, Note)]

    @cached_property
    def folded(self) -> Controls:
        """The other controls, which stand behind "More settings"."""
        return [each for each in self.controls if each not in self.in_sight]

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The inputs that it depends on, in their order in a link."""
        scrub = (self.scrub,) if self.scrub else ()
        return tuple(dict.fromkeys((*fields_of(self.controls), *self.also, *scrub)))


def part(
    module: str,
    controls: Controls,
    lesson: Callable[[Any], Lesson],
    questions: Callable[[], Sequence[Answer]],
    *,
    scrub: str | None = None,
    also: tuple[str, ...] = (),
    walks: str | None = None,
) -> Part:
    """The part that a module, pages.lab.<page>.<part>, is, with its texts from the page's texts.toml.

    questions: computes the answers to those that stand there.
    """
    page, name = module.split(".")[-2:]
    text = stop(page).parts[name]

    def with_texts(inputs: Any) -> Lesson:
        own = lesson(inputs)
        variant = text.variants.get(own.variant, text)
        see = variant.see or text.see
        return replace(
            own,
            rows=[[_marked(panel, variant.main or text.main) for panel in row] for row in own.rows],
            see=own.see or (_WRITER.vformat(see, (), own.numbers) if own.numbers else see),
            formula=own.formula or variant.formula or text.formula,
            shapes=own.shapes or list(_shapes(variant.shapes or text.shapes, own.axes)),
        )

    def with_answers() -> list[Question]:
        return [answer.to(texts) for answer, texts in zip(questions(), text.questions, strict=True)]

    tries = tuple(Try(label, values) for label, values in text.tries.items())
    return Part(name, text.label, controls, with_texts, tries, with_answers, scrub, also, walks)


def _marked(panel: Panel, main: Sequence[str]) -> Panel:
    """The panel, as a main one where these titles have its own."""
    title = getattr(panel, "title", "") or type(panel).__name__
    return replace(panel, main=True) if any(fnmatchcase(title, each) for each in main) else panel


def _shapes(tensors: Mapping[str, str], sizes: Mapping[str, int]) -> Iterator[Shape]:
    """The tensors of axes such as "head, query", each of which has its size in a lesson."""
    for name, text in tensors.items():
        axes = re.split(r", (?![^(]*\))", text)
        if sizes.keys() >= set(axes):
            yield Shape(name, text, tuple(sizes[axis] for axis in axes))


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

    def find_part(self, name: str) -> Part:
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


def lab_page(name: str) -> LabPage:
    """A page of the lab: its inputs are declared in inputs.py, each of its parts in a file of its name."""
    folder, texts = f"attention_lab.pages.lab.{name}", stop(name)
    parts = tuple(import_module(f"{folder}.{part}").PART for part in texts.parts)
    return LabPage(name, texts.title, import_module(f"{folder}.inputs").Inputs, parts)


def whereabouts(page: LabPage, part: Part, now: Any) -> str:
    """Says for whoever presents which page and part this is, and which stop of a part with stops."""
    at = page.parts.index(part) + 1
    where = " · ".join((page.title, part.label, f"part {at} of {len(page.parts)}"))
    if not part.walks:
        return where
    stops = page.state.params[part.walks].rule.options
    return f"{where} · step {stops.index(getattr(now, part.walks)) + 1} of {len(stops)}"


def source(lesson: Lesson) -> str:
    """Returns the functions that computed a lesson's numbers, as they stand in their files."""
    return "\n\n".join(map(source_of, lesson.code))


_reading = threading.Lock()


@functools.cache
def source_of(made_by: Any) -> str:
    """Reads a function, for one visitor at a time: two that parse at once may fail in Python 3.11.7."""
    with _reading:
        return textwrap.dedent(inspect.getsource(made_by)).strip()
