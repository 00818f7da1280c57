"""Widgets that the browser has not told of yet.

Streamlit loads the code of its widgets late, and a value that the server has set reaches them with one run
alone. If a person changes something before all widgets are there, those that come later begin with their own
defaults, not with what the link says, and soon send that. A value that is written again goes to the browser
again; of a widget that it has told of, this would undo what a person has moved since.
"""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import user_key_from_element_id


def write_again(keys: Iterable[str]) -> None:
    """Before widgets are drawn: gives those of these keys that are untold the session's values once more."""
    context = get_script_run_ctx(suppress_warning=True)
    states = context.session_state.get_widget_states() if context else []
    told = {user_key_from_element_id(state.id) for state in states}
    for key in keys:
        if key not in told and key in st.session_state:
            st.session_state[key] = st.session_state[key]
