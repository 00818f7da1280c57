"""Axes with a token at every tick, and the room that these tokens need."""

import html
import unicodedata
from collections.abc import Sequence
from typing import Any

from viz_core import theme
from viz_core.labels import escape

SPACING = 14  # pixels from one label to the next, at least
TITLE_ROOM = 40


def heading(title: str | None) -> dict[str, Any]:
    """The figure's title, shown as typed."""
    return {"text": None if title is None else escape(title)}


def text_width(label: str, font_size: int | float) -> float:
    """The approximate width of an escaped label in pixels; East Asian characters and emoji count double."""
    plain = html.unescape(label)
    units = sum(1.7 if unicodedata.east_asian_width(c) in "WF" else 1.0 for c in plain)
    return units * font_size * 0.58


def label_room(labels: Sequence[str], font_size: int | float) -> float:
    """Pixels that the widest label needs."""
    return max(text_width(label, font_size) for label in labels)


def every(length: int, pixels: int | float) -> int:
    """The step between labelled positions at which the labels of `length` positions fit into `pixels`."""
    return max(1, -int(-length * SPACING // pixels))


def skipping(names: Sequence[str], step: int) -> str:
    """What an axis says that names only some of its entries: ` · every 2nd`; numbers say it themselves."""
    if step == 1 or all(name.lstrip("-−").isdecimal() for name in names):
        return ""
    return f" · every {step}{'nd' if step == 2 else 'rd' if step == 3 else 'th'}"


def font_size(pixels_per_label: int | float) -> int:
    """The size of tick labels: 15 where there is room, never below 10."""
    return int(min(15, max(10, pixels_per_label * 0.75)))


def token_axis(
    role: str, names: Sequence[str], ticks: Sequence[str], texts: Sequence[str], *, size: int, dark: bool
) -> dict[str, Any]:
    """Layout of a category axis over unique `names`, with `texts` at `ticks`; `role` is "query" or "key"."""
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": list(names),
        "tickmode": "array",
        "tickvals": list(ticks),
        "ticktext": list(texts),
        "tickfont": {"size": size},
        "title": {"text": role, "font": {"color": theme.palette(dark)[role], "size": 16}},
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "ticklabelstandoff": 6,
    }
