"""What every panel of a board is, and the sheet of paper it is drawn on: where it lies, in pixels, and what
it adds. Each kind of panel is a class in viz_core/boards/panels.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np

from .. import labels, theme
from ..labels import escape, visible

WIDTH = 1080  # pixels that the panels of a row share, as on a screen
CAPTION = 26
Pair = tuple[int | float, int | float]
Trace = dict[str, Any]  # as plotly takes it: checked once in the figure, not again in each of its frames
SMALL, MEDIUM = 12, 14  # sizes of type
Role = Literal["query", "key", "value"]
Colour = Role | Literal["accent", "muted"] | int
"""A role's colour, one of the theme's, or the colour of a head by its number."""

CHART = {"width": 300, "stretch": 560, "height": 240, "left": 66, "below": 54, "right": 14}  # its Room


@dataclass(frozen=True, kw_only=True)
class Room:
    """Pixels that a panel needs: its body and what stands around it. stretch: how wide the body may grow."""

    width: int | float
    height: int | float
    left: int | float = 0
    right: int | float = 0
    above: int | float = 0
    below: int | float = 0
    stretch: int | float = 0

    @property
    def across(self) -> int | float:
        return self.left + self.width + self.right


@dataclass(frozen=True, kw_only=True)
class Place:
    """A panel's body on the sheet, in pixels from the upper left corner. number: names its axes."""

    number: int
    left: int | float
    top: int | float
    width: int | float
    height: int | float
    sheet: Pair
    dark: bool

    @property
    def palette(self) -> dict[str, str]:
        return theme.palette(self.dark)

    @property
    def on(self) -> dict[str, str]:
        """The axes that the panel's traces refer to."""
        number = "" if self.number == 1 else self.number
        return {"xaxis": f"x{number}", "yaxis": f"y{number}"}

    def colour(self, name: Colour) -> str:
        return theme.head_colour(name, self.dark) if isinstance(name, int) else self.palette[name]

    def axes(self, x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
        plain = {"automargin": False, "zeroline": False, "tickfont": {"size": SMALL}}
        domain = self.domain
        return {
            f"xaxis{self.number}": {**plain, "domain": domain["x"], "anchor": self.on["yaxis"], **x},
            f"yaxis{self.number}": {**plain, "domain": domain["y"], "anchor": self.on["xaxis"], **y},
        }

    @property
    def domain(self) -> dict[str, list[int | float]]:
        """Where the body lies, for traces without axes."""
        (left, bottom), (right, top) = self._at(0, self.height), self._at(self.width, 0)
        return {"x": [left, right], "y": [bottom, top]}

    def note(self, text: str, x: int | float, y: int | float, **style: Any) -> dict[str, Any]:
        """An annotation at pixels right of and below the body's upper left corner."""
        across, up = self._at(x, y)
        place = {"x": across, "y": up, "xref": "paper", "yref": "paper", "xanchor": "left", "align": "left"}
        return {"text": text, "showarrow": False, **place, **style}

    def box(
        self, left: int | float, top: int | float, right: int | float, bottom: int | float, **style: Any
    ) -> dict[str, Any]:
        """A rectangle, in the same pixels."""
        (x0, y0), (x1, y1) = self._at(left, top), self._at(right, bottom)
        corners = {"x0": x0, "y0": y0, "x1": x1, "y1": y1}
        return {"type": "rect", "xref": "paper", "yref": "paper", **corners, **style}

    def caption(self, title: str, up: int | float, colour: str | None = None) -> list[dict[str, Any]]:
        """The panel's title, `up` pixels above the body."""
        if not title:
            return []
        font = {"size": MEDIUM, "color": colour or self.palette["ink"]}
        return [
            self.note(f"<b>{escape(title)}</b>".replace("\n", "<br>"), 0, -up, yanchor="bottom", font=font)
        ]

    def _at(self, x: int | float, y: int | float) -> Pair:
        width, height = self.sheet
        return (self.left + x) / width, 1 - (self.top + y) / height


@dataclass
class Drawing:
    """What a panel adds to the figure."""

    traces: list[Trace] = field(default_factory=list)
    axes: dict[str, Any] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)
    shapes: list[dict[str, Any]] = field(default_factory=list)


def at_frame(array: np.ndarray, frame: int, axes: int) -> np.ndarray:
    """One frame of [*frame, ...], which has `axes` axes without it."""
    return np.asarray(array[frame]) if array.ndim > axes else array


def extent(*arrays: np.ndarray) -> Pair:
    """The smallest and largest finite number; 0 and 1 if there is none."""
    finite = np.concatenate([array[np.isfinite(array)].ravel() for array in arrays]).astype(np.float64)
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def reach_of(array: np.ndarray, reach: int | float | None) -> int | float:
    """The number of the strongest colour or longest arrow; by default the largest number of all frames."""
    return reach or max(map(abs, extent(array))) or 1.0


def word(text: str, longest: int = 16) -> str:
    """A label as it was typed, cut to `longest` letters."""
    return escape(visible(text, max_length=longest)) if text else ""


def room_for(words: Sequence[str]) -> int | float:
    """Pixels for the widest of some labels, 0 for none."""
    return labels.label_room(words, SMALL) if words else 0


def axis_title(text: str) -> dict[str, Any]:
    """The name of an axis with numbers."""
    return {"text": word(text, 80), "font": {"size": SMALL + 1}, "standoff": 6}


Framed = tuple[str, np.ndarray, int]
"""An array that may begin with a frame axis: its name, the array, the axes that it has without frames."""

NumberRow = tuple[Any, ...]
"""(row position, row, column position, column, x, value, low, high, text); the end may be left out."""


@dataclass(frozen=True, kw_only=True)
class Panel(ABC):
    """A part of a board: its arrays, the room that it needs on paper, its drawing there, its numbers.

    main: whether it is in sight before a person asks for more; where no panel is, all are.
    """

    main: bool = False

    holds_numbers: ClassVar[bool] = True
    in_the_middle: ClassVar[bool] = False
    """Whether it stands in the middle of its row's height instead of at its top."""
    narrowest: ClassVar[float] = 1.0
    """The share of its width in which it can still be read."""
    keeps_shape: ClassVar[bool] = False
    """Whether it is less high where it is narrower."""

    def framed(self) -> list[Framed]:
        """Every array that may have frames."""
        return []

    def message(self) -> dict[str, Any]:
        """What the browser gets to draw it; `drawn_by` names the module that draws, by default the kind's."""
        return {spec.name: getattr(self, spec.name) for spec in fields(self)}

    @property
    def n_cells(self) -> int:
        """How many cells it has side by side; their width is the same in all panels of a row."""
        return 0

    @abstractmethod
    def room(self, cell: int) -> Room:
        """The pixels that it needs on paper, where shared cells are `cell` pixels wide."""

    def narrowed(self, room: Room, across: int | float) -> Room:
        """The room where it may take only so many pixels across, as in the column of a paper."""
        share = max(self.narrowest, (across - room.left - room.right) / room.width)
        height = room.height * share if self.keeps_shape else room.height
        return replace(room, width=room.width * share, height=height)

    @abstractmethod
    def draw(self, place: Place, frame: int) -> Drawing:
        """What it adds to the figure of one frame."""

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        """The numbers of one frame."""
        yield from ()


def grid_numbers(values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> Iterator[NumberRow]:
    """The numbers of [row, column], with the names of both where they have any."""
    for (i, j), value in np.ndenumerate(values.astype(int) if values.dtype == bool else values):
        yield i, rows[i] if rows else None, j, columns[j] if columns else None, None, value, None, None
