"""A chart: Plotly traces and axes, described once for the page, the take-away and a notebook.

The description has kinds of placeholders, because only the code that draws it knows their values: `Moving`
and `Worded` (which frame?), `Paint` (light or dark?) and `Written` (how are numbers written here?).
The browser fills them in with plot_layout.js of the viewer; `filled` does so for figures made in Python.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .. import theme
from ..labels import SPACING, brief, power_of_ten, short, skipping, text_width
from .panel import CAPTION, CHART, SMALL, Colour, Drawing, Pair, Panel, Place, Room, extent, room_for, word


def span(values: np.ndarray, log: bool, room: int | float = 0) -> Pair:
    """The lowest and highest number that can be drawn, with a share of their distance added at both ends."""
    low, high = extent(values[values > 0] if log else values)
    if high - low <= 1e-9 * abs(high):  # one number, but for its last bits
        around = abs(low) or 1.0
        return (low / 2, high * 2) if log else (low - around, low + around)
    if log:
        more = (high / low) ** room
        return low / more, high * more
    more = (high - low) * room
    return low - more, high + more


def scale(ends: Pair, log: bool) -> dict[str, Any]:
    """An axis between two numbers, as Plotly takes it; a logarithmic one names a few powers of ten."""
    if not log:
        return {"range": list(ends)}
    low, high = (float(end) for end in np.log10(ends))
    powers = range(int(np.ceil(low)), int(np.floor(high)) + 1)
    if len(powers) < 2:
        return {"type": "log", "range": [low, high]}
    ticks = powers[:: max(1, -(-len(powers) // 5))]
    # All in full, or all with an exponent where one would be long.
    in_full = all(-4 < power < 5 for power in ticks)
    texts = [f"{10.0**power:,g}" if in_full else power_of_ten(power) for power in ticks]
    return {
        "type": "log",
        "range": [low, high],
        "tickvals": [10.0**power for power in ticks],
        "ticktext": texts,
    }


WRITTEN_ROOM = 34  # pixels from one number over a bar to the next


@dataclass(frozen=True)
class Moving:
    """Values [frame, ...]: each frame shows one entry."""

    values: np.ndarray


@dataclass(frozen=True)
class Worded:
    """Words that change from frame to frame: `at` [frame] says which of the rows."""

    rows: Sequence[Sequence[str]]
    at: np.ndarray


@dataclass(frozen=True)
class Paint:
    """A colour of the theme; "sequential" and "diverging" are colour scales."""

    name: Colour | Literal["ink", "grid", "background", "sequential", "diverging"]
    alpha: float = 1.0


@dataclass(frozen=True)
class Written:
    """Numbers that are written as texts, with so many digits, or three of any number.

    nan_is_empty: NaN stands for what is not computed yet.
    """

    values: np.ndarray | Moving
    digits: int | None = None
    nan_is_empty: bool = False


@dataclass(frozen=True, kw_only=True)
class Chart:
    """What a chart shows.

    traces, x, y: as Plotly takes them, with placeholders. The `names` of an axis stand at 0, 1, 2, ...; as
    many are drawn as have room. form: "wide" fills its row, "square" has equal units, "cells" has one square
    for each row and column. under: the colour of the body itself, below all traces. shapes: as Plotly takes
    them, on the axes x and y.
    """

    traces: Sequence[dict[str, Any]]
    x: dict[str, Any] = field(default_factory=dict)
    y: dict[str, Any] = field(default_factory=dict)
    form: Literal["wide", "square", "cells"] = "wide"
    under: Paint | None = None
    shapes: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True, kw_only=True)
class ChartPanel(Panel):
    """A panel that Plotly draws, on the page and everywhere else."""

    narrowest = 0.2

    title: str = ""

    @cached_property
    def chart(self) -> Chart:
        """The panel as a chart."""
        return self.describe()

    @abstractmethod
    def describe(self) -> Chart:
        """The panel as a chart; its arrays are the panel's own wherever they can be."""

    def message(self) -> dict[str, Any]:
        """What the browser gets: the chart, and the panel's texts and settings."""
        message = {name: value for name, value in super().message().items() if not _has_arrays(value)}
        return message | {"chart": self.chart, "drawn_by": "plot"}

    def draw(self, place: Place, frame: int) -> Drawing:
        chart = self.chart
        x, y = (
            _with_ticks(axis, pixels) for axis, pixels in ((chart.x, place.width), (chart.y, place.height))
        )
        n_names = len(chart.x.get("names", ()))
        has_room = not n_names or place.width / n_names >= WRITTEN_ROOM
        traces = [
            filled(trace, frame, place.dark) | place.on
            for trace in chart.traces
            if has_room or trace.get("mode") != "text"
        ]
        axes = place.axes(filled(x, frame, place.dark), filled(y, frame, place.dark))
        return Drawing(traces, axes, place.caption(self.title, 8))


