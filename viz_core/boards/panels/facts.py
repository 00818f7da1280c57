"""Single numbers side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...labels import decimal, escape, text_width
from ..panel import CAPTION, SMALL, WIDTH, Colour, Drawing, Framed, NumberRow, Panel, Place, Room, at_frame

_LINE = 54
_LARGE = 22


@dataclass(frozen=True)
class Fact:
    """One important number, written large: values [*frame] in `unit`, or words."""

    label: str
    values: np.ndarray | str
    digits: int = 2
    unit: str = ""
    colour: Colour | None = None


@dataclass(frozen=True, kw_only=True)
class Facts(Panel):
    """Numbers side by side."""

    facts: Sequence[Fact]
    title: str = ""

    @classmethod
    def of(cls, *facts: Fact, title: str = "") -> "Facts":
        """These numbers, side by side."""
        return cls(facts=facts, title=title)

    def framed(self) -> list[Framed]:
        return [(fact.label, fact.values, 0) for fact in self.facts if isinstance(fact.values, np.ndarray)]

    def room(self, cell: int) -> Room:
        return self._room(WIDTH)

    def narrowed(self, room: Room, across: int | float) -> Room:
        return self._room(across)

    def _room(self, across: int | float) -> Room:
        lines = _lines(self, across)
        width = max(left + _width(fact) for line in lines for left, fact in line)
        return Room(width=width, height=_LINE * len(lines), above=CAPTION * bool(self.title))

    def draw(self, place: Place, frame: int) -> Drawing:
        drawing = Drawing(notes=place.caption(self.title, 4))
        for row, line in enumerate(_lines(self, place.width)):
            for left, fact in line:
                top, muted = row * _LINE, {"size": SMALL, "color": place.palette["muted"]}
                colour = place.palette["ink"] if fact.colour is None else place.colour(fact.colour)
                text = f"<b>{_said(fact, frame)}</b>"
                if fact.unit:
                    text += f' <span style="font-size:{SMALL}px">{escape(fact.unit)}</span>'
                drawing.notes += [
                    place.note(escape(fact.label), left, top, yanchor="top", font=muted),
                    place.note(text, left, top + 18, yanchor="top", font={"size": _LARGE, "color": colour}),
                ]
        return drawing

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        for at, fact in enumerate(self.facts):
            if isinstance(fact.values, np.ndarray):
                yield at, fact.label, None, fact.unit, None, at_frame(fact.values, frame, 0), None, None


def _said(fact: Fact, frame: int) -> str:
    if isinstance(fact.values, str):
        return escape(fact.values)
    value = float(at_frame(fact.values, frame, 0))
    whole = fact.digits == 0 and np.isfinite(value)
    return f"{value:z,.0f}".replace("-", "−") if whole else decimal(value, fact.digits)


def _width(fact: Fact) -> int | float:
    """Room for the longest text of a fact in any frame."""
    frames = 1 if isinstance(fact.values, str) else np.size(fact.values)
    longest = max(text_width(_said(fact, frame), _LARGE) for frame in range(frames))
    return max(text_width(fact.label, SMALL), longest * 1.05 + text_width(f" {fact.unit}", SMALL)) + 30


def _lines(panel: Facts, across: int | float) -> list[list[tuple[float, Fact]]]:
    """Facts with their distance from the left, in as many lines as they need."""
    lines: list[list[tuple[float, Fact]]] = [[]]
    left = 0.0
    for fact in panel.facts:
        if lines[-1] and left + _width(fact) > across:
            lines, left = [*lines, []], 0.0
        lines[-1].append((left, fact))
        left += _width(fact)
    return lines
