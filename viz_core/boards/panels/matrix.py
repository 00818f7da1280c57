"""Numbers in cells: small matrices as a table, large ones as a picture with a colour bar."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np

from ... import theme
from ..._checks import check_frames, check_length
from ...labels import SPACING, brief, label_step, skipping
from ..chart import Chart, ChartPanel, Moving, Paint, filled
from ..panel import (
    CAPTION,
    SMALL,
    Drawing,
    Framed,
    NumberRow,
    Panel,
    Place,
    Role,
    Room,
    Trace,
    at_frame,
    extent,
    grid_numbers,
    reach_of,
    room_for,
    word,
)

_MOST_ROWS, _MOST_COLUMNS = 24, 26
_AXIS = 22
_BAR = 80
_THUMBNAIL = 110
CUT = "cut"
"""As the `meta` of a trace: the lines along which a matrix is cut."""
MASKED = Paint("muted", 0.16)
"""What a mask forbids: neither a colour of the scales nor the page's own."""


@dataclass(frozen=True, kw_only=True)
class Matrix(ChartPanel):
    """Numbers in cells, coloured by size: attention as [query, key], vectors as [position, channel].

    values: [*frame, row, column]; -inf is drawn as masked, NaN and inf as such.
    nan_is_empty: NaN stands for what is not computed yet, and leaves its cell empty.
    scale: "weights" colours 0..1; "signed" colours -reach..reach; "mask" knows only 0 and 1; "plain" has no
    colour and serves as a table. reach: the number of the strongest colour; by default the largest |value|.
    quantity: what the numbers of scale "weights" are called.
    row_axis, column_axis: what rows and columns are; panels of a board that share an axis light up together.
    edit: name of the page's input that the cells write: numbers, or with scale "mask" cells that flip.
    choose: name of the page's input that a press on a cell sets to its place, as "row.column".
    words: what the cells of scale "mask" say for 0 and for 1, in no number's colour. Without words, cells
    that cannot be flipped say 0 and 1.
    texts: [row][column], words that small matrices write into their cells instead of numbers.
    row_heads, column_heads: a head number per row or column (-1: none), its colour drawn along the edge.
    picture: colours without numbers, as large matrices are drawn, however small it is.
    sums: a picture whose columns add up: they light up one after another.
    named: a picture in which every row and column has room for its name.
    gap: what NaN stands for, in words, where it is no number at all: such cells are hatched.
    together: the name of its number. Matrices of a board that have one mark the same cell where one of them
    is pointed at, and each says its number.
    small: a thumbnail; only hovering shows its names, and a press shows it in the board's `large` matrix.
    frame: of a thumbnail, where a press moves the board's scrub instead.
    large: shows the thumbnail that was pressed last; before that, its own values.
    marked: [*frame, row, column], True where a cell is to stand out.
    """

    keeps_shape = True

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
    sums: bool = False
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
        """The matrix as a heat map, with the first row on top."""
        n_rows, n_columns = self.values.shape[-2:]
        traces = [_heat(self), *([] if self.is_table else _cuts(self))]
        if self.marked is not None:
            traces.append(_outlines(self.marked, Paint("accent" if self.is_table else "ink")))
        blank = np.isnan if self.gap else np.isneginf
        masked = self.values.dtype.kind == "f" and bool(blank(self.values).any())
        return Chart(
            traces=traces,
            x={
                **_axis(self.columns, self.column_axis, self.column_heads, "{} →"),
                "side": "top",
                "range": [-0.5, n_columns - 0.5],
            },
            # The axis's title is read upwards, its rows downwards.
            y={**_axis(self.rows, self.row_axis, self.row_heads, "← {}"), "range": [n_rows - 0.5, -0.5]},
            form="cells",
            under=MASKED if masked else None,
            shapes=[*_strips(self.column_heads, "x", "y"), *_strips(self.row_heads, "y", "x")],
        )

    def message(self) -> dict[str, Any]:
        """Our own code draws tables. A thumbnail sends its chart, too, since the large matrix may show it."""
        drawn_by = "thumbnail" if self.small else "plot"
        return Panel.message(self) | ({} if self.is_table else {"chart": self.chart, "drawn_by": drawn_by})

    def room(self, cell: int) -> Room:
        n_rows, n_columns = self.values.shape[-2:]
        if self.small:
            high = max(24.0, min(2.0 * _THUMBNAIL, _THUMBNAIL * n_rows / n_columns))
            return Room(width=_THUMBNAIL, height=high, above=CAPTION * bool(self.title))
        names = room_for([word(name) for name in self.rows])
        left = names + 8 + (_AXIS if self.row_axis else 0)
        above = CAPTION * bool(self.title) + _above(self, cell)
        if self.is_table:
            tall = n_rows * max(24, cell * 0.62)
            return Room(width=n_columns * cell, height=tall, left=left, above=above, below=8, right=4)
        side = max(2.0, min(20, 520 / n_columns, 460 / n_rows))
        wide, tall = max(220, n_columns * side), max(120, n_rows * side)
        return Room(width=wide, height=tall, left=left, above=above, right=_BAR)

    def draw(self, place: Place, frame: int) -> Drawing:
        values = at_frame(self.values, frame, 2)  # [row, column]
        blank = (values == 0) if self.scale == "mask" else ~np.isfinite(values)
        texts = _texts(values, self, place.width / values.shape[1])
        heat, *outlines = (filled(trace, frame, place.dark) for trace in self.chart.traces)
        drawing = Drawing([_cells(values, blank, texts, self, heat, place)], _axes_of(self, place))
        # A trace in one frame is in every frame, so that all have the same traces.
        if self.scale == "mask" or not np.isfinite(self.values).all():
            drawing.traces.append(_blank_cells(values, blank, texts, self, heat, place))
        drawing.traces += [outline | place.on for outline in outlines]
        up = 0 if self.small else _above(self, int(place.width / values.shape[1]))
        drawing.notes = place.caption(self.title, up, place.palette[self.role] if self.role else None)
        for shape in self.chart.shapes:
            on = {ref: shape[ref].replace(ref[0], place.on[f"{ref[0]}axis"]) for ref in ("xref", "yref")}
            drawing.shapes.append(filled(shape, frame, place.dark) | on)
        return drawing

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        return grid_numbers(at_frame(self.values, frame, 2), self.rows, self.columns)