def filled(value: Any, frame: int, dark: bool) -> Any:
    """A description with its placeholders filled in; numbers that are not finite become NaN, a gap."""
    match value:
        case Moving():
            return filled(value.values[frame], frame, dark)
        case Worded():
            return list(value.rows[int(value.at[frame])])
        case Paint(name=name, alpha=alpha):
            return _colour(name, alpha, dark)
        case Written():
            numbers = value.values.values[frame] if isinstance(value.values, Moving) else value.values
            return [_said(number, value) for number in numbers.astype(float).tolist()]
        case np.ndarray() if value.dtype.kind == "f":
            return np.where(np.isfinite(value), value, np.nan)
        case dict():
            return {key: filled(entry, frame, dark) for key, entry in value.items()}
        case list() | tuple():
            return [filled(entry, frame, dark) for entry in value]
    return value


def _colour(name: str | int, alpha: float, dark: bool) -> str | theme.ColourScale:
    if name in ("sequential", "diverging"):
        return theme.colour_scale(str(name), dark)
    colour = theme.head_colour(name, dark) if isinstance(name, int) else theme.palette(dark)[name]
    return colour if alpha == 1 else theme.with_alpha(colour, alpha)


def _said(number: float, how: Written) -> str:
    if np.isnan(number) and how.nan_is_empty:
        return ""
    return short(number) if how.digits is None else brief(number, how.digits)


def _with_ticks(axis: dict[str, Any], pixels: int | float) -> dict[str, Any]:
    """The axis with as many of its names as fit: all in one line, every other one a line lower, or fewer."""
    if "names" not in axis:
        return axis
    rest = {key: value for key, value in axis.items() if key != "names"}
    names = [word(name, 12) for name in axis["names"]]
    step = pixels / max(1, len(names))
    room = SPACING if axis.get("side") == "left" or axis.get("tickangle") == -90 else room_for(names) + 6
    every = max(1, -int(-room // step))
    if every == 2 and axis.get("tickangle") == 0:
        names, every = [f"<br>{name}" if at % 2 else name for at, name in enumerate(names)], 1
    places = range(0, len(names), every)
    if rest.get("title", {}).get("text"):
        rest["title"] = {**rest["title"], "text": rest["title"]["text"] + skipping(axis["names"], every)}
    return rest | {"tickvals": list(places), "ticktext": [names[at] for at in places]}


def _has_arrays(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_has_arrays(entry) for entry in value)
    return isinstance(value, np.ndarray) or is_dataclass(value)


_LINE = 20


@dataclass(frozen=True, kw_only=True)
class LegendPanel(ChartPanel):
    """A wide chart whose traces a legend names, unless it would name one alone and the title does so."""

    @property
    @abstractmethod
    def listed(self) -> Sequence[str]:
        """The names in the legend."""

    @property
    def has_legend(self) -> bool:
        """Whether the legend is drawn."""
        return len(self.listed) != 1 or not self.title

    def room(self, cell: int) -> Room:
        above = 8 + CAPTION * bool(self.title) + _LINE * self._lines(CHART["width"])
        return Room(above=above, **CHART)

    def narrowed(self, room: Room, across: int | float) -> Room:
        room = super().narrowed(room, across)
        return replace(room, above=8 + CAPTION * bool(self.title) + _LINE * self._lines(room.width))

    def draw(self, place: Place, frame: int) -> Drawing:
        drawing = super().draw(place, frame)
        drawing.notes = place.caption(self.title, 8 + _LINE * self._lines(place.width))
        (left, _), (_, top) = place.domain["x"], place.domain["y"]
        drawing.axes[f"legend{place.number}"] = {
            "x": left, "y": top, "xanchor": "left", "yanchor": "bottom", "orientation": "h",
            "font": {"size": SMALL}, "bgcolor": "rgba(0, 0, 0, 0)",
        }  # fmt: skip
        for trace in drawing.traces:
            trace["legend"] = f"legend{place.number}"
        return drawing

    def _lines(self, width: int | float) -> int:
        """How many lines the legend takes in a chart of this width."""
        if not self.has_legend:
            return 0
        rows, used = 1, 0.0
        for name in self.listed:
            needed = text_width(name, SMALL) + 60
            rows, used = (rows + 1, needed) if used and used + needed > width else (rows, used + needed)
        return rows
