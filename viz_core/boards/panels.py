"""What a board is made of: matrices, curves, bars, diagrams, tables, facts; each checks what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz_core._checks import check_axes, check_frames, check_length

Role = Literal["query", "key", "value"]
Colour = Role | Literal["accent", "muted"] | int
"""A role's colour, one of the theme's, or the colour of a head by its number."""


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Numbers in cells, coloured by size: attention as [query, key], vectors as [position, channel].

    values: [*frame, row, column]; -inf is drawn as masked, NaN and inf as what they are.
    nan_is_empty: NaN stands for what is not computed yet, and leaves its cell empty.
    scale: "weights" colours 0..1; "signed" colours -reach..reach; "mask" knows only 0 and 1; "plain" has no
    colour and serves as a table. reach: the number of the strongest colour; by default the largest |value|.
    row_axis, column_axis: what rows and columns are; panels of a board that share an axis light up together.
    edit: name of the page's input that the cells write: numbers, or with scale "mask" cells that flip.
    words: what the cells of scale "mask" say for 0 and for 1; by default 0 and 1, where they flip nothing.
    texts: [row][column], words that small matrices write into their cells instead of numbers.
    row_heads, column_heads: a head number per row or column (-1: none), its colour drawn along the edge.
    picture: colours without numbers, as large matrices are drawn, however small it is.
    named: a picture in which every row and column has room for its name.
    small: a thumbnail; its names are told, not written, and a press shows it in the board's `large` matrix.
    large: shows the thumbnail that was pressed last; before that, what it holds itself.
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
    reach: int | float | None = None
    digits: int = 2
    edit: str | None = None
    words: tuple[str, str] | tuple[()] = ()
    texts: Sequence[Sequence[str]] = ()
    row_heads: Sequence[int] = ()
    column_heads: Sequence[int] = ()
    marked: np.ndarray | None = None
    nan_is_empty: bool = False
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


@dataclass(frozen=True, kw_only=True)
class Line:
    """One curve: y [*frame, point]; low and high [*frame, point] bound a band around it."""

    y: np.ndarray
    name: str
    colour: Colour = "accent"
    dashed: bool = False
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    @property
    def arrays(self) -> list[np.ndarray]:
        """y, and the bounds of its band if it has one."""
        return [array for array in (self.y, self.low, self.high) if array is not None]


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Lines over x [point]; `at` [frame] is the x at which each frame stands, drawn as an upright."""

    x: np.ndarray
    lines: Sequence[Line]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    y_range: tuple[int | float, int | float] | None = None
    at: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_axes("x", self.x, "point")
        if self.at is not None:
            check_axes("at", self.at, "frame")
        for line in self.lines:
            if (line.low is None) != (line.high is None):
                raise ValueError(f"line {line.name!r} has one bound of a band; give both, low and high")
            for array in line.arrays:
                check_frames(f"line {line.name!r}", array, "point")
                if array.shape[-1] != len(self.x):
                    raise ValueError(
                        f"line {line.name!r} has {array.shape[-1]} points, x has {len(self.x)}; give as many"
                    )


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Upright bars: a softmax over tokens, a histogram. values: [*frame, bar]; labels: a name per bar.

    reach, low: the upper and the lower end of the axis; by default it holds 0 and all values.
    nan_is_empty: NaN stands for what is not computed yet, and has neither bar nor number.
    """

    values: np.ndarray
    labels: Sequence[str]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    colour: Colour = "accent"
    reach: int | float | None = None
    low: int | float | None = None
    nan_is_empty: bool = False
    digits: int = 2
    axis: str = ""

    def __post_init__(self) -> None:
        check_frames("values", self.values, "bar")
        check_length("labels", self.labels, self.values.shape[-1], needed=True)


@dataclass(frozen=True, kw_only=True)
class Plane:
    """Arrows from the origin: vectors [*frame, arrow, 2], in a square of -reach..reach."""

    vectors: np.ndarray
    names: Sequence[str]
    colours: Sequence[Colour]
    title: str = ""
    reach: int | float | None = None
    circle: bool = False

    def __post_init__(self) -> None:
        check_frames("vectors", self.vectors, "arrow xy")
        check_length("names", self.names, self.vectors.shape[-2], needed=True)
        check_length("colours", self.colours, self.vectors.shape[-2], needed=True)


@dataclass(frozen=True, kw_only=True)
class Layers:
    """Tokens of layer 0 at the bottom, of the last layer on top, and what each may look at below it.

    links: bool [query, key], True = may attend, the same in every layer. lit: bool [*frame, layer, token],
    the nodes that stand out (layer 0 first); a link is lit when both its ends are.
    """

    tokens: Sequence[str]
    links: np.ndarray
    lit: np.ndarray
    title: str = ""

    def __post_init__(self) -> None:
        check_frames("lit", self.lit, "layer token")
        n = len(self.tokens)
        if self.links.shape != (n, n) or self.lit.shape[-1] != n:
            raise ValueError(
                f"links {self.links.shape} and lit {self.lit.shape} do not fit {n} tokens; "
                "give [query, key] and [layer, token]"
            )


@dataclass(frozen=True, kw_only=True)
class Node:
    """A box of a diagram, at a column (left to right) and a row (top to bottom); halves are allowed.

    note: a second, smaller line under the label. frame: where pressing the box moves the board's scrub.
    """

    id: str
    label: str
    column: int | float
    row: int | float
    colour: Colour | None = None
    changed: bool = False
    note: str = ""
    frame: int | None = None


@dataclass(frozen=True, kw_only=True)
class Diagram:
    """Boxes and arrows; what changed against the step before is marked. edges: (from id, to id).

    levels: [*frame, node], how far a box stands out: 0 not there yet, 1 faint, 2 plain, 3 lit; an edge is as
    its lower end. row_height: pixels from row to row.
    """

    nodes: Sequence[Node]
    edges: Sequence[tuple[str, str]]
    title: str = ""
    levels: np.ndarray | None = None
    row_height: int = 56

    def __post_init__(self) -> None:
        known = [node.id for node in self.nodes]
        for edge in self.edges:
            for end in edge:
                if end not in known:
                    raise ValueError(f"edge {edge} ends at {end!r}, which is no node; name one of {known}")
        if len(set(known)) < len(known):
            raise ValueError(f"nodes {known} have an id twice; give each its own")
        if self.levels is not None:
            check_frames("levels", self.levels, "node")
            check_length("levels", range(self.levels.shape[-1]), len(self.nodes), needed=True)
        if self.row_height < 26:
            raise ValueError(f"row_height={self.row_height} leaves no room for a word; give at least 26")


@dataclass(frozen=True, kw_only=True)
class Table:
    """Words and finished numbers in rows; the first column names the row.

    rows: a text for each column. marked: bool [*frame, row], the rows that stand out.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    marked: np.ndarray | None = None

    def __post_init__(self) -> None:
        for row in self.rows:
            check_length(f"row {list(row)[:1]}", row, len(self.columns), needed=True)
        if self.marked is not None:
            check_frames("marked", self.marked, "row")
            check_length("marked", range(self.marked.shape[-1]), len(self.rows), needed=True)


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One number that counts, large: values [*frame] in `unit`, or words."""

    label: str
    values: np.ndarray | str
    digits: int = 2
    unit: str = ""
    colour: Colour | None = None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Numbers side by side."""

    facts: Sequence[Fact]
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Sign:
    """What stands between panels of an equation: =, +, ×, softmax(."""

    text: str


Panel = Matrix | Curves | Bars | Plane | Layers | Diagram | Table | Facts | Sign
