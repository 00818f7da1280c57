"""The parts of the lab pages, and what is done with each of them in the browser."""

from collections.abc import Sequence

from playwright.sync_api import Locator, Page, expect

from attention_lab.pages.shared.lab_stops import STOPS
from tests.browser.board import BoardPage
from tests.browser.explore_page import Tab, settle
from tests.browser.lab_scripts import MISSED, NOTE_FOCUS, RESIZED, SCROLLED_SIDEWAYS, STICKING_OUT

# Page, name and label of each.
PARTS = [(stop.name, name, part.label) for stop in STOPS for name, part in stop.parts.items()]
FIRST_PARTS = list({page: (page, part, label) for page, part, label in reversed(PARTS)}.values())[::-1]
ALL_PANELS = [*FIRST_PARTS, *(each for each in PARTS if each[1] in ("reach", "rotary"))]
"""Between them they show all kinds of panels."""


def use_scheme(tab: Tab, scheme: str) -> None:
    """Light or dark; figures and tables follow a moment later than the page around them."""
    if tab.page.evaluate("(name) => matchMedia(`(prefers-color-scheme: ${name})`).matches", scheme):
        return
    before = tab.figure.evaluate("(figure) => figure.style.getPropertyValue('--muted')")
    tab.page.emulate_media(color_scheme=scheme)
    expect(tab.page.get_by_test_id("stApp")).to_have_css("color-scheme", scheme)
    expect(tab.page.locator(f"[style*='--muted: {before}']")).to_have_count(0)
    settle(tab.page)
    expect(tab.figure.locator(".plot[aria-busy=true]:visible")).to_have_count(0)
    # What Streamlit draws changes its colours slowly.
    while tab.page.evaluate("document.getAnimations().some((each) => each instanceof CSSTransition)"):
        tab.page.wait_for_timeout(20)


def resize(lab: BoardPage, width: int, height: int) -> None:
    """Give the window another size, and the page the frames in which it follows."""
    lab.page.set_viewport_size({"width": width, "height": height})
    lab.board.evaluate(RESIZED, [width, height])


def lasting(lab: BoardPage, question: str, *given: float) -> list[str]:
    """The first faults that the browser still finds once it had the time to lay a board out anew."""
    for _ in range(30):
        found: list[str] = lab.board.evaluate(question, *given)
        if not found:
            return []
        lab.page.wait_for_timeout(100)
    return found[:4]


def overflow(lab: BoardPage) -> list[str]:
    """What sticks out of the page, or of the board, at the right."""
    return [*lasting(lab, STICKING_OUT), *sideways(lab)]


def sideways(lab: BoardPage) -> list[str]:
    """How far the page can be scrolled to the right, if at all."""
    return lasting(lab, SCROLLED_SIDEWAYS)


def tab_through(page: Page, wanted: Sequence[Locator]) -> list[str]:
    """Press Tab until the focus has been on everything wanted; what it missed after 400 times."""
    page.locator(".board").evaluate(NOTE_FOCUS)
    missed: list[str] = []
    for _ in range(20):
        for _ in range(20):
            page.keyboard.press("Tab")
        missed = [html for locator in wanted for html in locator.evaluate_all(MISSED)]
        if not missed:
            break
    return missed
