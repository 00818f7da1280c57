"""Boxes and arrows of a computation; viz_core/viewer/board/panels/diagram.js draws its arrows alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import theme
from ..._checks import check_frames, check_length
from ...labels import text_width
from ..panel import CAPTION, MEDIUM, SMALL, Colour, Drawing, Framed, Pair, Panel, Place, Room, at_frame, word

Line = tuple[Pair, Pair]


def arrows_of(edges: Sequence[Line], boxes: Sequence[Pair], size: Pair) -> list[Line]:
    """The lines of a diagram's arrows, which pass behind as few boxes as can be: all that lead to another row
    leave by the same sides. edges: from the centre of a box to that of another.
    """
    sideways, upright = ([_line(*edge, size, upright=way) for edge in edges] for way in (False, True))

    def crossings(lines: list[Line]) -> int:
        return sum(_passes(line, box, size) for line in lines for box in boxes)

    return upright if crossings(upright) < crossings(sideways) else sideways


def _line(start: Pair, end: Pair, size: Pair, *, upright: bool) -> Line:
    """From one side of a box to the facing side of another; upright: by top and bottom, where one box is
    above the other.
    """
    (x1, y1), (x2, y2) = start, end
    dx, dy = x2 - x1, y2 - y1
    if abs(dx) <= 1 or (upright and abs(dy) > size[1]):
        out = float(np.sign(dy)) * size[1] / 2
        return (x1, y1 + out), (x2, y2 - out)
    out = float(np.sign(dx)) * size[0] / 2
    return (x1 + out, y1), (x2 - out, y2)


def _passes(line: Line, box: Pair, size: Pair) -> bool:
    """Whether a line passes behind a box, and does not only touch it: no side of either parts them."""
    (x1, y1), (x2, y2) = line
    (wide, tall), (x, y) = (side - 1 for side in size), box
    dx, dy = (x2 - x1) / 2, (y2 - y1) / 2
    right, down = x - x1 - dx, y - y1 - dy  # from the line's middle
    return bool(
        abs(right) < wide / 2 + abs(dx)
        and abs(down) < tall / 2 + abs(dy)
        and abs(dx * down - dy * right) < (wide * abs(dy) + tall * abs(dx)) / 2
    )


_BOX, _NOTED_BOX, _BOX_STEP = 34, 46, 58  # height of a box, of one with a note, and from row to row
_ARROW = 40
_OPACITY = (0.0, 0.38, 1.0, 1.0)  # of a diagram's levels


@dataclass(frozen=True, kw_only=True)
class Node:
    """A box of a diagram, at a column (left to right) and a row (top to bottom); halves are allowed.

    note: a second, smaller line under the label. frame: where pressing the box moves the board's scrub.
    is_token: whether the label is a model's, which no language changes.
    """

    id: str
    label: str
    column: int | float
    row: int | float
    colour: Colour | None = None
    changed: bool = False
    note: str = ""
    frame: int | None = None
    is_token: bool = False


@dataclass(frozen=True, kw_only=True)
class Diagram(Panel):
    """Boxes and arrows; what changed against the step before is marked. edges: (from id, to id).

    levels: [*frame, node], how far a box stands out: 0 not there yet, 1 faint, 2 plain, 3 lit; an edge has
    the lower level of its two ends. row_height: pixels from row to row.
    """

    narrowest = 0.64

    nodes: Sequence[Node]
    edges: Sequence[tuple[str, str]]
    title: str = ""
    levels: np.ndarray | None = None
    row_height: int = 56

    holds_numbers: ClassVar[bool] = False

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

    def framed(self) -> list[Framed]:
        return [] if self.levels is None else [("levels", self.levels, 1)]

    def room(self, cell: int) -> Room:
        columns, rows = (max(at) + 1 for at in zip(*((n.column, n.row) for n in self.nodes), strict=True))
        above = 8 + CAPTION * bool(self.title)
        width = columns * (_box_width(self) + _ARROW)
        step = max(self.row_height + 2, _box_height(self) + 6)
        return Room(width=width, height=max(90, rows * step), above=above, below=8)

    def draw(self, place: Place, frame: int) -> Drawing:
        columns = max(node.column for node in self.nodes) + 1
        rows = max(node.row for node in self.nodes) + 1
        wide, tall = _box_width(self), _box_height(self)
        centre = {
            node.id: ((node.column + 0.5) * place.width / columns, (node.row + 0.5) * place.height / rows)
            for node in self.nodes
        }
        levels = {node.id: 2 for node in self.nodes}
        if self.levels is not None:
            levels = dict(zip(levels, map(int, at_frame(self.levels, frame, 1)), strict=True))
        lines = arrows_of(
            [(centre[start], centre[end]) for start, end in self.edges], list(centre.values()), (wide, tall)
        )
        arrows: dict[float, list[Line]] = {opacity: [] for opacity in _OPACITY}
        for line, (start, end) in zip(lines, self.edges, strict=True):
            arrows[_OPACITY[min(levels[start], levels[end])]].append(_ending_before(line))
        fixed = {"visible": False, "fixedrange": True}  # the boxes stay where they are, too
        across, down = fixed | {"range": [0, place.width]}, fixed | {"range": [place.height, 0]}
        drawing = Drawing(
            traces=[_arrows(some, opacity, place) for opacity, some in arrows.items() if opacity],
            notes=place.caption(self.title, 8),
            axes=place.axes(across, down),
        )
        for node in self.nodes:
            x, y = centre[node.id]
            strong, opacity = node.changed or levels[node.id] == 3, _OPACITY[levels[node.id]]
            colour = place.palette["ink"] if node.colour is None else place.colour(node.colour)
            accent = theme.with_alpha(place.palette["accent"], 0.14)
            drawing.shapes.append(
                place.box(
                    x - wide / 2, y - tall / 2, x + wide / 2, y + tall / 2,
                    line={"color": colour, "width": 3 if strong else 1.5},
                    fillcolor=accent if strong else place.palette["background"],
                    opacity=opacity,
                )
            )  # fmt: skip
            label = f"<b>{word(node.label, 40)}</b>" if strong else word(node.label, 40)
            if node.note:
                label += f'<br><span style="font-size:{SMALL}px">{word(node.note, 40)}</span>'
            style = {"font": {"size": MEDIUM, "color": colour}, "opacity": opacity}
            drawing.notes.append(place.note(label, x, y, xanchor="center", yanchor="middle", **style))
        return drawing


def _box_width(panel: Diagram) -> int | float:
    widths = (
        max(text_width(word(node.label, 40), MEDIUM), text_width(word(node.note, 40), SMALL))
        for node in panel.nodes
    )
    return max(70, *(width + 20 for width in widths))


def _box_height(panel: Diagram) -> int | float:
    return _NOTED_BOX if any(node.note for node in panel.nodes) else _BOX


def _ending_before(line: Line) -> Line:
    """Ends two pixels before its box, whose border would cover the arrow's tip."""
    (x1, y1), (x2, y2) = line
    back = 2 / (float(np.hypot(x2 - x1, y2 - y1)) or 1)
    return line[0], (x2 - back * (x2 - x1), y2 - back * (y2 - y1))


def _arrows(lines: Sequence[Line], opacity: float, place: Place) -> dict[str, Any]:
    """Makes one trace of all arrows of an opacity: a browser takes 40 ms for an annotation with an arrow."""
    colour = theme.with_alpha(place.palette["muted"], opacity)
    return {
        "type": "scatter",
        "x": [x for (x1, _), (x2, _) in lines for x in (x1, x2, None)],
        "y": [y for (_, y1), (_, y2) in lines for y in (y1, y2, None)],
        "mode": "lines+markers",
        "line": {"color": colour, "width": 1.5},
        "marker": {
            "symbol": "arrow",
            "size": [0, 9, 0] * len(lines),
            "angleref": "previous",
            "color": colour,
        },
        "hoverinfo": "skip",
        "showlegend": False,
        **place.on,
    }
