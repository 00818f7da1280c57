"""Tokens through layers, and what each may look at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._checks import check_frames
from ..chart import Chart, ChartPanel, Moving, Paint
from ..panel import CAPTION, Framed, NumberRow, Room, at_frame, grid_numbers, room_for, word
from .points import TOLD

_FLOOR = 60  # pixels from layer to layer
_TOKEN = 46


@dataclass(frozen=True, kw_only=True)
class Layers(ChartPanel):
    """Tokens of layer 0 at the bottom, of the last layer on top, and what each may look at below it.

    links: bool [query, key], True = may attend, the same in every layer. lit: bool [*frame, layer, token],
    the nodes that stand out (layer 0 first); a link is lit when both its ends are.
    """

    tokens: Sequence[str]
    links: np.ndarray
    lit: np.ndarray
    title: str = ""

    def __post_init__(self) -> None:
        check_frames("lit", self.lit, "layer token")
        n = len(self.tokens)
        if self.links.shape != (n, n) or self.lit.shape[-1] != n:
            raise ValueError(
                f"links {self.links.shape} and lit {self.lit.shape} do not fit {n} tokens; "
                "give [query, key] and [layer, token]"
            )

    def framed(self) -> list[Framed]:
        return [("lit", self.lit, 2)]

    def room(self, cell: int) -> Room:
        n_layers, n_tokens = self.lit.shape[-2:]
        step = max(_TOKEN, room_for([word(token) for token in self.tokens]) + 8)
        width = max(200, n_tokens * step)
        above = 8 + CAPTION * bool(self.title)
        return Room(width=width, height=_FLOOR * max(1, n_layers - 1) + 24, left=60, above=above, below=30)

    def describe(self) -> Chart:
        lit = self.lit.astype(bool)  # [*frame, layer, token]
        n_layers, n_tokens = lit.shape[-2:]
        queries, keys = np.nonzero(self.links)
        tops, link = np.divmod(np.arange((n_layers - 1) * len(queries)), max(1, len(queries)))
        tops, queries, keys = tops + 1, queries[link], keys[link]  # [link]: from each key up to its query
        bright = lit[..., tops, queries] & lit[..., tops - 1, keys]
        x = np.stack([keys, queries, queries], -1).ravel().astype(np.float32)
        gap = np.full(len(tops), np.nan)
        y = np.stack([tops - 1, tops, gap], -1).ravel().astype(np.float32)
        layer, token = (grid.ravel().astype(np.float32) for grid in np.indices((n_layers, n_tokens)))
        heights = np.where(lit.reshape(*lit.shape[:-2], -1), layer, np.float32(np.nan))
        words = [
            f"layer {int(at)}, {word(self.tokens[int(which)])}"
            for at, which in zip(layer, token, strict=True)
        ]
        lines = {"mode": "lines", "hoverinfo": "skip"}
        nodes = {
            "mode": "markers", "customdata": words, "hovertemplate": "%{customdata}<extra></extra>",
            "meta": TOLD, "cliponaxis": False,
        }  # fmt: skip
        outline = {"width": 1.5, "color": Paint("muted")}
        traces: list[dict[str, Any]] = [
            {**lines, "x": x, "y": y, "line": {"color": Paint("muted", 0.35), "width": 1}},
            {**lines, "x": x, "y": self._moving(np.where(np.repeat(bright, 3, -1), y, np.float32(np.nan))),
             "line": {"color": Paint("accent"), "width": 2}},
            {**nodes, "x": token, "y": layer,
             "marker": {"size": 12, "color": Paint("background"), "line": outline}},
            {**nodes, "x": token, "y": self._moving(heights),
             "marker": {"size": 12, "color": Paint("accent"), "line": {"width": 0}}},
        ]  # fmt: skip
        names = ["input", *(f"layer {at}" for at in range(1, n_layers))]
        top = max(1, n_layers - 1)
        return Chart(
            traces=[{"type": "scatter", "showlegend": False, **trace} for trace in traces],
            x={"names": list(self.tokens), "range": [-0.5, n_tokens - 0.5], "showgrid": False},
            y={
                "tickvals": list(range(n_layers)), "ticktext": names,
                "range": [-0.1 * top, 1.1 * top], "showgrid": False,
            },
        )  # fmt: skip

    def _moving(self, values: np.ndarray) -> Moving | np.ndarray:
        return Moving(values) if self.lit.ndim > 2 else values

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        return grid_numbers(at_frame(self.lit, frame, 2), (), self.tokens)
