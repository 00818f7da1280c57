"""Words and finished numbers in rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ... import theme
from ..._checks import check_frames, check_length
from ...labels import text_width
from ..panel import CAPTION, MEDIUM, Drawing, Framed, NumberRow, Panel, Place, Room, at_frame, word

_LINE = 28


@dataclass(frozen=True, kw_only=True)
class Table(Panel):
    """Words and finished numbers in rows; the first column names the row.

    rows: a text for each column. marked: bool [*frame, row], the rows that stand out. leads: a press on a row
    shows the frame of its number.
    """

    narrowest = 0.5

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    marked: np.ndarray | None = None
    leads: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            check_length(f"row {list(row)[:1]}", row, len(self.columns), needed=True)
        if self.marked is not None:
            check_frames("marked", self.marked, "row")
            check_length("marked", range(self.marked.shape[-1]), len(self.rows), needed=True)

    def framed(self) -> list[Framed]:
        return [] if self.marked is None else [("marked", self.marked, 1)]

    def room(self, cell: int) -> Room:
        height = _LINE * (len(self.rows) + 1) + 8
        return Room(width=sum(_column_widths(self)), height=height, above=CAPTION * bool(self.title))

    def draw(self, place: Place, frame: int) -> Drawing:
        p, n_rows = place.palette, len(self.rows)
        marked = at_frame(self.marked, frame, 1) if self.marked is not None else [False] * n_rows
        fills = [theme.with_alpha(p["accent"], 0.16) if mark else p["background"] for mark in marked]
        style = {"align": "left", "height": _LINE, "line": {"color": p["grid"], "width": 1}}
        table = dict(
            type="table",
            columnwidth=_column_widths(self),
            header={
                **style,
                "values": [f"<b>{word(name, 60)}</b>" for name in self.columns],
                "fill": {"color": p["background"]},
                "font": {"size": MEDIUM, "color": p["muted"]},
            },
            cells={
                **style,
                "values": [[_words(row[at]) for row in self.rows] for at in range(len(self.columns))],
                "fill": {"color": [fills]},
                "font": {"size": MEDIUM, "color": p["ink"]},
            },
            domain=place.domain,
        )
        return Drawing([table], notes=place.caption(self.title, 4))

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        for at, row in enumerate(self.rows):
            for column, text in enumerate(row):
                yield at, row[0], column, self.columns[column], None, None, None, None, text


def _words(text: str) -> str:
    """A cell's text; a blank within a number that does not break over lines is no sign of its own."""
    return word(text.replace("\N{NO-BREAK SPACE}", " "), 60)


def _column_widths(panel: Table) -> list[int | float]:
    columns = zip(panel.columns, *panel.rows, strict=True)
    return [max(text_width(_words(text), MEDIUM) for text in column) * 1.1 + 24 for column in columns]
