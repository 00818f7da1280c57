"""Upright bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from viz_core._checks import check_frames, check_length
from viz_core.boards.panel import Framed, NumberRow, Panel, grid_numbers
from viz_core.boards.sheet import (
    CAPTION,
    CHART,
    SMALL,
    Colour,
    Drawing,
    Place,
    Room,
    at_frame,
    axis_title,
    brief,
    extent,
    room_for,
    word,
    written,
)


@dataclass(frozen=True, kw_only=True)
class Bars(Panel):
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

    def framed(self) -> list[Framed]:
        return [(self.title or "values", self.values, 1)]

    def room(self, cell: int) -> Room:
        return Room(above=8 + CAPTION * bool(self.title), **CHART)

    def draw(self, place: Place, frame: int) -> Drawing:
        values = at_frame(self.values, frame, 1)
        low, high = extent(self.values)
        top = self.reach or max(0.0, high) or 1.0
        step = place.width / len(values)
        names = [word(label, 12) for label in self.labels]
        every = max(1, -int(-(room_for(names) + 6) // step))
        if every == 2:  # as on the board: every other name a line lower, before any is left out
            names, every = [f"<br>{name}" if at % 2 else name for at, name in enumerate(names)], 1
        shown = range(0, len(names), every)
        at = np.arange(len(values))
        drawn = np.where(np.isfinite(values), values, 0)
        written_on = step >= 34
        bars = dict(
            type="bar",
            x=at,
            y=drawn,
            width=0.96 if len(values) > 40 else 0.78,
            marker={"color": place.colour(self.colour)},
            customdata=np.array(
                [
                    [name.removeprefix("<br>"), written(float(value), 4)]
                    for name, value in zip(names, values, strict=True)
                ]
            ),
            hovertemplate="%{customdata[0]} <b>%{customdata[1]}</b><extra></extra>",
            showlegend=False,
            **place.on,
        )
        numbers = dict(
            type="scatter",
            x=at,
            y=np.clip(drawn, 0, top),
            mode="text",
            text=_numbers(values, self) if written_on else None,
            textposition="top center",
            textfont={"size": SMALL},
            cliponaxis=False,
            hoverinfo="skip",
            showlegend=False,
            **place.on,
        )
        x = {
            "tickvals": list(shown),
            "ticktext": [names[i] for i in shown],
            "range": [-0.5, len(names) - 0.5],
        }
        ends = [min(0.0, low) if self.low is None else self.low, top * (1.08 if written_on else 1)]
        axes = place.axes(
            {"title": axis_title(self.x_label), "showgrid": False, "tickangle": 0, **x},
            {"title": axis_title(self.y_label), "range": ends, "zeroline": True},
        )
        return Drawing([bars, numbers], axes, place.caption(self.title, 8))

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        return grid_numbers(at_frame(self.values, frame, 1)[None], (), self.labels)


def _numbers(values: np.ndarray, panel: Bars) -> list[str]:
    """What stands over the bars."""
    return [
        "" if np.isnan(value) and panel.nan_is_empty else brief(value, panel.digits)
        for value in values.astype(float).tolist()
    ]
