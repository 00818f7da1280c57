"""Upright bars."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._checks import check_frames, check_length
from ..chart import Chart, ChartPanel, Moving, Paint, Worded, Written
from ..panel import (
    CAPTION,
    CHART,
    SMALL,
    Colour,
    Framed,
    NumberRow,
    Room,
    at_frame,
    axis_title,
    extent,
    grid_numbers,
    word,
)


@dataclass(frozen=True, kw_only=True)
class Bars(ChartPanel):
    """Upright bars: a softmax over tokens, a histogram. values: [*frame, bar]; labels: a name per bar.

    reach, low: the upper and the lower end of the axis; by default it holds 0 and all values.
    nan_is_empty: NaN stands for what is not computed yet, and has neither bar nor number.
    lit: the place of the one bar that stands out; the others are then faint. faint_from: the place from which
    on bars are faint, as those beyond a cut. words: what stands below the bars in each frame instead of the
    labels; what follows a tab is a line of its own.
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
    lit: int | None = None
    faint_from: int | None = None
    words: Worded | None = None

    def __post_init__(self) -> None:
        check_frames("values", self.values, "bar")
        check_length("labels", self.labels, self.values.shape[-1], needed=True)

    def framed(self) -> list[Framed]:
        return [(self.title or "values", self.values, 1)]

    def room(self, cell: int) -> Room:
        return Room(above=8 + CAPTION * bool(self.title), **CHART)

    def describe(self) -> Chart:
        low, high = extent(self.values)
        top = self.reach or max(0.0, high) or 1.0
        moves = self.values.ndim > 1
        values = Moving(self.values) if moves else self.values
        tops = np.clip(np.nan_to_num(self.values.astype(np.float32), posinf=0, neginf=0), 0, top)
        names = [word(label, 80) for label in self.labels]
        bars: dict[str, Any] = dict(
            type="bar",
            x=np.arange(len(names)),
            y=values,
            width=0.96 if len(names) > 40 else 0.78,
            marker={"color": self._colours(len(names)), "line": {"color": Paint("ink"), "width": 0}},
            customdata=names,
            hovertext=Written(values),
            hovertemplate="%{customdata} <b>%{hovertext}</b><extra></extra>",
            showlegend=False,
        )
        numbers: dict[str, Any] = dict(
            type="scatter",
            x=np.arange(len(names)),
            y=Moving(tops) if moves else tops,
            mode="text",
            text=Written(values, self.digits, self.nan_is_empty),
            textposition="top center",
            textfont={"size": SMALL},
            cliponaxis=False,
            hoverinfo="skip",
            showlegend=False,
        )
        floor = -0.04 * top if self.words else min(0.0, low) if self.low is None else self.low
        traces, below = [bars, numbers], list(self.labels)
        if self.words:
            typed = [[list(map(word, text.split("\t"))) for text in row] for row in self.words.rows]
            said, under = (
                replace(self.words, rows=[[gap.join(lines) for lines in row] for row in typed])
                for gap in (" ", "<br>")
            )
            bars["customdata"], below = said, [""] * len(names)
            traces.append(
                numbers | {"y": np.full(len(names), floor), "text": under, "textposition": "bottom center"}
            )
        x = {"names": below, "range": [-0.5, len(names) - 0.5], "showgrid": False, "tickangle": 0}
        return Chart(
            traces=traces,
            x={"title": axis_title(self.x_label), **x},
            y={"title": axis_title(self.y_label), "range": [floor, top * 1.08], "zeroline": True},
        )

    def _colours(self, count: int) -> Paint | list[Paint]:
        strong = Paint(self.colour)
        faint = Paint("muted", 0.5)
        if self.faint_from is not None:
            return [strong if at < self.faint_from else faint for at in range(count)]
        if self.lit is None:
            return strong
        return [strong if at == self.lit else faint for at in range(count)]

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        words = self.words.rows[int(self.words.at[frame])] if self.words else self.labels
        labels = [text.replace("\t", " ") for text in words]
        return grid_numbers(at_frame(self.values, frame, 1)[None], (), labels)
