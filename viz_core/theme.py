"""The look of every figure: colours, scales and Plotly templates, for light and for dark pages.

Queries, keys and values have one colour each, everywhere. Attention has one sequential scale that starts
in the background, so weak weights fade away; signed numbers have one diverging scale with the background
in its middle.
"""

import html
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import plotly.graph_objects as go
from jaxtyping import UInt8
from plotly.colors import color_parser, cyclical, diverging, get_colorscale, sequential, unlabel_rgb

Figure = TypeVar("Figure", bound=go.Figure)
ColourScale = list[list[float | str]]

FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'

_COLOURS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
HEAD_COLOURS, HEAD_COLOURS_DARK = (tuple(_COLOURS["heads"][page]) for page in ("light", "dark"))


def _evenly(colours: Sequence[str]) -> ColourScale:
    return [[float(at), colour] for at, colour in zip(np.linspace(0, 1, len(colours)), colours, strict=True)]


# IceFire is black where its cycle closes: turned half round, that is the middle, ice below and fire above.
_ICE, _FIRE = cyclical.IceFire[7:0:-1], cyclical.IceFire[15:8:-1]

SEQUENTIAL = _evenly(sequential.Blues)
SEQUENTIAL_DARK = _evenly(sequential.ice)
DIVERGING = _evenly(diverging.RdBu[::-1])
DIVERGING_DARK = _evenly([*_ICE, cyclical.IceFire[0], *_FIRE])
_SCALES = {
    ("sequential", False): SEQUENTIAL,
    ("sequential", True): SEQUENTIAL_DARK,
    ("diverging", False): DIVERGING,
    ("diverging", True): DIVERGING_DARK,
}


def palette(dark: bool = False, *, projected: bool = False) -> dict[str, str]:
    """Hex colours by role: query, key, value, ink (text), muted (lesser text), background, grid, accent.

    projected: those of a light page with more contrast; `dark` does not matter then.
    """
    if projected:
        return _COLOURS["light"] | _COLOURS["projector"]
    return dict(_COLOURS["dark" if dark else "light"])


def head_colour(head: int, dark: bool = False) -> str:
    """The colour of head number `head`; after the twelfth they start again."""
    colours = HEAD_COLOURS_DARK if dark else HEAD_COLOURS
    return colours[head % len(colours)]


def colour_scale(name: str, dark: bool = False) -> ColourScale:
    """`"sequential"` (0 = background), `"diverging"` (middle = background), or any of plotly's by name.

    Raises ValueError for a name that is none of these.
    """
    if (name, dark) in _SCALES:
        return _SCALES[name, dark]
    try:
        return [[float(at), colour] for at, colour in get_colorscale(name)]
    except Exception:  # plotly raises its own PlotlyError, which is no ValueError
        raise ValueError(
            f'colour scale "{name}" is unknown; use "sequential", "diverging" or a plotly name like "Viridis"'
        ) from None


def lookup_table(scale: str | ColourScale, *, dark: bool = False) -> UInt8[np.ndarray, "256 3"]:
    """Red, green, blue (0..255) at 256 even steps of a colour scale, a name or [[position, colour], ...]."""
    stops = colour_scale(scale, dark) if isinstance(scale, str) else scale
    positions = [float(at) for at, _ in stops]
    rgb = np.array(color_parser([_rgb(str(colour)) for _, colour in stops], unlabel_rgb))  # [stop, channel]
    steps = np.linspace(0, 1, 256)
    channels = [np.interp(steps, positions, rgb[:, channel]) for channel in range(3)]
    return np.rint(np.stack(channels, axis=1)).astype(np.uint8)


def _rgb(colour: str) -> str:
    if not colour.startswith("#"):
        return colour
    return "rgb({}, {}, {})".format(*(int(colour[at : at + 2], 16) for at in (1, 3, 5)))


def with_alpha(colour: str, alpha: int | float) -> str:
    """A hex colour as `rgba(...)` with an opacity of 0..1."""
    return _rgb(colour).replace("rgb", "rgba").replace(")", f", {alpha:g})")


def template(dark: bool = False, *, projected: bool = False) -> go.layout.Template:
    """The plotly template that all figures wear; use it for your own figures too."""
    p = palette(dark, projected=projected)
    axis = {
        "gridcolor": p["grid"],
        "linecolor": p["grid"],
        "tickcolor": p["grid"],
        "zerolinecolor": p["grid"],
        "automargin": True,
        "title": {"standoff": 12},
        "exponentformat": "none",
        "separatethousands": True,
    }
    layout = {
        "font": {"family": FONT, "size": 14, "color": p["ink"]},
        "title": {
            "font": {"size": 18},
            **{"x": 0, "xref": "container", "xanchor": "left"},
            **{"y": 1, "yref": "container", "yanchor": "top"},
            "pad": {"l": 20, "t": 18},
        },
        "paper_bgcolor": p["background"],
        "plot_bgcolor": p["background"],
        "colorway": HEAD_COLOURS_DARK if dark else HEAD_COLOURS,
        "colorscale": {
            "sequential": colour_scale("sequential", dark),
            "diverging": colour_scale("diverging", dark),
        },
        "hoverlabel": {
            "bgcolor": p["background"],
            "bordercolor": p["muted"],
            "font": {"family": FONT, "size": 14, "color": p["ink"]},
        },
        "margin": {"l": 20, "r": 20, "t": 56, "b": 20},
        "xaxis": axis,
        "yaxis": axis,
    }
    bar = {"outlinewidth": 0, "thickness": 14, "title": {"side": "right"}, "tickcolor": p["muted"]}
    return go.layout.Template(layout=layout, data={"heatmap": [{"colorbar": bar}]})


def apply(fig: Figure, dark: bool = False) -> Figure:
    """Dress a figure in `template(dark)`; returns the same figure."""
    fig.update_layout(template=template(dark))
    return fig


# Figures as files

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>body {{ margin: 0; background: {background}; }}</style>
</head>
<body>
<main>{figure}</main>
</body>
</html>
"""


def to_html(fig: go.Figure, *, title: str | None = None) -> str:
    """The figure as one HTML page with plotly.js inside (5 MB), which opens offline and asks for nothing.

    title: the page's title and the name of the SVG that its camera button saves; by default the figure's.
    """
    name = title or fig.layout.title.text or "Attention Lab"
    figure = fig.to_html(
        full_html=False,
        include_plotlyjs=True,
        include_mathjax=False,
        config=plotly_config(name),
    )
    background = fig.layout.template.layout.paper_bgcolor or "white"
    return _PAGE.format(title=html.escape(html.unescape(name)), background=background, figure=figure)


def plotly_config(name: str) -> dict[str, object]:
    """Plotly's client-side settings: no logo, no upload, and a camera button that saves `name` as SVG."""
    safe = "".join(c if c.isalnum() else "-" for c in html.unescape(name)).strip("-").lower()
    return {
        "displaylogo": False,
        "showSendToCloud": False,
        "responsive": False,
        "toImageButtonOptions": {
            "format": "svg",
            "filename": "-".join(filter(None, safe.split("-"))) or "figure",
            "scale": 1,
        },
    }
