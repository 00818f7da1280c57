"""The controls that choose a mask, what it says about itself, and the way to Explore."""

from typing import Any
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from models.mask_names import about_argument
from pages.lab.controls import Note, Own
from pages.lab.masks.inputs import MASKS, WORDS, painted
from pages.shared.state import State
from viz_core.boards import Matrix

PAINT = Note("Paint: click or drag over the cells of the mask.")
HIDDEN, SEEN = "−∞", "0"
NO_ARGUMENT = "Only some masks have one: a window has its width"
AXES: dict[str, Any] = {"row_axis": "query", "column_axis": "key"}


def of_mask(field: str, argument: str) -> Own:
    """Chooses a mask, one by name or the one that was painted on the board, and its argument."""

    def draw(state: State) -> None:
        now = state.kept[field]
        options = (*MASKS, now) if painted(now) else MASKS
        state.draw(field, options=options, then=lambda: state.put({argument: ""}))
        about = about_argument(now)
        help = f"{about.example} = {about.meaning}" if about.rule else NO_ARGUMENT
        state.draw(argument, placeholder=about.example or "none", disabled=not about.rule, help=help)

    return Own(draw, (field, argument))


def on_explore(field: str, argument: str, length: str) -> Own:
    """A link to all heads of an untrained model under this mask, in a tab of its own."""

    def draw(state: State) -> None:
        mask, given, n = (state.kept[name] for name in (field, argument, length))
        if painted(mask):
            mask, given = "painted", mask
        asked = {"model": "untrained", "text": " ".join(WORDS[:n]), "mask": mask, "mask_arg": given}
        st.link_button(
            "This mask on Explore",
            f"/?{urlencode(asked)}",
            width="stretch",
            help="All heads of an untrained model that reads these words under this mask",
        )

    return Own(draw)


def names(n: int) -> dict[str, Any]:
    """Rows and columns of a matrix [query, key] over the first n words."""
    return {"rows": WORDS[:n], "columns": WORDS[:n], **AXES}


def mask_matrix(allowed: np.ndarray, edit: str | None = None, **options: Any) -> Matrix:
    """The mask as what it adds to the scores: 0 or −∞ [query, key]."""
    return Matrix(values=allowed, title="mask", scale="mask", words=(HIDDEN, SEEN), edit=edit, **options)
