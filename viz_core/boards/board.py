"""A board: rows of panels, a sentence to notice in them, and the control that chooses their frame. As a
plotly figure it is kept, printed and shown in notebooks; the browser draws it live.
"""

import re
import string
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from .. import labels, theme
from .._checks import check_axes, check_index, check_length
from ..labels import escape, text_width, tick
from .panel import MEDIUM, WIDTH, Drawing, Panel, Place, Room, word


@dataclass(frozen=True)
class Scrub:
    """A control that chooses the frame: input `field` of the page takes one of `values` [frame].

    words: the text beside it at each frame; by default the value itself. speed: frames per second while it
    plays. plays: it begins to play by itself once a person has changed what the frames show. film: it goes
    through a training, which begins anew when it is presented.
    """

    field: str
    label: str
    values: np.ndarray
    words: Sequence[str] = ()
    speed: int | float = 12
    plays: bool = False
    film: bool = False

    def __post_init__(self) -> None:
        check_axes("values", self.values, "frame")
        check_length("words", self.words, len(self.values))


def film_scrub(steps: Sequence[int]) -> Scrub:
    """The control of a film of a training, which plays for about eight seconds."""
    return Scrub(
        field="step", label="step", values=np.array(steps, dtype=np.float64),
        words=[f"{step:,}" for step in steps], speed=min(12, max(2, len(steps) / 8)), film=True,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Board:
    """Rows of panels, and a sentence about them: one, or one per frame. **Stars** make words bold.

    across: how many of the rows, counted from the top, keep the whole width where others share it.
    """

    rows: Sequence[Sequence[Panel]]
    notice: str | Sequence[str]
    scrub: Scrub | None = None
    across: int = 0

    def __post_init__(self) -> None:
        n_frames = len(self.scrub.values) if self.scrub else 0
        if not isinstance(self.notice, str):
            check_length("notice", self.notice, n_frames, needed=True)
        for name, array, own_axes in [each for row in self.rows for panel in row for each in panel.framed()]:
            if array.ndim > own_axes and len(array) != n_frames:
                raise ValueError(
                    f"{name} has {len(array)} frames, the scrub {n_frames}; give one for each of its values"
                )


NOTICE_LINE, NOTICE_SIZE = 22, 16


def notice_lines(notice: str, width: int | float) -> list[str]:
    """The sentence to notice, bold between **stars**, in lines of about `width` pixels."""
    lines, bold = [], False
    for line in textwrap.wrap(notice, int(width / (0.52 * NOTICE_SIZE))):
        parts = line.split("**")
        marked = [
            f"<b>{escape(part)}</b>" if bold != bool(at % 2) else escape(part)
            for at, part in enumerate(parts)
        ]
        lines.append("".join(marked))
        bold ^= len(parts) % 2 == 0
    return lines


def scrub_words(scrub: Scrub, frame: int) -> str:
    """What is written beside the scrub at a frame."""
    if scrub.words:
        return word(scrub.words[frame], 80)
    return tick(float(f"{float(scrub.values[frame]):.3g}"))


_GAP, _ROW_GAP = 30, 26
_PAGE = 1200
"""Pixels of a page's height, with its caption, where small letters have 6 or 7 points."""
_SHARES = (1.0, 0.85, 0.7, 0.6, 0.5)
"""To which charts and pictures shrink, one after the other, until a figure fits its page."""
_MOVED = re.compile(r"the slider's \w+")
_HINT = re.compile(r"(: |, (?=to )| \((?=press))(press|to type|click|drag)\b.*$")
_MARGIN, _TITLE = 24, 40
_SCRUB_LINE = 26
_WIDEST, _NARROWEST = 54, 24  # cells with numbers in them


def board_figure(
    board: Board, *, frame: int = 0, dark: bool = False, title: str | None = None, width: int | None = None
) -> go.Figure:
    """All panels of one frame of a board as one figure.

    frame: the place of the scrub's value. width: of a column that the panels are laid out in, without the
    sentence to notice, which is a caption's there.
    Raises ValueError for a frame that the board does not have.
    """
    check_index("frame", frame, len(board.scrub.values) if board.scrub else 1)
    sheet = _Sheet(on_paper(board, frame) if width else board, dark, title, width)
    first = sheet.drawing(frame)
    fig = go.Figure(first.traces, layout={**sheet.layout(), **first.axes})
    fig.update_layout(annotations=first.notes, shapes=first.shapes)
    return theme.apply(fig, dark)


class _Sheet:
    """A board with all its panels placed, the same in every frame."""

    def __init__(self, board: Board, dark: bool, title: str | None, column: int | None = None) -> None:
        self.board, self.dark, self.title, self.column = board, dark, title, column
        widest = column or WIDTH
        for share in _SHARES if column else _SHARES[:1]:
            lines = [line for row in board.rows for line in _lines(row, widest, share)]
            if sum(map(_height, lines)) <= _PAGE:
                break
        self.width = max([min(640.0, widest), *(_across([room for _, room in line]) for line in lines)])
        if any(room.stretch for line in lines for _, room in line):
            self.width = max(self.width, widest)
        notices = [board.notice] if isinstance(board.notice, str) else board.notice
        self.n_notice = max(len(notice_lines(notice, self.width)) for notice in notices)
        self.head = 0 if column else self.n_notice * NOTICE_LINE + _SCRUB_LINE * bool(board.scrub) + 14
        self.height, self.places = self._place([_stretched(line, self.width) for line in lines])

    def _place(self, lines: list[list[tuple[Panel, Room]]]) -> tuple[float, list[tuple[Panel, Place]]]:
        bodies: list[tuple[Panel, dict[str, int | float]]] = []
        top = float(self.head)
        for line in lines:
            top += max(room.above for _, room in line)
            tallest = max(room.height for _, room in line)
            left = 0.0
            for panel, room in line:
                # Bodies begin at one height; a sign stands in their middle.
                down = (tallest - room.height) / 2 if panel.in_the_middle else 0.0
                corner = {"left": left + room.left, "top": top + down}
                bodies.append((panel, {**corner, "width": room.width, "height": room.height}))
                left += room.across + _GAP
            top += _height(line) - max(room.above for _, room in line)
        size = (self.width, top)
        return top, [
            (panel, Place(number=number, **body, sheet=size, dark=self.dark))
            for number, (panel, body) in enumerate(bodies, start=1)
        ]

    def drawing(self, frame: int) -> Drawing:
        whole = Drawing(notes=self._words(frame))
        for panel, place in self.places:
            part = panel.draw(place, frame)
            whole.traces += part.traces
            whole.axes |= part.axes
            whole.notes += part.notes
            whole.shapes += part.shapes
        return whole

    def layout(self) -> dict[str, Any]:
        if self.column:
            return {"width": self.width, "height": self.height, "margin": dict.fromkeys("lrtb", 0)}
        top = _MARGIN + _TITLE * bool(self.title)
        return {
            "title": labels.heading(self.title),
            "width": self.width + 2 * _MARGIN,
            "height": self.height + top + _MARGIN,
            "margin": {"l": _MARGIN, "r": _MARGIN, "t": top, "b": _MARGIN},
        }

    def _words(self, frame: int) -> list[dict[str, Any]]:
        """The notice, and where the scrub stands."""
        if self.column:
            return []
        notice = self.board.notice if isinstance(self.board.notice, str) else self.board.notice[frame]
        lines = notice_lines(notice, self.width)
        lines += [""] * (self.n_notice - len(lines))
        font, scrub = {"size": NOTICE_SIZE}, self.board.scrub
        notes = [self._head(line, at * NOTICE_LINE, font=font) for at, line in enumerate(lines)]
        if scrub:
            heading = f"{escape(scrub.label)} <b>{scrub_words(scrub, frame)}</b>"
            notes.append(self._head(heading, self.n_notice * NOTICE_LINE + 4))
        return notes

    def _head(self, text: str, down: int | float, **style: Any) -> dict[str, Any]:
        size = (self.width, self.height)
        page = Place(
            number=1, left=0, top=0, width=self.width, height=self.height, sheet=size, dark=self.dark
        )
        return page.note(text, 0, down, yanchor="top", **style)


def on_paper(board: Board, frame: int) -> Board:
    """The board with letters on its panels, and without words about what a reader cannot do."""
    letters, rows = iter(string.ascii_lowercase), []
    several = sum(not panel.in_the_middle for row in board.rows for panel in row) > 1
    for row in board.rows:
        panels: list[Any] = []  # they have a title, but those between others
        for at, panel in enumerate[Any](row):
            if not panel.in_the_middle:
                listed = getattr(panel, "listed", ())
                title = panel.title or (listed[0] if len(listed) == 1 else "")
                title = _HINT.sub("", title)
                if board.scrub:
                    title = _MOVED.sub(f"{board.scrub.label} {scrub_words(board.scrub, frame)}", title)
                thumbnails = at and all(getattr(each, "small", False) for each in row[at - 1 : at + 1])
                letter = next(letters, "") if several and not thumbnails else ""
                panel = replace(panel, title=f"{letter}  {title}".strip())
            panels.append(panel)
        rows.append(panels)
    return replace(board, rows=rows)


def panels_in_words(board: Board, frame: int) -> str:
    """The panels as the caption of a figure lists them, with what their axes are."""
    words: list[tuple[str, str]] = []
    shown: list[Any] = [
        panel for row in on_paper(board, frame).rows for panel in row if not panel.in_the_middle
    ]
    for panel in shown:
        letter, gap, title = panel.title.partition("  ")
        small = getattr(panel, "small", False)
        if not gap and (small or len(letter) > 1):
            letter, title = "", letter
        names = [fact.label for fact in getattr(panel, "facts", ())] or getattr(panel, "columns", [])
        title = title or ", ".join(filter(None, names))
        down, across = (
            next(filter(None, (getattr(panel, name, "") for name in names)), "")
            for names in (("y_label", "row_axis"), ("x_label", "column_axis"))
        )
        axes = " by ".join(filter(None, (down, across)))
        if words and small and not letter:  # a thumbnail among others
            words[-1] = (f"{words[-1][0]}, {title}", axes)
        elif title or axes:
            words.append((f"{letter}, {title}" if letter else title, axes))
    return "; ".join(f"{title} ({axes})" if axes else title for title, axes in words)


def _height(line: list[tuple[Panel, Room]]) -> int | float:
    above = max(room.above for _, room in line)
    return above + max(room.height + room.below for _, room in line) + _ROW_GAP


def _lines(row: Sequence[Panel], widest: int | float, share: float = 1.0) -> list[list[tuple[Panel, Room]]]:
    """A row's panels with the room they need, in as many lines as it takes; what is wider than a line
    is drawn smaller, if it can be. share: how large charts and pictures are, of their usual size.
    """
    others = [panel.room(0).across for panel in row]
    others_width = sum(others) + _GAP * (len(row) - 1)
    n_cells = sum(panel.n_cells for panel in row)
    cell = int(max(_NARROWEST, min(_WIDEST, (widest - others_width) / max(1, n_cells))))
    alone = [(widest - panel.room(0).across) / panel.n_cells for panel in row if panel.n_cells]
    cell = max(8, min(cell, *map(int, alone))) if alone else cell
    lines: list[list[tuple[Panel, Room]]] = [[]]
    for panel in row:
        room = panel.room(cell)
        if share < 1 and (room.stretch or (panel.keeps_shape and not panel.n_cells)):
            high = room.height * (share if room.stretch else 1)
            across = room.left + room.right + room.width * share
            room = panel.narrowed(replace(room, height=high), across)
        room = panel.narrowed(room, widest) if room.across > widest else room
        if widest < WIDTH:  # titles are not to meet, nor to leave the column
            panel, title = _wrapped(panel, widest - room.left)
            room = replace(room, above=room.above + 17 * getattr(panel, "title", "").count("\n"))
            room = replace(room, right=max(room.right, min(title, widest - room.left) - room.width))
        if lines[-1] and _across([*(room for _, room in lines[-1]), room]) > widest:
            lines.append([])
        lines[-1].append((panel, room))
    return lines


def _wrapped(panel: Any, widest: int | float) -> tuple[Any, float]:
    """The panel with its title in lines of so many pixels, and the longest of them."""
    title = getattr(panel, "title", "")
    width = text_width(title, MEDIUM) * 1.06
    if width <= widest:
        return panel, width
    lines = textwrap.wrap(title, int(len(title) * widest / width))
    return replace(panel, title="\n".join(lines)), max(text_width(line, MEDIUM) * 1.06 for line in lines)


def _across(rooms: Sequence[Room]) -> int | float:
    return sum(room.across for room in rooms) + _GAP * (len(rooms) - 1)


def _stretched(line: list[tuple[Panel, Room]], width: int | float) -> list[tuple[Panel, Room]]:
    """The line, with its charts widened into the free width."""
    if len(line) == 1 and line[0][1].stretch:  # its title has room above it, once it is wide
        line = [(line[0][0], replace(line[0][1], right=line[0][0].room(0).right))]
    rooms = [room for _, room in line]
    free = (width - _across(rooms)) / max(1, sum(room.stretch > 0 for room in rooms))
    return [
        (panel, replace(room, width=min(room.stretch, room.width + free)) if room.stretch else room)
        for panel, room in line
    ]
