"""Attention Lab as a server: its pages, and what browsers fetch beside them."""

import streamlit as st
from starlette.middleware import Middleware

from pages.shared import imports, streamlit_internals, work_process
from pages.shared.browser import requests
from pages.shared.browser.requests import Gate
from pages.shared.browser.uploading import Uploading

imports.one_at_a_time()
streamlit_internals.ignore_unknown_widgets()
work_process.serve_readers()
app = st.App(
    "pages/navigation.py",
    routes=[*requests.document_routes(), *requests.plotly_routes()],
    middleware=[Middleware(Gate), Middleware(Uploading)],
)
