"""A figure to take away: one HTML file that opens without a network."""

import html

import plotly.graph_objects as go

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
        full_html=False, include_plotlyjs=True, include_mathjax=False, config=config(name), auto_play=False
    )
    background = fig.layout.template.layout.paper_bgcolor or "white"
    return _PAGE.format(title=html.escape(html.unescape(name)), background=background, figure=figure)


def config(name: str, *, image: str = "svg", scale: int | float = 2) -> dict[str, object]:
    """Plotly's client-side settings: no logo, no upload, and a camera button.

    The camera saves `name` as "svg" or "png"; `scale` multiplies the pixels of a PNG. Raises ValueError for
    another format.
    """
    if image not in ("svg", "png"):
        raise ValueError(f'image="{image}" is no format that the browser draws here; choose "svg" or "png"')
    safe = "".join(c if c.isalnum() else "-" for c in html.unescape(name)).strip("-").lower()
    return {
        "displaylogo": False,
        "showSendToCloud": False,
        "responsive": False,
        "toImageButtonOptions": {
            "format": image,
            "filename": "-".join(filter(None, safe.split("-"))) or "figure",
            "scale": scale if image == "png" else 1,
        },
    }
