"""Tokens through layers, and what each may look at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz_core import theme
from viz_core._checks import check_frames
from viz_core.boards.panel import (
    CAPTION,
    Drawing,
    Framed,
    NumberRow,
    Panel,
    Place,
    Room,
    Trace,
    at_frame,
    grid_numbers,
    room_for,
    word,
)

_FLOOR = 60  # pixels from layer to layer
_TOKEN = 46


@dataclass(frozen=True, kw_only=True)
class Layers(Panel):
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
        width = max(200, n_tokens * _token_step(self))
        above = 8 + CAPTION * bool(self.title)
        return Room(width=width, height=_FLOOR * max(1, n_layers - 1) + 24, left=60, above=above, below=30)

    def draw(self, place: Place, frame: int) -> Drawing:
        lit = at_frame(self.lit, frame, 2).astype(bool)  # [layer, token]
        n_layers, n_tokens = lit.shape
        queries, keys = np.nonzero(self.links)
        tops, query = np.divmod(np.arange((n_layers - 1) * len(queries)), max(1, len(queries)))
        ends = np.stack([tops + 1, queries[query], keys[query]])  # [layer query key, link]
        bright = lit[ends[0], ends[1]] & lit[ends[0] - 1, ends[2]]
        p = place.palette
        layer, token = (grid.ravel() for grid in np.indices(lit.shape))
        nodes = dict(
            type="scatter",
            x=token,
            y=layer,
            mode="markers",
            marker={
                "size": 12,
                "color": [p["accent"] if on else p["background"] for on in lit.ravel()],
                "line": {"width": 1.5, "color": [p["accent"] if on else p["muted"] for on in lit.ravel()]},
            },
            customdata=[word(self.tokens[at]) for at in token.tolist()],
            hovertemplate="layer %{y}<br><b>%{customdata}</b><extra></extra>",
            cliponaxis=False,
            showlegend=False,
            **place.on,
        )
        faint = {"color": theme.with_alpha(p["muted"], 0.35), "width": 1}
        strong = {"color": p["accent"], "width": 2}
        traces = [_links(ends, faint, place), _links(ends[:, bright], strong, place), nodes]
        names = ["input", *(f"layer {at}" for at in range(1, n_layers))]
        axes = place.axes(
            {
                "tickvals": list(range(n_tokens)),
                "ticktext": [word(token) for token in self.tokens],
                "range": [-0.5, n_tokens - 0.5],
                "showgrid": False,
            },
            {
                "tickvals": list(range(n_layers)),
                "ticktext": names,
                "range": [-0.2, max(1, n_layers - 1) + 0.2],
                "showgrid": False,
            },
        )
        return Drawing(traces, axes, place.caption(self.title, 8))

    def numbers(self, frame: int) -> Iterator[NumberRow]:
        return grid_numbers(at_frame(self.lit, frame, 2), (), self.tokens)


def _token_step(panel: Layers) -> int | float:
    return max(_TOKEN, room_for([word(token) for token in panel.tokens]) + 8)


def _links(ends: np.ndarray, line: dict[str, Any], place: Place) -> Trace:
    """Lines from each key up to its query, as one path that NaN interrupts; ends: [layer query key, link]."""
    layers, queries, keys = ends
    gap = np.full(len(layers), np.nan)
    return dict(
        type="scatter",
        x=np.stack([keys, queries, gap], -1).ravel(),
        y=np.stack([layers - 1, layers, gap], -1).ravel(),
        mode="lines",
        line=line,
        hoverinfo="skip",
        showlegend=False,
        **place.on,
    )
