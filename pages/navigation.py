"""Attention Lab: page configuration and navigation."""

import os
from functools import partial
from pathlib import Path

import streamlit as st

from attention_lab.models.limits import in_force
from attention_lab.pages.explore.routes import own_sentence
from attention_lab.pages.lab import page as lab
from attention_lab.pages.shared import teachers, visitors, words
from attention_lab.pages.shared.browser import descriptors
from attention_lab.pages.shared.lab_stops import NAMES
from attention_lab.pages.shared.menu import MENU
from attention_lab.pages.start import walk

SHARED = Path(__file__).parent / "shared"


def main() -> None:
    words.choose()
    descriptors.here()
    pages = {
        group: [
            st.Page(
                partial(lab.show, name) if name in NAMES else f"{name}/page.py",
                title=title, url_path=name, default=name == "explore",
            )
            for name, title in entries.items()
        ]
        for group, entries in MENU
    }  # fmt: skip
    if visitors.is_class() and os.environ.get(teachers.HASH):
        pages["More"].append(st.Page("teacher/page.py", title="Teacher", url_path="teacher"))
    if in_force().kiosk:
        everything = [page for group in pages.values() for page in group]
        pages = {"": [page for page in everything if page.title.lower() == in_force().kiosk]}
    page = st.navigation(pages, position="top")
    name = words.say(page.title)
    # The icon is a file of ours: Streamlit's own come from another host.
    st.set_page_config(f"{name} · Attention Lab", page_icon=str(SHARED / "icon.svg"), layout="wide")
    door = next((at for at, group in enumerate(pages.values()) if page in group), 0)
    with st.container(key="languages"):
        # Explore has no heading that is seen.
        heading = f"<h1 class=heard>{name}</h1>" if page.title == "Explore" else ""
        st.html(f"<i class=door-{door}></i>{words.switch(words.language())}{heading}")
    st.logo(str(SHARED / "logo.svg"), size="large")
    if not in_force().kiosk:
        walk.bar(page.url_path or "explore", lambda: own_sentence(st.session_state.get("session", "")))
    page.run()


if __name__ == "__main__":  # a process that a page starts imports this file, too
    main()
