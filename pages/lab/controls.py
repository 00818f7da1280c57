"""What stands beside a part's board: inputs by name, drawn as the page declares them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared.state import State


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
class Popover:
    """Controls behind a button."""

    label: str
    controls: Controls


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


Control = str | Note | Columns | When | Popover | Set | Own
Controls = Sequence[Control]


def draw(state: State, controls: Controls, place: DeltaGenerator | Any = st) -> None:
    """Draws them in `place`, from top to bottom."""
    for control in controls:
        match control:
            case str():
                state.draw(control, place)
            case Note(text, small):
                (place.caption if small else place.markdown)(text)
            case Columns(columns, widths):
                for column, inside in zip(place.columns(widths or len(columns)), columns, strict=True):
                    draw(state, inside, column)
            case When(name, value, then, otherwise):
                draw(state, then if state.kept[name] == value else otherwise, place)
            case Popover(label, inside):
                draw(state, inside, place.popover(label, width="stretch"))
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
            case Popover(_, inside):
                yield from fields_of(inside)
