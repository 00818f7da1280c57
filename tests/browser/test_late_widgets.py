"""Who changes something before all widgets are there loses nothing of what the link says."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, Route, expect

from tests.browser.board import BoardPage
from tests.browser.explore_page import ExplorePage, settle

LATE = re.compile(r"/static/js/(Selectbox|Slider|NumberInput|ButtonGroup)\.")


@contextmanager
def late_widgets(page: Page) -> Iterator[None]:
    """Inside, the code of most widgets does not arrive."""
    held: list[Route] = []
    page.route(LATE, lambda route: held.append(route))
    yield
    assert held, "Streamlit loads the code of its widgets from other files now; name them in LATE"
    page.unroute(LATE)  # which lets those that were held go on


def test_explore_keeps_the_links_model_and_sizes(explore: ExplorePage) -> None:
    page = explore.page
    with late_widgets(page):
        page.goto("/?model=untrained&text=one+two+three&n_heads=2&d_model=32&mask=causal")
        expect(explore.stage).to_have_attribute("data-generation", "1")
        explore.type("four words are here")
        expect(explore.stage).to_have_attribute("data-generation", "2")
    expect(page.get_by_role("button", name="Reset", exact=True)).to_be_visible()
    settle(page)
    with explore.redrawn():
        explore.type("and now five are here")
    settle(page)
    assert {"model=untrained", "n_heads=2", "d_model=32", "mask=causal"} <= set(
        page.url.split("?")[1].split("&")
    )
    expect(page.get_by_role("combobox", name="Model")).to_have_value("untrained")


def test_a_lab_page_keeps_the_links_inputs(page: Page) -> None:
    explore = BoardPage(page, "block")
    asked = {"text": "the cat was tired", "residual": "False", "norm": "post", "ff": "2", "seed": "7"}
    with late_widgets(page):
        page.goto("/block?" + "&".join(f"{name}={value}" for name, value in asked.items()))
        expect(explore.board).to_have_attribute("data-generation", "1")
        box = page.get_by_role("textbox", name="Sentence")
        box.fill("the dog was tired")
        box.press("Enter")
        expect(explore.board).to_have_attribute("data-generation", "2")
    explore.wait()
    with explore.redrawn():
        box.fill("the fox was tired")
        box.press("Enter")
    explore.settle()
    assert explore.link() == {**asked, "text": "the fox was tired"}
    assert page.get_by_role("spinbutton", name="Seed").input_value() == "7"