def query_by_key(queries: Sequence[str], keys: Sequence[str] | None = None) -> dict[str, Any]:
    """What a matrix of attention says of its rows and columns; without keys, both are the same tokens."""
    keys = queries if keys is None else keys
    return {"rows": queries, "columns": keys, "row_axis": "query", "column_axis": "key"}


def _heat(panel: Matrix) -> dict[str, Any]:
    from_zero = panel.scale in ("weights", "mask")
    reach = 1.0 if from_zero else reach_of(panel.values, panel.reach)
    scale = Paint("diverging" if panel.scale == "signed" else "sequential")
    plain = [[0, Paint("muted", 0.08)], [1, Paint("muted", 0.08)]]
    row, column = (
        word(axis) or usual for axis, usual in ((panel.row_axis, "row"), (panel.column_axis, "column"))
    )
    prefix = "" if panel.quantity == "weight" else f"{word(panel.quantity, 40)} "
    return dict(
        type="heatmap",
        z=panel.values if panel.values.ndim == 2 else Moving(panel.values),
        zmin=0 if from_zero else -reach,
        zmax=reach,
        colorscale=plain if panel.scale == "plain" or panel.words else scale,
        showscale=False,
        hovertemplate=(
            f"{row} <b>%{{y}}</b><br>{column} <b>%{{x}}</b><br>{prefix}<b>%{{z:.5~g}}</b><extra></extra>"
        ),
    )


def _cuts(panel: Matrix) -> list[dict[str, Any]]:
    """Gaps where one head's columns or rows end and those of the next begin."""
    n_rows, n_columns = panel.values.shape[-2:]
    ends = [
        [at - 0.5 for at in range(1, len(heads)) if heads[at] != heads[at - 1]]
        for heads in (panel.column_heads, panel.row_heads)
    ]
    x = [place for at in ends[0] for place in (at, at, np.nan)] + [-0.5, n_columns - 0.5, np.nan] * len(
        ends[1]
    )
    y = [-0.5, n_rows - 0.5, np.nan] * len(ends[0]) + [place for at in ends[1] for place in (at, at, np.nan)]
    return [_line(np.array(x), np.array(y), Paint("background"), 3) | {"meta": CUT}] if x else []


