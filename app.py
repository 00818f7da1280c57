"""Attention Lab as a server: its pages, and what browsers fetch beside them."""

import streamlit as st
from starlette.middleware import Middleware

from attention_lab.pages.documents.component import pattern_map
from attention_lab.pages.explore import routes as explore
from attention_lab.pages.explore.component import stage
from attention_lab.pages.hall.routes import hall_routes
from attention_lab.pages.shared import imports, streamlit_internals, words, work_process
from attention_lab.pages.shared.board.on_page import component as board
from attention_lab.pages.shared.browser import requests
from attention_lab.pages.shared.browser.requests import Gate
from attention_lab.pages.shared.browser.uploading import Uploading
from attention_lab.pages.shared.table import table
from attention_lab.pages.sheets.routes import sheet_routes
from attention_lab.pages.start.component import start
from attention_lab.pages.talks import show
from attention_lab.pages.talks.talks import talks

imports.import_shared()
streamlit_internals.ignore_unknown_widgets()
streamlit_internals.hear_messages(words.translate)
work_process.serve_readers()
app = st.App(
    "pages/navigation.py",
    routes=[
        *requests.document_routes(stage.address, board.address),
        *requests.plotly_routes(),
        *explore.routes(),
        *show.routes(),
        *hall_routes(),
        *sheet_routes(),
        *requests.words_routes(),
        *(component.route for component in (stage, board, pattern_map, table, start, talks)),
    ],
    lifespan=requests.sending_at_once,
    middleware=[Middleware(Gate), Middleware(Uploading)],
)
