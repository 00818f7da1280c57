"""The menu and the pages: one name for each."""

import re
from pathlib import Path

import pytest

from attention_lab.pages.shared.lab_stops import STOPS
from attention_lab.pages.shared.menu import MENU
from attention_lab.pages.shared.menu import PAGES as TITLES

PAGES = Path(__file__).parents[2] / "pages"
OF_THE_LAB = {stop.name: stop.title for stop in STOPS}
ENTRIES = [each for each in TITLES.items() if each[0] not in OF_THE_LAB]


def test_five_doors_lead_to_all_pages() -> None:
    doors = {title or pages["explore"]: pages for title, pages in MENU}
    assert list(doors) == ["Explore", "Learn", "Compare", "Train", "More"]
    assert next(iter(doors["Learn"])) == "start"
    assert OF_THE_LAB.items() <= doors["Learn"].items()


@pytest.mark.parametrize(("name", "title"), ENTRIES)
def test_a_page_is_called_in_its_heading_as_in_the_menu(name: str, title: str) -> None:
    text = "".join(file.read_text("utf-8") for file in (PAGES / name).glob("*.py"))
    headings = set(re.findall(r'[^_]heading\("([^"]+)"|<h1>([^<{]+)</h1>', text))
    # Explore has no heading: the sentence that is read stands there.
    assert {one or other for one, other in headings} == ({title} if name != "explore" else set())
