"""Arrows from the origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from viz_core._checks import check_frames, check_length
from viz_core.boards.panel import Framed, NumberRow, Panel, grid_numbers
from viz_core.boards.sheet import (
    CAPTION,
    MEDIUM,
    Colour,
    Drawing,
    Place,
    Room,
    Trace,
    at_frame,
    reach_of,
    word,
)

_SIDE = 290
_LABELS = 22  # pixels between the longest arrow and the edge, for its name


@dataclass(frozen=True, kw_only=True)
class Plane(Panel):
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

    def framed(self) -> list[Framed]:
        return [("vectors", self.vectors, 2)]

    def room(self, cell: int) -> Room:
        return Room(width=_SIDE, height=_SIDE, above=8 + CAPTION * bool(self.title), below=8)

    def draw(self, place: Place, frame: int) -> Drawing:
        vectors = at_frame(self.vectors, frame, 2).astype(np.float64)  # [arrow, xy]
        edge = reach_of(self.vectors, self.reach) * _SIDE / (_SIDE - 2 * _LABELS)
        pixel = 2 * edge / _SIDE
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
        outwards = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        drawing = Drawing([_circle(place)] if self.circle else [])
        colours = [place.colour(colour) for colour in self.colours]
        names = [word(name) for name in self.names]
        for (x, y), name, colour in zip(vectors, names, colours, strict=True):
            drawing.traces.append(
                dict(
                    type="scatter", x=[0, x], y=[0, y], name=name, mode="lines+markers",
                    line={"color": colour, "width": 3},
                    marker={"symbol": "arrow", "size": [0, 14], "angleref": "previous", "color": colour},
                    hovertemplate="(%{x:.4~g}, %{y:.4~g})", showlegend=False, **place.on,
                )
            )  # fmt: skip
        at = vectors + 13 * pixel * outwards
        drawing.traces.append(
            dict(
                type="scatter", x=at[:, 0], y=at[:, 1], mode="text",
                text=[f"<b>{name}</b>" for name in names],
                textfont={"color": colours, "size": MEDIUM}, hoverinfo="skip", showlegend=False, **place.on,
            )
        )  # fmt: skip
        axis = {"range": [-edge, edge], "zeroline": True, "showgrid": False, "showticklabels": False}
        drawing.axes = place.axes(axis, axis)
        drawing.notes = place.caption(self.title, 8)
        return drawing

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        return grid_numbers(at_frame(self.vectors, frame, 2), self.names, ("x", "y"))


def _circle(place: Place) -> Trace:
    turn = np.linspace(0, 2 * np.pi, 121)
    return dict(
        type="scatter", x=np.cos(turn), y=np.sin(turn), mode="lines",
        line={"color": place.palette["grid"], "width": 1.5}, hoverinfo="skip", showlegend=False, **place.on,
    )  # fmt: skip
