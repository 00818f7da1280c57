"""What a visitor takes away: figures, numbers and the lines of Python that reproduce them."""

from __future__ import annotations

from typing import Any

import streamlit as st


@st.dialog("Take away", width="large")
def dialog(view: dict[str, Any]) -> None:
    st.write(view)
