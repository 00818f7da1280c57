"""What stands between the panels of an equation."""

from dataclasses import dataclass
from typing import ClassVar

from ...labels import escape, text_width
from ..panel import Drawing, Panel, Place, Room

_SIZE = 22


@dataclass(frozen=True)
class Sign(Panel):
    """What stands between panels of an equation: =, +, ×, softmax(."""

    text: str

    holds_numbers: ClassVar[bool] = False
    in_the_middle: ClassVar[bool] = True

    def room(self, cell: int) -> Room:
        return Room(width=text_width(self.text, _SIZE), height=_SIZE)

    def draw(self, place: Place, frame: int) -> Drawing:
        font = {"size": _SIZE, "color": place.palette["muted"]}
        middle = place.note(
            escape(self.text),
            place.width / 2,
            place.height / 2,
            xanchor="center",
            yanchor="middle",
            font=font,
        )
        return Drawing(notes=[middle])
