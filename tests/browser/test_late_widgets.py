"""Who changes something before all widgets are there loses nothing of what the link says."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, Route, expect

from tests.browser.board import BoardPage

LATE = re.compile(r"/static/js/(Selectbox|Slider|NumberInput|ButtonGroup)\.")


@contextmanager
def late_widgets(page: Page) -> Iterator[None]:
    """Inside, the code of most widgets does not arrive."""
    held: list[Route] = []
    page.route(LATE, lambda route: held.append(route))
    yield
    assert held, "Streamlit loads the code of its widgets from other files now; name them in LATE"
    page.unroute(LATE)  # which lets those that were held go on


def test_a_lab_page_keeps_the_links_inputs(page: Page) -> None:
    lab = BoardPage(page, "block")
    asked = {"text": "the cat was tired", "residual": "False", "norm": "post", "ff": "2", "seed": "7"}
    with late_widgets(page):
        page.goto("/block?" + "&".join(f"{name}={value}" for name, value in asked.items()))
        expect(lab.board).to_have_attribute("data-generation", "1")
        box = page.get_by_role("textbox", name="Sentence")
        box.fill("the dog was tired")
        box.press("Enter")
        expect(lab.board).to_have_attribute("data-generation", "2")
    lab.wait()
    with lab.redrawn():
        box.fill("the fox was tired")
        box.press("Enter")
    lab.settle()
    assert lab.link() == {**asked, "text": "the fox was tired"}
    assert page.get_by_role("spinbutton", name="Seed").input_value() == "7"
