"""The interface of every panel of a board; each kind of panel is a class in viz_core/boards/panels."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from viz_core.boards.sheet import Drawing, Place, Room

Framed = tuple[str, np.ndarray, int]
"""An array that may begin with a frame axis: its name, the array, the axes that it has without frames."""

NumberRow = tuple[Any, ...]
"""(row position, row, column position, column, x, value, low, high, text); the end may be left out."""


@dataclass(frozen=True, kw_only=True)
class Panel(ABC):
    """A part of a board: its arrays, the room that it needs on paper, its drawing there, its numbers."""

    holds_numbers: ClassVar[bool] = True
    in_the_middle: ClassVar[bool] = False
    """Whether it stands in the middle of its row's height instead of at its top."""

    def framed(self) -> list[Framed]:
        """Every array that may have frames."""
        return []

    def sent(self) -> dict[str, Any]:
        """What the browser gets to draw it; `drawn_by` names the module that draws, by default the kind's."""
        return {spec.name: getattr(self, spec.name) for spec in fields(self)}

    @property
    def has_frames(self) -> bool:
        """Whether anything in the panel depends on the frame."""
        return any(array.ndim > own_axes for _, array, own_axes in self.framed())

    @property
    def n_cells(self) -> int:
        """How many cells it has side by side; their width is the same in all panels of a row."""
        return 0

    @abstractmethod
    def room(self, cell: int) -> Room:
        """The pixels that it needs on paper, where shared cells are `cell` pixels wide."""

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