def _line(x: Any, y: Any, colour: Paint, width: int | float) -> dict[str, Any]:
    return dict(
        type="scatter", x=x, y=y, mode="lines", line={"color": colour, "width": width}, hoverinfo="skip",
        showlegend=False,
    )  # fmt: skip


def _outlines(marked: np.ndarray, colour: Paint) -> dict[str, Any]:
    """Lines around the marked cells of each frame."""
    paths = [_outline(each.astype(bool)) for each in marked.reshape(-1, *marked.shape[-2:])]
    longest = max(2, *(len(path) for path in paths))
    padded = np.full((len(paths), longest, 2), np.nan, np.float32)  # [frame, point, xy]
    for path, room in zip(paths, padded, strict=True):
        room[: len(path)] = path
    x, y = (padded[..., axis] for axis in (0, 1))
    moves = marked.ndim > 2
    return _line(Moving(x) if moves else x[0], Moving(y) if moves else y[0], colour, 2.5)


def _outline(marked: np.ndarray) -> np.ndarray:
    """[point, xy]: the edges between marked cells and others, each a line that NaN ends."""
    around = np.pad(marked, 1)
    inner = (slice(1, -1), slice(1, -1))
    sides = []
    for shift, start, end in (
        ((1, 0), (-0.5, -0.5), (0.5, -0.5)),  # above
        ((-1, 0), (-0.5, 0.5), (0.5, 0.5)),
        ((0, 1), (-0.5, -0.5), (-0.5, 0.5)),  # on the left
        ((0, -1), (0.5, -0.5), (0.5, 0.5)),
    ):
        rows, columns = np.nonzero(marked & ~np.roll(around, shift, (0, 1))[inner])
        corners = np.array([start, end, (np.nan, np.nan)])
        sides.append((np.stack([columns, rows], -1)[:, None] + corners).reshape(-1, 2))
    return np.concatenate(sides)


def _axis(names: Sequence[str], axis: str, heads: Sequence[int], title: str) -> dict[str, Any]:
    colour = Paint(axis) if axis in ("query", "key", "value") else Paint("muted")  # type: ignore[arg-type]
    text = title.format(word(axis, 40)) if axis else ""
    return {
        "names": list(names),
        "title": {"text": text, "font": {"size": SMALL + 1, "color": colour}, "standoff": 4},
        "showgrid": False,
        "ticks": "",
        "ticklabelstandoff": 9 if heads else 4,  # pixels; the heads' strips lie between
    }


def _strips(heads: Sequence[int], along: str, across: str) -> list[dict[str, Any]]:
    """The heads' colours along an edge; one strip for neighbours of one head."""
    strips, at = [], 0
    for head, run in groupby(heads):
        start, at = at, at + len(list(run))
        if head < 0:
            continue
        ends, edge = ((1, 5), 1) if across == "y" else ((-5, -1), 0)  # pixels: up, and to the left
        strips.append(
            {
                "type": "rect", f"{along}ref": along, f"{across}ref": f"{across} domain",
                f"{along}0": start - 0.45, f"{along}1": at - 0.55,
                f"{across}0": ends[0], f"{across}1": ends[1],
                f"{across}sizemode": "pixel", f"{across}anchor": edge,
                "fillcolor": Paint(head), "line": {"width": 0},
            }
        )  # fmt: skip
    return strips


def _upright(panel: Matrix, cell: int | float) -> bool:
    return room_for([word(name) for name in panel.columns]) > cell + 6


def _above(panel: Matrix, cell: int) -> int | float:
    """The pixels that the columns' names and their axis need."""
    names = [word(name) for name in panel.columns]
    labels = (room_for(names) + 10 if _upright(panel, cell) else 22) if names else 8
    return labels + (_AXIS if panel.column_axis else 0)


def _font(panel: Matrix, cell: int | float) -> int | float:
    """The font size at which the longest number fits a cell; words are cut instead."""
    if panel.texts:
        return SMALL
    low, high = extent(panel.values)
    letters = max(2, *(len(brief(number, panel.digits)) for number in (low, high)))
    return min(16, (cell - 6) / (0.58 * letters))


