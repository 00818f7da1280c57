"""Attention Lab as a server: its pages, and what browsers fetch beside them."""

import streamlit as st

from pages.shared import imports
from pages.shared.browser import document, plotly_js

imports.one_at_a_time()
app = st.App("pages/navigation.py", routes=[*document.routes(), *plotly_js.routes()])
