"""A chart with a legend above it, in as many lines as its names need."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from viz_core._axes import text_width
from viz_core.boards.chart import ChartPanel
from viz_core.boards.sheet import CAPTION, CHART, SMALL, Drawing, Place, Room

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
        rows, taken = 1, 0.0
        for name in self.listed:
            needed = text_width(name, SMALL) + 60
            rows, taken = (rows + 1, needed) if taken and taken + needed > width else (rows, taken + needed)
        return rows
