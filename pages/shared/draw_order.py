"""The order in which a page's parts are sent."""

import time
from collections.abc import Callable, Sequence

from streamlit.delta_generator import DeltaGenerator

PAUSE_S = 0.04
"""The browser paints together what arrives within this time; the figure would wait for two dozen widgets."""


def draw(parts: Sequence[tuple[DeltaGenerator, Callable[[], None]]], *, again: bool) -> None:
    """Draws each part in its place; the last is the figure.

    A first run paints the page from the top. When it runs `again`, after a change, the figure is sent first,
    and the rest once the browser has had the time to paint it.
    """
    for place, draw_part in reversed(parts) if again else parts:
        with place:
            draw_part()
        if again and draw_part is parts[-1][1]:
            time.sleep(PAUSE_S)
