"""The talks that ship, and the program that lists them and edits a visitor's own."""

import json
from collections.abc import Sequence
from pathlib import Path

from attention_lab.pages.shared.browser.component import Component
from attention_lab.pages.shared.menu import PAGES

NAMES = ("ten-minutes", "paper", "why-scale", "positions", "birth-of-a-head", "papers-heads")
"""In the order of the page: files of shipped/."""
SHEET_NAMES = ("find-the-head", "pronoun", "softmax-scale")
"""Work sheets, files of sheets/."""
FOLDER = Path(__file__).with_name("shipped")
TALKS = {name: (FOLDER / f"{name}.md").read_text("utf-8") for name in NAMES}
SHEETS = {name: (FOLDER.with_name("sheets") / f"{name}.md").read_text("utf-8") for name in SHEET_NAMES}
ADDRESSES = {name.replace("explore", ""): title for name, title in PAGES.items() if name != "talks"}
"""What the links of a talk may lead to, with its title."""
ABOUT = (
    "A talk is a way through these pages with your words: present one that ships, or make your own by “add "
    "to talk” on any page."
)
OF_SHEETS = "A talk whose stops are tasks is a work sheet, on which a class works by one link."
talks = Component("talks", acts={})


def message_of(here: Sequence[str] = tuple(ADDRESSES), *, serves: bool = True) -> bytes:
    """What the program shows. here: the pages that there are; a site of files has not all, and does not serve
    classes.
    """
    content = {"pages": ADDRESSES, "here": here, "talks": TALKS, "sheets": SHEETS if serves else {}}
    return json.dumps(content, ensure_ascii=False).encode()
