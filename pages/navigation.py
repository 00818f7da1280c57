"""Attention Lab: page configuration and navigation."""

import os
from pathlib import Path

import streamlit as st

from attention_lab.models.limits import in_force
from attention_lab.pages.shared import teachers, visitors, words
from attention_lab.pages.shared.lab_stops import STOPS

SHARED = Path(__file__).parent / "shared"

# The icon is a file of ours: Streamlit's own come from another host.
st.set_page_config(page_title="Attention Lab", page_icon=str(SHARED / "icon.svg"), layout="wide")
words.choose()
st.html(SHARED / "page.css")
with st.container(key="languages"):
    st.html(words.switch())
st.logo(str(SHARED / "logo.svg"), size="large")
pages = {
    "": [
        st.Page("start/page.py", title="Start here", url_path="start"),
        st.Page("explore/page.py", title="Explore", default=True),
        st.Page("documents/page.py", title="Long texts", url_path="documents"),
        st.Page("beside/page.py", title="Side by side", url_path="beside"),
        st.Page("findings/page.py", title="Findings", url_path="findings"),
    ],
    "The lab": [st.Page(f"lab/{stop.name}/page.py", title=stop.title, url_path=stop.name) for stop in STOPS],
    "Your models": [
        st.Page("train/page.py", title="Train", url_path="train"),
        st.Page("runs/page.py", title="Runs", url_path="runs"),
        st.Page("sweeps/page.py", title="Sweeps", url_path="sweeps"),
    ],
}
if visitors.is_class() and os.environ.get(teachers.HASH):
    pages[""].append(st.Page("teacher/page.py", title="Teacher", url_path="teacher"))
if in_force().kiosk:
    everything = [page for group in pages.values() for page in group]
    pages = {"": [page for page in everything if page.title.lower() == in_force().kiosk]}
st.navigation(pages, position="top").run()
