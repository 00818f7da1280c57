"""What a layer is made of: the switches that two parts share."""

from __future__ import annotations

import streamlit as st

from pages.lab.block.inputs import ACTIVATIONS, FF_WIDTHS, NORMS
from pages.lab.session import key

FIELDS = ("residual", "norm", "ff", "activation", "seed")
USUAL = {"residual": True, "norm": "pre", "ff": 4, "activation": "relu"}


def switches() -> None:
    """Residual, norm, feed-forward, activation and the seed of random weights."""
    st.toggle("Residual connections", key=key("block", "residual"), help="On: x + f(x). Off: f(x) alone")
    st.selectbox("Layer norm", list(NORMS), key=key("block", "norm"), format_func=NORMS.__getitem__)
    st.select_slider(
        "Feed-forward width",
        FF_WIDTHS,
        key=key("block", "ff"),
        format_func=lambda times: f"{times} × d_model" if times else "none",
        help="d_ff, the width of its hidden layer; none leaves the network out",
    )
    st.segmented_control("Activation", ACTIVATIONS, key=key("block", "activation"), required=True)
    st.number_input("Seed", 0, 99, key=key("block", "seed"), help="Other random weights")
