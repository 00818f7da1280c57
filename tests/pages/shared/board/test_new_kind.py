"""A kind of panel is one class: a board draws it and asks it for its numbers, without a list of the kinds."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attention_lab.pages.shared.board import takeaway
from attention_lab.viz_core.boards import Board, Panel, Scrub, board_figure
from attention_lab.viz_core.boards.panel import Drawing, Framed, NumberRow, Place, Room
from attention_lab.viz_core.viewer.message import pack


@dataclass(frozen=True, kw_only=True)
class Gauge(Panel):
    """One number, written large."""

    reading: np.ndarray  # [*frame]

    def framed(self) -> list[Framed]:
        return [("reading", self.reading, 0)]

    def room(self, cell: int) -> Room:
        return Room(width=100, height=50)

    def draw(self, place: Place, frame: int) -> Drawing:
        return Drawing(notes=[place.note(f"{self.reading[frame]:g} bar", 0, 0)])

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        yield 0, "pressure", None, None, None, self.reading[frame]


BOARD = Board(
    rows=[[Gauge(reading=np.array([1.5, 2.5]))]],
    notice="",
    scrub=Scrub(field="t", label="time", values=np.array([0.0, 1.0])),
)


def test_a_new_kind_is_drawn_taken_away_and_sent() -> None:
    figures = [board_figure(BOARD, frame=frame) for frame in range(2)]
    assert [figure.layout.annotations[-1].text for figure in figures] == ["1.5 bar", "2.5 bar"]
    assert '"1","0","pressure","","","","2.5",' in takeaway.table(BOARD, 1)
    packed = pack(board=BOARD)
    described, arrays = json.loads(packed.header)["board"], packed.arrays
    assert described["rows"][0][0]["kind"] == "Gauge"
    assert np.frombuffer(arrays, np.float32).tolist()[2:] == [0, 1]
