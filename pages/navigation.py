"""Attention Lab: page configuration and navigation."""

import os
from pathlib import Path

import streamlit as st

from models.limits import in_force
from pages.shared import teachers, visitors

SHARED = Path(__file__).parent / "shared"

# The icon is a file of ours: Streamlit's own come from another host.
st.set_page_config(page_title="Attention Lab", page_icon=str(SHARED / "icon.svg"), layout="wide")
st.html(SHARED / "page.css")
st.logo(str(SHARED / "logo.svg"), size="large")
pages = {
    "": [
        st.Page("explore/page.py", title="Explore", default=True),
        st.Page("start/page.py", title="Start here", url_path="start"),
        st.Page("documents/page.py", title="Long texts", url_path="documents"),
        st.Page("beside/page.py", title="Side by side", url_path="beside"),
        st.Page("findings/page.py", title="Findings", url_path="findings"),
    ],
    "The lab": [
        st.Page("lab/attention/page.py", title="Attention", url_path="attention"),
        st.Page("lab/softmax/page.py", title="Softmax", url_path="softmax"),
        st.Page("lab/heads/page.py", title="Heads", url_path="heads"),
        st.Page("lab/masks/page.py", title="Masks", url_path="masks"),
        st.Page("lab/positions/page.py", title="Positions", url_path="positions"),
        st.Page("lab/block/page.py", title="Block", url_path="block"),
        st.Page("lab/translation/page.py", title="Translation", url_path="translation"),
        st.Page("lab/objective/page.py", title="Objective", url_path="objective"),
        st.Page("lab/design/page.py", title="Design", url_path="design"),
    ],
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
