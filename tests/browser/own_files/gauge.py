"""A kind of panel of one's own, drawn by gauge.js, as somebody would put both into the folders of kinds."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attention_lab.viz_core.boards.panel import Drawing, Framed, NumberRow, Panel, Place, Room


@dataclass(frozen=True, kw_only=True)
class Gauge(Panel):
    """One number [frame] on a dial that ends at `most`."""

    title: str
    reading: np.ndarray
    most: float

    def framed(self) -> list[Framed]:
        return [(self.title, self.reading, 0)]

    def room(self, cell: int) -> Room:
        return Room(width=120, height=60, above=24)

    def draw(self, place: Place, frame: int) -> Drawing:
        words = place.note(f"{self.reading[frame]:g} of {self.most:g}", 0, 0)
        return Drawing(notes=[*place.caption(self.title, 4), words])

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        yield 0, "reading", None, None, None, self.reading[frame]
