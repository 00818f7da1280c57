"""A phone: text, headline and figure on the first screen, the rest in a sheet or below the figure, nothing
scrolled sideways.

Every part of the lab at this size: tests/browser/test_lab_pages.py.
"""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.explore_page import settle
from tests.browser.lab_scripts import SCROLLED_SIDEWAYS

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
HEADLINE, FIGURES = ".board .notice", ".board .rows"
PAGES = [  # name in the navigation, headline, figure, and the controls that are in its sheet
    ("Explore", ".stage .notice", ".stage .panel", ""),  # its settings stand below the picture
    ("Encoder and decoder", HEADLINE, FIGURES, "lab_side"),
    ("Side by side", HEADLINE, FIGURES, "beside_side"),
    ("Findings", HEADLINE, FIGURES, "findings_side"),
    ("Runs", ".table-box", ".table-box", ""),  # above the figure stand as many runs as other tests have left
    ("Sweeps", HEADLINE, FIGURES, ""),
    ("Train", HEADLINE, FIGURES, ""),
]


@pytest.fixture
def phone(new_page: Callable[..., Page]) -> Page:
    page = new_page(**PHONE)
    page.goto("/?view=head")
    page.locator(".stage[data-generation]").wait_for()
    return page


def test_every_page_fits_a_phone(phone: Page) -> None:
    faults = []
    for name, headline, figure, side in PAGES:
        if name != "Explore":
            phone.get_by_test_id("stExpandSidebarButton").tap()
            phone.get_by_test_id("stSidebarNavLink").get_by_text(name, exact=True).tap()
            phone.get_by_role("heading", level=1, name=name, exact=True).wait_for()
        phone.locator(headline).first.wait_for()
        settle(phone)
        for part in (headline, figure):
            top = place(phone.locator(part).first)["y"]
            faults += [f"{name}: {part} begins at {top:.0f} px"] if top > 800 else []
        faults += [f"{name}: {fault}" for fault in phone.evaluate(SCROLLED_SIDEWAYS)]
        if name == "Explore":
            settings_stand_below(phone)
        if side:
            open_sheet(phone, side)
        if name == "Side by side":  # a finger that begins on a figure moves the page, as anywhere else
            assert (
                phone.locator(".board .plot").first.evaluate("(plot) => plot._fullLayout.dragmode") is False
            )
        if name == "Encoder and decoder":
            scroll_the_words(phone.locator(".diagram").first)
    assert not faults, "\n".join(faults)


def place(part: Locator) -> dict[str, float]:
    part.wait_for()
    box = part.bounding_box()
    assert box is not None
    return {**box}


def settings_stand_below(phone: Page) -> None:
    """Below Explore's figure, as wide as it; one press puts them away."""
    settings, figure = phone.locator(".stage .side-panel"), place(phone.locator(".stage .panel"))
    box = place(settings)
    assert box["y"] >= figure["y"] + figure["height"] and abs(box["width"] - figure["width"]) < 2
    for part in settings.locator("select:visible, input:visible, [role=grid]").all():
        inside = place(part)
        assert box["x"] <= inside["x"] and inside["x"] + inside["width"] <= box["x"] + box["width"] + 1
    button = phone.get_by_role("button", name="settings", exact=True)
    button.tap()
    expect(settings).to_be_hidden()
    button.tap()
    expect(settings).to_be_visible()


def open_sheet(phone: Page, side: str) -> None:
    """One press opens the controls from below, one closes them; the headline stays in sight."""
    controls = phone.locator(f".st-key-{side}")
    expect(controls).not_to_be_visible()
    button = phone.get_by_role("button", name="controls", exact=True)
    assert place(button)["height"] >= 40
    button.tap()
    expect(controls).to_be_in_viewport()
    box = place(controls)
    assert box["y"] > 300 and box["y"] + box["height"] == 844 and box["width"] == 390
    phone.get_by_role("button", name="Close", exact=True).tap()
    expect(controls).not_to_be_visible()


def scroll_the_words(strip: Locator) -> None:
    """Words are written out in a row that moves by itself; the one that is lit is in sight."""
    assert strip.evaluate("(strip) => strip.scrollWidth > strip.clientWidth + 100")
    assert "…" not in "".join(strip.locator(".box-label").all_text_contents())
    expect(strip.locator("[data-level='3']").first).to_be_in_viewport()