def _texts(values: np.ndarray, panel: Matrix, cell: int | float) -> np.ndarray | None:
    """The number or word in each cell, or None where they do not fit."""
    if panel.scale == "mask" and panel.is_table:
        off, on = panel.words or (("", "") if panel.edit else ("0", "1"))
        return np.where(values != 0, word(on), word(off))
    if not panel.is_table or _font(panel, cell) < 9:
        return None
    if panel.texts:
        longest = max(1, int(cell / (0.62 * SMALL)))
        return np.array([[word(text, longest) for text in row] for row in panel.texts])
    written_out = np.array([[brief(float(value), panel.digits) for value in row] for row in values])
    return np.where(np.isnan(values) & (panel.nan_is_empty or bool(panel.gap)), "", written_out)


def _cells(
    values: np.ndarray, blank: np.ndarray, texts: np.ndarray | None, panel: Matrix, heat: Trace, place: Place
) -> Trace:
    has_bar = not panel.is_table and not panel.small
    own = {
        "z": np.where(blank, np.nan, values).astype(np.float32),
        "showscale": has_bar and panel.scale in ("weights", "signed"),
        "colorbar": _colour_bar(place) if has_bar else None,
    }
    return heat | own | _look(texts, ~blank, panel, place)


def _blank_cells(
    values: np.ndarray, blank: np.ndarray, texts: np.ndarray | None, panel: Matrix, heat: Trace, place: Place
) -> Trace:
    """Cells without a colour of their own: grey where masked, faint where the number is not finite."""
    gaps = np.isnan(values) & bool(panel.gap)
    masked = np.isneginf(values) | (panel.scale == "mask") | gaps
    return dict(
        type="heatmap",
        z=np.where(blank, masked, np.nan).astype(np.float32),
        zmin=0,
        zmax=1,
        colorscale=[[0, theme.with_alpha(place.palette["muted"], 0.08)], [1, filled(MASKED, 0, place.dark)]],
        showscale=False,
        customdata=np.where(gaps, word(panel.gap), np.where(masked, "masked", values.astype(str))),
        hovertemplate=heat["hovertemplate"].replace("%{z:.5~g}", "%{customdata}"),
        **_look(texts, blank, panel, place),
    )


def _look(texts: np.ndarray | None, mine: np.ndarray, panel: Matrix, place: Place) -> dict[str, Any]:
    """The style that coloured and blank cells share; each kind writes its own texts."""
    gap = 2 if panel.is_table else 0
    style = {"xgap": gap, "ygap": gap, "hoverongaps": False, **place.on}
    if texts is None:
        return style
    size = round(max(9, _font(panel, place.width / panel.values.shape[-1])), 1)
    return {**style, "text": np.where(mine, texts, ""), "texttemplate": "%{text}", "textfont": {"size": size}}


def _colour_bar(place: Place) -> dict[str, Any]:
    box = place.box(0, 0, place.width, place.height)
    return {
        "x": box["x1"] + 12 / place.sheet[0],
        "xanchor": "left",
        "xpad": 0,
        "ypad": 0,
        "y": box["y1"],
        "yanchor": "bottom",
        "lenmode": "pixels",
        "len": place.height,
        "tickfont": {"size": SMALL},
    }


def _axes_of(panel: Matrix, place: Place) -> dict[str, Any]:
    chart = panel.chart
    upright = _upright(panel, place.width / panel.values.shape[-1])
    x, y = (
        _with_names(filled(axis, 0, place.dark), length, panel.small)
        for axis, length in ((chart.x, place.width), (chart.y, place.height))
    )
    return place.axes({**x, "tickangle": -90 if upright else 0}, y)


def _with_names(axis: dict[str, Any], pixels: int | float, bare: bool) -> dict[str, Any]:
    """The axis with as many of its names as fit; a thumbnail's has neither names nor title."""
    names = [] if bare else axis["names"]
    step = 1 if len(names) * SPACING <= pixels else label_step(len(names), pixels)
    ticks = list(range(0, len(names), step))
    rest = {key: value for key, value in axis.items() if key != "names" and not (bare and key == "title")}
    if rest.get("title", {}).get("text"):
        rest["title"] = {**rest["title"], "text": rest["title"]["text"] + skipping(names, step)}
    return rest | {"tickvals": ticks, "ticktext": [word(names[at]) for at in ticks]}
