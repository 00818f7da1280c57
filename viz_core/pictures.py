"""Attention over the picture that was read."""

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz_core import theme
from viz_core._checks import check_axes, check_weights

STRONGEST = 0.85
"""How thick the colour of the greatest weight lies."""
_HOVER = "part <b>%{customdata[0]},%{customdata[1]}</b><br>weight <b>%{z:.4~g}</b><extra></extra>"
_LUMINANCE = (0.2126, 0.7152, 0.0722)  # of red, green and blue (ITU-R BT.709)


def attention_picture(
    picture: Float[np.ndarray, "..."],
    weights: Float[np.ndarray, "row column"],
    *,
    query: tuple[int, int] | None = None,
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """A picture in grey, and over it the weights of its parts.

    picture: [row, column], or [row, column, 3] in colour, in 0..1. weights: of the parts, which cover the
    picture in equal rectangles. query: the row and the column of the part that asks, which gets an outline.
    Raises ValueError for shapes and numbers that do not fit.
    """
    grey = _grey(picture)
    check_axes("weights", weights, "row column")
    check_weights("weights", weights)
    (height, width), (rows, columns) = grey.shape, weights.shape
    down, along = height / rows, width / columns
    levels = np.repeat(np.round(255 * grey)[..., None], 3, axis=2).astype(np.uint8)
    fig = go.Figure(go.Image(z=levels, hoverinfo="skip"))
    fig.add_trace(
        go.Heatmap(
            z=weights.astype(np.float32), x0=along / 2 - 0.5, dx=along, y0=down / 2 - 0.5, dy=down,
            zmin=0, zmax=float(weights.max()) or 1.0, colorscale=_veil(dark),
            colorbar={"title": {"text": "attention weight"}},
            customdata=np.moveaxis(np.indices(weights.shape), 0, -1) + 1,
            hovertemplate=_HOVER,
        )
    )  # fmt: skip
    if query is not None:
        (row, column), colour = query, theme.palette(dark)["query"]
        left, top = column * along - 0.5, row * down - 0.5
        box = {"x0": left, "x1": left + along, "y0": top, "y1": top + down}
        fig.add_shape(type="rect", **box, line={"color": colour, "width": 3})
    plain = {"visible": False, "constrain": "domain"}
    return theme.apply(fig, dark).update_layout(
        title={"text": title} if title else None,
        xaxis=plain | {"range": [-0.5, width - 0.5]},
        yaxis=plain | {"range": [height - 0.5, -0.5], "scaleanchor": "x"},
    )


def _grey(picture: np.ndarray) -> np.ndarray:
    check_axes("picture", picture, "row column", "row column colour")
    if picture.ndim == 3 and picture.shape[2] != 3:
        raise ValueError(
            f"picture has {picture.shape[2]} colours, but must have 3, red, green and blue; give [row, "
            "column] for grey"
        )
    check_weights("picture", picture)
    return np.asarray((picture if picture.ndim == 2 else picture @ np.array(_LUMINANCE)).clip(0, 1))


def _veil(dark: bool) -> list[list[float | str]]:
    """From nothing to the accent, through which the picture is still seen."""
    accent = theme.palette(dark)["accent"].lstrip("#")
    red, green, blue = (int(accent[at : at + 2], 16) for at in (0, 2, 4))
    return [[0.0, f"rgba({red},{green},{blue},0)"], [1.0, f"rgba({red},{green},{blue},{STRONGEST})"]]
