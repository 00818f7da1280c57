"""A part of a pattern of a long text as a figure: cells that stand for many pairs of query and key."""

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz_core import theme
from viz_core._checks import check_weights


def pattern_window(
    cells: Float[np.ndarray, "row column"],
    first: tuple[int, int],
    size: tuple[int, int],
    *,
    measure: str = "largest",
    dark: bool = False,
    title: str | None = None,
) -> go.Figure:
    """Cells of a pattern by the positions of their queries and keys.

    first: the first query and key. size: the queries and keys that a cell stands for. measure: what a cell
    shows of its pairs, "largest" or "mean". Raises ValueError for weights outside 0..1.
    """
    check_weights("cells", cells)
    (q0, k0), (tall, wide) = first, size
    what = "weight" if tall * wide == 1 else f"{measure} weight of {tall} × {wide} pairs"
    figure = go.Figure(
        go.Heatmap(
            z=cells, x0=k0 + (wide - 1) / 2, dx=wide, y0=q0 + (tall - 1) / 2, dy=tall, zmin=0,
            colorbar={"title": {"text": what, "side": "right"}},
            hovertemplate="query %{y:.0f}<br>key %{x:.0f}<br>" + what + " %{z:.4~g}<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(template=theme.template(dark), title=title, height=640)
    figure.update_xaxes(title="key")
    figure.update_yaxes(title="query", autorange="reversed")
    return figure
