"""Where everything lies in the figure of one computation, in pixels from the top."""

from dataclasses import dataclass
from typing import Any

from viz_core import _axes, theme

_WIDTH = 1080
_RIGHT = 110  # the margin that holds the colour bar
_STRIP = 38  # height of a strip of channels
_SENTENCE, _HEADINGS, _ROWS = 82, 124, 130  # below the strips
_CHANNELS = 56  # the lowest axis
_SCORES, _WEIGHTS, _VALUES = (0.0, 0.2), (0.25, 0.45), (0.52, 1.0)  # of the plot's width
_PLAIN = {"showgrid": False, "zeroline": False, "ticks": "", "ticklabelstandoff": 6}


@dataclass(frozen=True)
class Sheet:
    """Three strips across, then the query's row of keys in three columns, and z below the third.

    keys, strips: labels. chosen: the key above. channels: how many q and k have, and how many v and z.
    """

    keys: list[str]
    strips: list[str]
    chosen: int
    channels: tuple[int, int]
    dark: bool

    @property
    def rows(self) -> int:
        return min(560, max(96, 24 * len(self.keys)))

    @property
    def row_top(self) -> int:
        return len(self.strips) * _STRIP + _ROWS

    @property
    def z_top(self) -> int:
        return self.row_top + self.rows + 12

    @property
    def height(self) -> int:
        return self.z_top + _STRIP

    def layout(
        self, title: str | None, sums: str, largest: list[str], score_range: list[float]
    ) -> dict[str, Any]:
        """sums: the sentence below the strips. largest: what the full colour stands for in each strip."""
        top = 64 if title else 24
        step = _axes.every(len(self.keys), self.rows)
        shown, size = (
            self.keys[self.chosen % step :: step],
            _axes.font_size(step * self.rows / len(self.keys)),
        )
        names = [label.replace("<b>", "").replace("</b>", "") for label in self.strips]
        left = _axes.label_room([*shown, *names], 15) + 30
        return {
            "title": _axes.heading(title),
            "width": _WIDTH,
            "height": self.height + top + _CHANNELS,
            "margin": {"l": left, "r": _RIGHT, "t": top, "b": _CHANNELS},
            "bargap": 0.25,
            **self._axes(shown, size, score_range),
            "annotations": self._notes(sums, largest),
        }

    def colour_bar(self) -> dict[str, Any]:
        """Beside the rows of values and z, which share its scale."""
        span = self.height - self.row_top
        return {
            "title": {"text": "weight × value"},
            "lenmode": "pixels",
            "len": span + 20,  # plotly leaves 10 pixels at either end
            "y": (span / 2) / self.height,
            "yanchor": "middle",
        }

    def _axes(self, shown: list[str], size: int, score_range: list[float]) -> dict[str, Any]:
        names = {**_PLAIN, "type": "category", "autorange": "reversed"}
        bars = {"zeroline": True, "tickfont": {"size": 11}, "anchor": "y2", "nticks": 5}
        chosen, colour = self.keys[self.chosen], theme.palette(self.dark)["key"]
        bold = f'<b style="color:{colour}">{chosen}</b>'
        texts = [bold if label == chosen else label for label in shown]
        keys = _axes.token_axis("key", self.keys, shown, texts, size=size, dark=self.dark)
        strips = {"tickvals": list(range(len(self.strips))), "ticktext": self._coloured_strips()}
        return {
            "xaxis": self._channel_axis(self.channels[0]),
            "yaxis": {**names, **strips, "domain": self._domain(0, len(self.strips) * _STRIP)},
            "xaxis2": {**bars, "domain": _SCORES, "range": score_range},
            "xaxis3": {**bars, "domain": _WEIGHTS, "range": [0, 1.2], "tickvals": [0, 0.5, 1]},
            "yaxis2": {
                **keys,
                "autorange": "reversed",
                "domain": self._domain(self.row_top, self.row_top + self.rows),
            },
            "xaxis4": {**self._channel_axis(self.channels[1]), "domain": _VALUES, "anchor": "y3"},
            "yaxis3": {**names, "domain": self._domain(self.z_top, self.height), "anchor": "x4"},
        }

    def _channel_axis(self, channels: int) -> dict[str, Any]:
        ticks = {"tick0": 0, "dtick": max(1, channels // 16), "tickfont": {"size": 11}}
        return {**_PLAIN, **ticks, "title": {"text": "channel", "standoff": 4, "font": {"size": 13}}}

    def _coloured_strips(self) -> list[str]:
        p = theme.palette(self.dark)
        colours = [p["query"], p["key"], p["ink"]]
        return [f'<span style="color:{c}">{s}</span>' for c, s in zip(colours, self.strips, strict=True)]

    def _notes(self, sums: str, largest: list[str]) -> list[dict[str, Any]]:
        p, below = theme.palette(self.dark), len(self.strips) * _STRIP
        headings = {"yanchor": "bottom", "font": {"size": 14}}
        values = {**headings, "font": {"size": 14, "color": p["value"]}}
        small = {"yanchor": "middle", "font": {"size": 11, "color": p["muted"]}}
        return [
            self._note(sums, 0, below + _SENTENCE, yanchor="bottom", font={"size": 15}),
            self._note("scores", _SCORES[0], below + _HEADINGS, **headings),
            self._note("their softmax: weights", _WEIGHTS[0], below + _HEADINGS, **headings),
            self._note("weight × value; the rows add up to z", _VALUES[0], below + _HEADINGS, **values),
            *(self._note(text, 1, (i + 0.5) * _STRIP, **small) for i, text in enumerate(largest)),
        ]

    def _note(self, text: str, x: int | float, down: int | float, **style: Any) -> dict[str, Any]:
        place = {"x": x, "y": 1 - down / self.height, "xref": "paper", "yref": "paper", "xanchor": "left"}
        return {"text": text, "showarrow": False, **place, **style}

    def _domain(self, top: int, bottom: int) -> list[float]:
        return [1 - bottom / self.height, 1 - top / self.height]
