"""Arrows from the origin."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._checks import check_frames, check_length
from ..chart import Chart, ChartPanel, Moving, Paint
from ..panel import CAPTION, MEDIUM, Colour, Framed, NumberRow, Room, at_frame, grid_numbers, reach_of, word

_SIDE = 290
_SMALLEST_SIDE = 130  # pixels, where a board has little room
_LABELS = 22  # pixels between the longest arrow and the edge, for its name
_TURN = np.linspace(0, 2 * np.pi, 121)
_CIRCLE = {
    "x": np.cos(_TURN),
    "y": np.sin(_TURN),
    "mode": "lines",
    "line": {"color": Paint("grid"), "width": 1.5},
    "hoverinfo": "skip",
}


def _apart(tips: np.ndarray, outwards: np.ndarray, names: Sequence[str], side: float) -> np.ndarray:
    """Where names stand [*frame, arrow, xy]: outside their tips, or beside their arrows.

    None lies on another, or reaches out of the square.

    outwards: unit vectors, 0 where an arrow has no length. side: of the square, in the units of the arrows.
    """
    wide = np.array([4.5 * len(name) + 2 for name in names])  # half of each, in pixels
    pixel = side / _SMALLEST_SIDE
    most = np.stack([side / 2 - wide * pixel, np.full(len(names), side / 2 - 9 * pixel)], -1)  # [arrow, xy]
    places = (tips + 13 * side / _SIDE * outwards).clip(-most, most)

    def is_free(at: int, place: np.ndarray) -> np.ndarray:
        gaps = [np.abs(place - places[..., other, :]) / pixel for other in range(at)]
        apart = [(g[..., 0] > wide[at] + wide[other]) | (g[..., 1] > 16) for other, g in enumerate(gaps)]
        return np.asarray(np.all(apart, axis=0))

    for at in range(1, len(names)):
        settled = is_free(at, places[..., at, :])
        own = outwards[..., at, :]
        aside = np.stack([-own[..., 1], own[..., 0]], -1)
        nearer = (aside[..., None, :] * outwards[..., :at, :]).sum((-1, -2)) > 0  # the others' side
        aside = np.where(nearer[..., None], -aside, aside)
        gap = np.abs(aside) @ np.array([wide[at], 8]) + 2  # clear of its own arrow
        for hand, back in ((1, 0), (1, 16), (1, 32), (-1, 0), (-1, 16), (-1, 32)):
            place = tips[..., at, :] + pixel * (hand * gap[..., None] * aside - back * own)
            better = is_free(at, place) & (np.abs(place) <= most[at]).all(-1) & ~settled
            places[..., at, :] = np.where(better[..., None], place, places[..., at, :])
            settled = settled | better
    return places


@dataclass(frozen=True, kw_only=True)
class Plane(ChartPanel):
    """Arrows from the origin: vectors [*frame, arrow, 2], in a square of -reach..reach."""

    keeps_shape = True

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

    def describe(self) -> Chart:
        vectors = self.vectors.astype(np.float32)  # [*frame, arrow, xy]
        edge = reach_of(self.vectors, self.reach) * _SIDE / (_SIDE - 2 * _LABELS)
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
        outwards = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        names = [word(name) for name in self.names]
        beside = _apart(vectors, outwards, names, 2 * edge)
        written = dict(
            x=self._moving(beside[..., 0]),
            y=self._moving(beside[..., 1]),
            mode="text",
            text=[f"<b>{name}</b>" for name in names],
            textfont={"color": [Paint(colour) for colour in self.colours], "size": MEDIUM},
            hoverinfo="skip",
        )
        arrows = [self._arrow(vectors[..., at, :], name, at) for at, name in enumerate(names)]
        traces = [*([_CIRCLE] if self.circle else []), *arrows, written]
        axis = {"range": [-edge, edge], "zeroline": True, "showgrid": False, "showticklabels": False}
        return Chart(
            traces=[{"type": "scatter", "showlegend": False, **trace} for trace in traces],
            x=axis,
            y=axis,
            form="square",
        )

    def _arrow(self, tip: np.ndarray, name: str, at: int) -> dict[str, Any]:
        """An arrow from the origin to tip [*frame, xy]."""
        x, y = (np.stack([np.zeros_like(tip[..., axis]), tip[..., axis]], -1) for axis in (0, 1))
        colour = Paint(self.colours[at])
        return dict(
            x=self._moving(x),
            y=self._moving(y),
            name=name,
            mode="lines+markers",
            line={"color": colour, "width": 3},
            marker={
                "symbol": "arrow",
                "size": [0, 14],
                "angleref": "previous",
                "color": colour,
                "line": {"width": 0},
                "opacity": 1,
            },
            hovertemplate="(%{x:.4~g}, %{y:.4~g})",
        )

    def _moving(self, values: np.ndarray) -> Moving | np.ndarray:
        return Moving(values) if self.vectors.ndim > 2 else values

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        return grid_numbers(at_frame(self.vectors, frame, 2), self.names, ("x", "y"))
