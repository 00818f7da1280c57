"""How the curves of Train and Runs are drawn: the controls above them, which a link keeps."""

import streamlit as st

from pages.shared import widget
from pages.shared.link import Param, number, one_of
from pages.shared.state import State
from pages.shared.training.curves import View
from viz_core.measures import MEASURES

USUAL = "usual"
CHOSEN = {measure.name: measure.title for measure in MEASURES if measure.needs in (None, "tokens")}
"""The measures of a head that need no more than its pattern and the tokens."""
SMOOTH = (
    "Exponential moving average of what is recorded, corrected for its start: "
    "s(i) = w s(i-1) + (1 - w) y(i), divided by 1 - w^i. "
    "The curve as recorded stays behind it, pale. 0 smooths nothing."
)
_MEASURE = "A number for every head at every snapshot, from its weights on the example that is watched"


def state(page: str, *, log_x: bool = False) -> State:
    """The view of a page's curves; its fields are in the link."""
    x = {"steps": "Steps", "tokens": "Tokens", "seconds": "Seconds"}
    scales = {"linear": "Linear", "log": "Log"}
    norms = {"gradient": "Gradient", "weights": "Weights"}
    measures = {USUAL: "usual for the task", **CHOSEN}
    return State(
        f"{page}.view",
        {
            "curves_x": Param("steps", one_of(x), widget.segmented("x", show=x.__getitem__)),
            "curves_x_scale": Param(
                "log" if log_x else "linear",
                one_of(scales),
                widget.segmented("x axis", show=scales.__getitem__),
            ),
            "curves_y_scale": Param(
                "linear", one_of(scales), widget.segmented("y axis", show=scales.__getitem__)
            ),
            "smoothing": Param(
                0.0, number(0, 0.99), widget.slider("Smoothing", SMOOTH, step=0.01, width=140)
            ),
            "part_norms": Param("gradient", one_of(norms), widget.segmented("Parts", show=norms.__getitem__)),
            "head_measure": Param(
                USUAL,
                one_of(measures),
                widget.select("Heads", _MEASURE, show=measures.__getitem__, width=190),
            ),
        },
    )


def draw(shown: State, *, heads: bool = True, parts: bool = True) -> View:
    """Draws the controls in a row and returns the view. heads: whether parts and heads are drawn, too.
    parts: whether any norms of parts are known.
    """
    fields = [name for name in shown.params if parts or name != "part_norms"]
    with st.container(
        horizontal=True, vertical_alignment="bottom", key=f"{shown.name.replace('.', '_')}_controls"
    ):
        for field in fields if heads else fields[:4]:
            shown.draw(field)
    return of(shown)


def of(shown: State) -> View:
    """The view that is set."""
    kept = shown.kept
    return View(
        x=kept["curves_x"],
        log_x=kept["curves_x_scale"] == "log",
        log_y=kept["curves_y_scale"] == "log",
        smoothing=kept["smoothing"],
        norms=kept["part_norms"],
        measure="" if kept["head_measure"] == USUAL else kept["head_measure"],
    )
