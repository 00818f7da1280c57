"""The controls that choose a mask, what it says about itself, and the way to Explore."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from pages.lab import session
from pages.lab.masks.inputs import MASKS, WORDS, painted
from pages.shared import mask_choice
from viz_core.boards import Matrix

HIDDEN, SEEN = "−∞", "0"
AXES: dict[str, Any] = {"row_axis": "query", "column_axis": "key"}


def of_mask(field: str, argument: str) -> None:
    """Which mask: one by name, or the one that was painted on the board."""
    key = session.key("masks", field)
    now = st.session_state[key]
    st.selectbox(
        "Mask",
        [*MASKS, now] if painted(now) else MASKS,
        key=key,
        format_func=lambda mask: mask_choice.NAMES.get(mask, "painted"),
        on_change=session.put,
        args=("masks", {argument: ""}),
        help="Who may attend to whom; or paint your own on the board",
    )
    mask_choice.argument(session.key("masks", argument), now)


def words_slider(field: str, least: int, most: int) -> None:
    st.slider("Words", least, most, key=session.key("masks", field))


def to_explore(field: str, argument: str, length: str) -> None:
    """A link to all heads of an untrained model under this mask, in a tab of its own."""
    mask, given, n = (st.session_state[session.key("masks", name)] for name in (field, argument, length))
    if painted(mask):
        mask, given = "painted", mask
    asked = {"model": "untrained", "text": " ".join(WORDS[:n]), "mask": mask, "mask_arg": given}
    st.link_button(
        "This mask on Explore",
        f"/?{urlencode(asked)}",
        width="stretch",
        help="All heads of an untrained model that reads these words under this mask",
    )


def names(n: int) -> dict[str, Any]:
    """Rows and columns of a matrix [query, key] over the first n words."""
    return {"rows": WORDS[:n], "columns": WORDS[:n], **AXES}


def mask_matrix(allowed: np.ndarray, edit: str | None = None, **options: Any) -> Matrix:
    """The mask as what it adds to the scores: 0 or −∞ [query, key]."""
    return Matrix(values=allowed, title="mask", scale="mask", words=(HIDDEN, SEEN), edit=edit, **options)
