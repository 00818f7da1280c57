"""Serves page.py as our own server does: what it sends goes out at once, with Nagle's algorithm off."""

import streamlit as st

from attention_lab.pages.shared.browser.requests import sending_at_once

app = st.App("page.py", lifespan=sending_at_once)
