"""The menu and the pages: one name for each."""

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "pages"
MENU = (PAGES / "navigation.py").read_text("utf-8")
ENTRIES = re.findall(r'st\.Page\("(\w+)/page\.py", title="([^"]+)"', MENU)


def test_a_newcomer_begins_with_the_first_entry() -> None:
    assert ENTRIES[0] == ("start", "Start here") and len(ENTRIES) == 9


@pytest.mark.parametrize(("name", "title"), ENTRIES)
def test_a_page_is_called_in_its_heading_as_in_the_menu(name: str, title: str) -> None:
    text = "".join(file.read_text("utf-8") for file in (PAGES / name).glob("*.py"))
    headings = set(re.findall(r'[^_]heading\("([^"]+)"|<h1>([^<{]+)</h1>', text))
    # Explore has no heading: the sentence that is read stands there.
    assert {one or other for one, other in headings} == ({title} if name != "explore" else set())


def test_pages_of_the_lab_take_both_from_their_texts() -> None:
    assert "title=stop.title" in MENU
    assert "<h1>{page.title}</h1>" in (PAGES / "lab" / "page.py").read_text("utf-8")
