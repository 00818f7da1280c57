"""Eight heads as eight Plotly heatmap subplots: how such a page is usually written."""

import numpy as np
import streamlit as st
from plotly.graph_objects import Heatmap
from plotly.subplots import make_subplots

HEADS = 8


@st.fragment
def heads() -> None:
    n_tokens = int(st.query_params.get("tokens", "32"))
    weights = np.exp(
        np.random.default_rng(st.slider("seed", 0, 1000)).normal(size=(HEADS, n_tokens, n_tokens))
    )
    patterns = weights / weights.sum(axis=-1, keepdims=True)  # [head, query, key]
    figure = make_subplots(rows=2, cols=HEADS // 2)
    for head, pattern in enumerate(patterns):
        figure.add_trace(
            Heatmap(z=pattern, coloraxis="coloraxis"),
            row=1 + head // (HEADS // 2),
            col=1 + head % (HEADS // 2),
        )
    st.plotly_chart(figure)


heads()
