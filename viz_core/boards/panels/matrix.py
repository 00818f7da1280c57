"""Numbers in cells, as a table or as a picture."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from viz_core._checks import check_frames, check_length
from viz_core.boards import cells, picture
from viz_core.boards.chart import Chart, ChartPanel
from viz_core.boards.panel import Drawing, Framed, NumberRow, Panel, Place, Role, Room, at_frame, grid_numbers

_MOST_ROWS, _MOST_COLUMNS = 24, 26


@dataclass(frozen=True, kw_only=True)
class Matrix(ChartPanel):
    """Numbers in cells, coloured by size: attention as [query, key], vectors as [position, channel].

    values: [*frame, row, column]; -inf is drawn as masked, NaN and inf as what they are.
    nan_is_empty: NaN stands for what is not computed yet, and leaves its cell empty.
    scale: "weights" colours 0..1; "signed" colours -reach..reach; "mask" knows only 0 and 1; "plain" has no
    colour and serves as a table. reach: the number of the strongest colour; by default the largest |value|.
    quantity: what the numbers of scale "weights" are called.
    row_axis, column_axis: what rows and columns are; panels of a board that share an axis light up together.
    edit: name of the page's input that the cells write: numbers, or with scale "mask" cells that flip.
    choose: name of the page's input that a press on a cell sets to its place, as "row.column".
    words: what the cells of scale "mask" say for 0 and for 1; by default 0 and 1, where they flip nothing.
    texts: [row][column], words that small matrices write into their cells instead of numbers.
    row_heads, column_heads: a head number per row or column (-1: none), its colour drawn along the edge.
    picture: colours without numbers, as large matrices are drawn, however small it is.
    named: a picture in which every row and column has room for its name.
    gap: what NaN stands for, in words, where it is no number at all: such cells are hatched.
    together: what its number is called where several matrices share both axes: pointing at a cell of one
    then marks that cell in all of them, and says all their numbers.
    small: a thumbnail; only hovering shows its names, and a press shows it in the board's `large` matrix.
    frame: of a thumbnail, where a press moves the board's scrub instead.
    large: shows the thumbnail that was pressed last; before that, its own values.
    marked: [*frame, row, column], True where a cell is to stand out.
    """

    values: np.ndarray
    title: str = ""
    role: Role | None = None
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    row_axis: str = ""
    column_axis: str = ""
    scale: Literal["weights", "signed", "mask", "plain"] = "signed"
    quantity: str = "weight"
    reach: int | float | None = None
    digits: int = 2
    edit: str | None = None
    choose: str | None = None
    words: tuple[str, str] | tuple[()] = ()
    texts: Sequence[Sequence[str]] = ()
    row_heads: Sequence[int] = ()
    column_heads: Sequence[int] = ()
    marked: np.ndarray | None = None
    nan_is_empty: bool = False
    gap: str = ""
    together: str = ""
    frame: int | None = None
    picture: bool = False
    named: bool = False
    small: bool = False
    large: bool = False

    def __post_init__(self) -> None:
        check_frames("values", self.values, "row column")
        n_rows, n_columns = self.values.shape[-2:]
        for name, count in (("rows", n_rows), ("columns", n_columns)):
            check_length(name, getattr(self, name), count)
        check_length("texts", self.texts, n_rows)
        for row in self.texts:
            check_length("a row of texts", row, n_columns, needed=True)
        check_length("row_heads", self.row_heads, n_rows)
        check_length("column_heads", self.column_heads, n_columns)
        if self.marked is not None and self.marked.shape[-2:] != (n_rows, n_columns):
            raise ValueError(
                f"marked has shape {self.marked.shape}, values {self.values.shape}; give one mark a cell"
            )

    def framed(self) -> list[Framed]:
        marked = [] if self.marked is None else [("marked", self.marked, 2)]
        return [("values", self.values, 2), *marked]

    @property
    def is_table(self) -> bool:
        """Whether the matrix is small enough to show its numbers."""
        n_rows, n_columns = self.values.shape[-2:]
        is_picture = self.picture or self.small or self.large
        return not is_picture and n_rows <= _MOST_ROWS and n_columns <= _MOST_COLUMNS

    @property
    def n_cells(self) -> int:
        return self.values.shape[-1] if self.is_table else 0

    def describe(self) -> Chart:
        return picture.describe(self)

    def sent(self) -> dict[str, Any]:
        """Our own code draws tables. A thumbnail sends its chart, too, since the large matrix may show it."""
        drawn_by = "thumbnail" if self.small else "plot"
        return Panel.sent(self) | ({} if self.is_table else {"chart": self.chart, "drawn_by": drawn_by})

    def room(self, cell: int) -> Room:
        return cells.room(self, cell)

    def draw(self, place: Place, frame: int) -> Drawing:
        return cells.draw(self, place, frame)

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        return grid_numbers(at_frame(self.values, frame, 2), self.rows, self.columns)
