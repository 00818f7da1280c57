"""The first screen of a page offers few controls and fetches no large program; the rest is one press away.

The rows of a table are its content: the controls of its first row stand for all. test_lab_pages.py looks at
the pages of the lab, which it opens anyway.
"""

import re
from pathlib import Path

import pytest
import streamlit
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.explore_page import settle
from tests.browser.test_one_explore import CONTROLS, MOST_CONTROLS

LARGE = re.compile("PlotlyChart|SyntaxHighlighter|DataFrame")
"""Programs of Streamlit's, of 0.5 to 4.7 MB, which only dialogs and what somebody asks for may need."""
VISIBILITY = "(parts, value) => parts.forEach((part) => (part.style.visibility = value))"
PAGES = ("", "start", "train", "runs", "sweeps", "findings", "talks", "beside", "documents")


@pytest.mark.parametrize("name", PAGES)
def test_the_first_screen_of_a_page_has_few_controls(page: Page, name: str) -> None:
    page.goto(f"/{name}")
    expect(page.locator(".board, .table-box, .talks, .story-column, .start, .map").first).to_be_visible()
    settle(page)
    check_first_screen(page)


def check_first_screen(page: Page) -> None:
    """Of a page that was opened a moment ago."""
    left = page.locator("tbody tr:nth-child(n + 2), .board .rows :is(input, button)")  # the picture, too
    left.evaluate_all(VISIBILITY, "hidden")
    found = page.evaluate(CONTROLS)
    left.evaluate_all(VISIBILITY, "")
    assert 2 < len(found) <= MOST_CONTROLS, "\n".join(found)
    fetched = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    assert len(fetched) > 10 and not [name for name in fetched if LARGE.search(name)]


def test_streamlit_calls_its_large_programs_so() -> None:
    built = Path(streamlit.__file__).parent / "static" / "static" / "js"
    assert all([*built.glob(f"*{name}*.js")] for name in LARGE.pattern.split("|"))


def test_more_settings_open_by_key_and_stay_open(page: Page) -> None:
    page.goto("/block")
    fold, sentence = page.locator(".st-key-lab_side details"), page.get_by_role("textbox", name="Sentence")
    expect(fold).to_be_visible()
    settle(page)
    expect(sentence).to_be_hidden()
    picture = page.locator(".board").bounding_box()
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(sentence).to_be_visible()
    page.keyboard.press("Tab")  # to the list of layers
    page.keyboard.press("Tab")
    sentence.fill("the cat was tired")
    sentence.press("Enter")
    expect(page).to_have_url(re.compile("text=the[+]cat"))
    settle(page)
    expect(sentence).to_be_visible()
    assert page.locator(".board").bounding_box() == picture
    assert violations(page, within=".st-key-lab_side") == []
    page.get_by_role("button", name="Reset").click()
    expect(sentence).not_to_have_value("the cat was tired")
    expect(sentence).to_be_visible()


def test_a_link_that_changes_what_is_folded_opens_the_fold(page: Page) -> None:
    page.goto("/block?norm=post")
    settle(page)
    expect(page.get_by_role("combobox", name="Layer norm")).to_be_visible()
    page.locator(".st-key-lab_heading").get_by_role("radio", name="Depth and gradients").click()
    expect(page.get_by_role("combobox", name="Layer norm")).to_be_visible()  # its own, changed as well
    page.locator(".st-key-lab_heading").get_by_role("radio", name="Layer or batch").click()
    settle(page)
    expect(page.locator(".st-key-lab_side details:not([open])")).to_be_visible()
