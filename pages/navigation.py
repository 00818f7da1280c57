"""Attention Lab: page configuration and navigation."""

import os
from pathlib import Path

import streamlit as st

from attention_lab.models.limits import in_force
from attention_lab.pages.shared import teachers, visitors, words
from attention_lab.pages.shared.browser import descriptors
from attention_lab.pages.shared.menu import MENU

SHARED = Path(__file__).parent / "shared"


def main() -> None:
    words.choose()
    descriptors.here()
    pages = {
        group: [
            st.Page(
                f"{'lab/' if group == 'The lab' else ''}{name}/page.py",
                title=title, url_path=name, default=name == "explore",
            )
            for name, title in entries.items()
        ]
        for group, entries in MENU.items()
    }  # fmt: skip
    if visitors.is_class() and os.environ.get(teachers.HASH):
        pages[""].append(st.Page("teacher/page.py", title="Teacher", url_path="teacher"))
    if in_force().kiosk:
        everything = [page for group in pages.values() for page in group]
        pages = {"": [page for page in everything if page.title.lower() == in_force().kiosk]}
    page = st.navigation(pages, position="top")
    name = words.say(page.title)
    # The icon is a file of ours: Streamlit's own come from another host.
    st.set_page_config(f"{name} · Attention Lab", page_icon=str(SHARED / "icon.svg"), layout="wide")
    with st.container(key="languages"):
        # Explore has no heading that is seen.
        st.html(
            words.switch(words.language())
            + (f"<h1 class=heard>{name}</h1>" if page.title == "Explore" else "")
        )
    st.logo(str(SHARED / "logo.svg"), size="large")
    page.run()


if __name__ == "__main__":  # a process that a page starts imports this file, too
    main()
