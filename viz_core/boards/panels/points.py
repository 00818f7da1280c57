"""Points over numbers, alone or joined by lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._checks import check_axes, check_length
from ...labels import short
from ..chart import Chart, LegendPanel, Paint, scale, span
from ..panel import SMALL, Colour, NumberRow, Pair, axis_title, word

TOLD = "told"
"""As the `meta` of a trace: the status line of the page says the `customdata` of the point pointed at."""


@dataclass(frozen=True, kw_only=True)
class Dots:
    """Points of one kind: x and y [point].

    size: pixels across, 0 for a line alone. joined: a line goes through them; stepped: it holds each value
    until the next point. said: what a point says when it is pointed at, by default its numbers.
    """

    x: np.ndarray
    y: np.ndarray
    name: str
    colour: Colour = "accent"
    size: int | float = 8
    joined: bool = False
    stepped: bool = False
    said: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Points(LegendPanel):
    """Kinds of points over each other.

    uprights: vertical lines, each an x and a few words. whole_x: x has no numbers between whole ones.
    """

    dots: Sequence[Dots]
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    y_range: tuple[int | float, int | float] | None = None
    uprights: Sequence[tuple[int | float, str]] = ()
    whole_x: bool = False

    def __post_init__(self) -> None:
        for each in self.dots:
            check_axes(f"x of {each.name!r}", each.x, "point") if each.x.size else None
            if each.y.shape != each.x.shape:
                raise ValueError(
                    f"y of {each.name!r} has shape {each.y.shape}, x {each.x.shape}; give as many"
                )
            check_length(f"said of {each.name!r}", each.said, each.x.size)

    @property
    def listed(self) -> list[str]:
        return [each.name for each in self.dots]

    def describe(self) -> Chart:
        heights = np.concatenate([each.y.ravel() for each in self.dots] or [np.empty(0)])
        y_range = self.y_range or span(heights, self.log_y, room=0.04)
        traces = [self._trace(each) for each in self.dots]
        for place, words in self.uprights:
            traces += self._upright(place, words, y_range)
        places = np.concatenate([each.x for each in self.dots] or [np.empty(0)])
        x: dict[str, Any] = scale(span(places, self.log_x, room=0.03), self.log_x)
        if self.whole_x and places.size and np.nanmax(places) - np.nanmin(places) < 10:
            x["dtick"] = 1
        line = {"showline": True, "linecolor": Paint("muted")}
        return Chart(
            traces=traces,
            x={"title": axis_title(self.x_label), **line, **x},
            y={"title": axis_title(self.y_label), **scale(y_range, self.log_y)},
        )

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        for at, each in enumerate(self.dots):
            for point, (x, y) in enumerate(zip(each.x, each.y, strict=True)):
                said = each.said[point] if each.said else None
                yield at, each.name, point, None, x, y, None, None, said

    def _trace(self, each: Dots) -> dict[str, Any]:
        # Without a marker, a trace of the mode "lines" would make the page's label one for all at an x.
        mode = "lines+markers" if each.joined else "markers"
        trace: dict[str, Any] = dict(
            type="scatter",
            x=each.x,
            y=each.y,
            mode=mode,
            name=word(each.name, 80),
            marker={"size": max(each.size, 1), "color": Paint(each.colour), "line": {"width": 0}},
            customdata=list(map(lambda text: word(text, 300), each.said)) or self._said(each),
            hovertemplate="%{customdata}<extra></extra>",
            meta=TOLD,
            showlegend=self.has_legend,
        )
        if each.joined:
            trace["line"] = {
                "color": Paint(each.colour),
                "width": 2.5 if each.size < 2 else 1.5,
                "shape": "hv" if each.stepped else "linear",
            }
        return trace

    def _said(self, each: Dots) -> list[str]:
        """The numbers of every point."""
        return [
            word(f"{each.name}, {f'{self.x_label} {short(x)}'.strip()}: {short(y)}", 300)
            for x, y in zip(each.x, each.y, strict=True)
        ]

    def _upright(self, x: int | float, words: str, y_range: Pair) -> list[dict[str, Any]]:
        """A vertical line with its words beside its upper end."""
        heights = np.array(y_range, dtype=np.float64)
        plain = {"type": "scatter", "hoverinfo": "skip", "showlegend": False}
        line = {"color": Paint("ink"), "width": 1.5, "dash": "dot"}
        return [
            plain | {"x": np.array([x, x], dtype=np.float64), "y": heights, "mode": "lines", "line": line},
            plain
            | {
                "x": np.array([x], dtype=np.float64), "y": heights[1:], "mode": "text",
                "text": [f" {word(words, 60)} "], "textposition": "bottom right",
                "textfont": {"size": SMALL, "color": Paint("ink")}, "cliponaxis": False,
            },
        ]  # fmt: skip
