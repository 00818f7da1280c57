"""Curves with a line for each head, in its colour; the head that the frame chooses is drawn over them."""

import numpy as np

from viz_core.boards import Curves, Line

N_DISTANCES = 128


def per_head(
    title: str, values: np.ndarray, y_label: str, *, y_range: tuple[float, float] | None = None
) -> Curves:
    """values: [head, distance]."""
    lines = [Line(y=values[head], name=f"head {head}", colour=head) for head in range(len(values))]
    chosen = Line(y=values, name="chosen", dashed=True, colour="accent")
    return Curves(
        title=title,
        x=np.arange(values.shape[1], dtype=float),
        lines=[*lines, chosen],
        x_label="distance (words back)",
        y_label=y_label,
        y_range=y_range,
    )
