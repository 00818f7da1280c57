"""The talks that ship, and the program that lists them and edits a visitor's own."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from attention_lab.pages.shared import words
from attention_lab.pages.shared.browser.component import Component
from attention_lab.pages.shared.menu import PAGES

NAMES = ("ten-minutes", "paper", "why-scale", "positions", "birth-of-a-head", "papers-heads")
"""In the order of the page: files of shipped/, and of its folder of another language."""
SHEET_NAMES = ("find-the-head", "pronoun", "softmax-scale")
"""Work sheets, files of sheets/, likewise."""
FOLDER = Path(__file__).with_name("shipped")


def by_language(folder: Path, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """By language, and by name: the file in that language, else the English one."""

    def text(code: str, name: str) -> str:
        file = folder / code / f"{name}.md"
        return (file if file.exists() else folder / f"{name}.md").read_text("utf-8")

    return {code: {name: text(code, name) for name in names} for code in words.NAMES}


TALKS, SHEETS = by_language(FOLDER, NAMES), by_language(FOLDER.with_name("sheets"), SHEET_NAMES)
ADDRESSES = {name.replace("explore", ""): title for name, title in PAGES.items() if name != "talks"}
"""What the links of a talk may lead to, with its title."""
ABOUT = (
    "A talk is a tour of these pages in your words: present a ready-made one, or press “add to talk” on any "
    "page."
)
OF_SHEETS = "A talk of tasks is a work sheet; a class opens it by one link."
talks = Component("talks", acts={})


def message_of(
    languages: Iterable[str] = words.NAMES, here: Sequence[str] = tuple(ADDRESSES), *, serves: bool = True
) -> bytes:
    """What the program shows. here: the pages that there are; a site of files has not all, and does not serve
    classes.
    """
    talks = {code: {"talks": TALKS[code], "sheets": SHEETS[code] if serves else {}} for code in languages}
    content = {"pages": ADDRESSES, "here": here, "shipped": talks}
    return json.dumps(content, ensure_ascii=False).encode()
