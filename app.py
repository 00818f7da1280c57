"""Attention Lab as a server: its pages, and what browsers fetch beside them."""

import streamlit as st
from starlette.middleware import Middleware

from pages.shared import imports, readers, widget_internals
from pages.shared.browser import document, plotly_js
from pages.shared.browser.gate import Gate
from pages.shared.browser.uploading import Uploading

imports.one_at_a_time()
widget_internals.hear_widgets_alone()
readers.serve()
app = st.App(
    "pages/navigation.py",
    routes=[*document.routes(), *plotly_js.routes()],
    middleware=[Middleware(Gate), Middleware(Uploading)],
)
