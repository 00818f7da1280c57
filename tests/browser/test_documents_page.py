"""Long texts: the map shows the head, a wheel zooms into it, a press says where a query looks."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from attention_lab.models import load_model
from attention_lab.pages.documents.state import sample
from tests.browser.axe import SERIOUS, violations
from tests.browser.explore_page import Tab, agrees, settle
from tests.browser.lab_parts import use_scheme

SECONDS = 60_000
LATE_WHEEL = """
(plot) => plot.emit("plotly_relayout", {
  "xaxis.range[0]": -0.5, "xaxis.range[1]": 999.5, "yaxis.range[0]": 999.5, "yaxis.range[1]": -0.5,
})
"""


TREE = """
- region "Map of a pattern":
  - heading "What is shown" [level=2]
  - group: More
  - region "Pairs":
    - heading /Query/ [level=2]
    - list:
      - listitem:
        - button
    - group: 7 more
    - heading "Brightest pairs" [level=2]
"""


@pytest.fixture
def shown(page: Page) -> Locator:
    """The map of the page's own text."""
    page.set_default_timeout(SECONDS)
    page.goto("/documents")
    found = page.locator(".map[data-generation]")
    found.wait_for()
    settle(page)
    return found


def tiles(shown: Locator) -> Locator:
    return shown.locator(".heatmaplayer image")


def test_the_whole_then_a_part_then_a_row_and_a_column(shown: Locator, page: Page) -> None:
    n = len(sample())
    expect(shown.locator(".notice")).to_contain_text(f"sparse, layer 0 head 0: {n:,} tokens")
    expect(tiles(shown)).to_have_count(1)
    pattern = load_model("sparse").stretched(n).trace(sample())["decoder.0.self.pattern"][0]
    first = shown.locator(".pair").first
    assert agrees(first.locator(".weight").inner_text(), pattern[1:].max().item())  # query 0 has no choice
    expect(shown.locator(".lists")).to_contain_text("One query sees only one key and is left out")
    expect(shown.locator(".pair").nth(5)).to_be_hidden()
    shown.locator(".lists summary").click()
    shown.locator(".pair").nth(5).click()
    expect(tiles(shown)).to_have_count(2)
    expect(shown.locator("h2:not(.heard)").first).to_contain_text("Query")
    named = shown.locator("h2 strong.query").inner_text()
    query = int(named.split(" ")[0].replace(",", ""))
    row = shown.locator("ol").first.locator(".weight").first.inner_text()
    assert agrees(row, pattern[query].max().item())
    shown.get_by_role("button", name="whole").click()
    page.mouse.move(0, 0)
    box = shown.locator(".plot").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    expect(shown.locator(".over")).to_contain_text("largest weight of")
    page.mouse.wheel(0, -600)
    shown.focus()
    for _ in range(6):
        page.keyboard.press("+")
    expect(tiles(shown)).to_have_count(2)
    over = shown.locator(".over")
    expect(over).to_contain_text("(weight)")  # the map moved under a pointer at rest
    told = re.fullmatch(r"query ([\d,]+) “.*” → key ([\d,]+) “.*”: (.+) \(weight\)", over.inner_text())
    assert told is not None, over.inner_text()
    at = [int(place.replace(",", "")) for place in told.groups()[:2]]
    assert agrees(told[3], pattern[*at].item())
    before = over.inner_text()
    shown.locator(".plot").evaluate(LATE_WHEEL)
    page.wait_for_timeout(500)
    assert over.inner_text() == before, "a key goes before a wheel that Plotly tells of late"
    page.mouse.move(0, 0)
    expect(over).to_contain_text("a press shows a row and a column")


def test_another_head_is_another_picture_and_the_link_says_which(shown: Locator, page: Page) -> None:
    before = shown.get_attribute("data-generation")
    page.get_by_role("spinbutton", name="Head").fill("2")
    page.get_by_role("spinbutton", name="Head").press("Enter")
    expect(shown).not_to_have_attribute("data-generation", str(before))
    expect(shown.locator(".notice")).to_contain_text("head 2")
    expect(page).to_have_url(re.compile("head=2"))
    page.get_by_role("button", name="More settings").click()
    page.get_by_role("radio", name="log").click()
    expect(page).to_have_url(re.compile("range=log"))
    page.keyboard.press("Escape")
    shown.get_by_text("More", exact=True).click()
    shown.get_by_role("button", name="take away").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Brightest pairs, CSV")).to_be_visible()
    expect(dialog.get_by_test_id("stCode")).to_contain_text("heads.window(2, ")


def test_a_copied_link_brings_back_the_text_the_place_and_the_row(
    shown: Locator, page: Page, new_page: Callable[..., Page]
) -> None:
    """And another document is seen as a whole."""
    text = "to be or not to be, that is the question. " * 9
    page.goto(f"/documents?text={text}")
    shown.locator(".pair").nth(2).click()
    expect(page).to_have_url(re.compile("zoom=.*pair="))
    query = shown.locator("h2 strong.query").inner_text()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.get_by_text("More", exact=True).click()
    shown.get_by_role("button", name="copy link").click()
    expect(shown.get_by_role("button", name="link copied")).to_be_visible()
    ticks = shown.locator(".ytick").all_inner_texts()
    friend = new_page()
    friend.goto(page.evaluate("navigator.clipboard.readText()"))
    theirs = friend.locator(".map[data-generation]")
    expect(theirs.locator("h2 strong.query")).to_have_text(query, timeout=SECONDS)
    expect(theirs.locator(".notice")).to_contain_text(f"{len(text.strip()):,} tokens")
    expect(tiles(theirs)).to_have_count(2)
    assert theirs.locator(".ytick").all_inner_texts() == ticks
    friend.get_by_role("button", name="Document: paste a text").click()
    friend.get_by_role("textbox").fill(text * 2)
    friend.get_by_role("textbox").press("Control+Enter")
    expect(theirs.locator("h2 strong.query")).to_have_count(0)
    expect(friend).not_to_have_url(re.compile("zoom=|pair="))


def test_a_text_that_the_model_cannot_read_is_refused_in_a_sentence(shown: Locator, page: Page) -> None:
    page.goto("/documents?model=shakespeare")
    expect(page.locator(".st-key-problems")).to_contain_text("vectors for 64 positions")
    page.goto("/documents?model=digits-classifier")
    expect(page.locator(".st-key-problems")).to_contain_text("is not the name of a model that reads text")
    page.goto("/documents?model=translator&stack=decoder.cross&text=the animal sleeps in the street")
    expect(shown.locator(".notice")).to_contain_text("cross, layer 0 head 0")
    expect(shown.locator(".notice")).to_contain_text("queries")


def test_axe_finds_no_serious_fault(shown: Locator, page: Page) -> None:
    """Nor in dark one of contrast, the only one that dark alone can have."""
    page.locator(".pair").first.click()
    page.locator(".map h2 strong.query").wait_for()
    use_scheme(Tab(page, ".map"), "light")
    shown.focus()
    page.keyboard.press("v")
    tables = shown.get_by_role("dialog").get_by_role("table")
    weights = page.locator(".map .lists ol").first.locator(".weight").all_inner_texts()
    assert tables.first.get_by_role("cell").all_inner_texts() == [weight.strip() for weight in weights]
    page.keyboard.press("Escape")
    expect(shown).to_be_focused()
    expect(shown).to_match_aria_snapshot(TREE)
    faults = violations(page, impacts=SERIOUS)
    use_scheme(Tab(page, ".map"), "dark")
    assert [*faults, *violations(page, "color-contrast")] == []


def test_a_file_is_read_and_one_that_is_no_text_is_refused(shown: Locator, page: Page) -> None:
    page.get_by_role("button", name="Document: paste a text").click()
    take = page.locator('input[type="file"]')
    take.set_input_files({"name": "x.txt", "mimeType": "text/plain", "buffer": b"\xff\xfe\x00\xd8"})
    expect(page.locator(".st-key-problems")).to_contain_text("The file is no UTF-8 text")
    text = "to be or not to be, that is the question. " * 9
    take.set_input_files({"name": "y.txt", "mimeType": "text/plain", "buffer": text.encode()})
    expect(shown.locator(".notice")).to_contain_text(f"{len(text):,} tokens")


def test_reading_that_takes_long_can_be_stopped_and_begun_again(shown: Locator, page: Page) -> None:
    text = "to be or not to be, that is the question. " * 2_000
    page.goto("/documents?model=untrained")
    page.locator(".map[data-generation]").wait_for()
    settle(page)
    page.get_by_role("button", name="Document: paste a text").click()
    page.locator('input[type="file"]').set_input_files(
        {"name": "long.txt", "mimeType": "text/plain", "buffer": text.encode()}
    )
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(".st-key-problems")).to_have_text("It was stopped.")
    page.wait_for_timeout(1_500)  # it does not begin by itself
    expect(page.locator(".st-key-problems")).to_have_text("It was stopped.")
    page.get_by_role("button", name="Read it again").click()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    expect(shown.locator(".notice")).to_contain_text("20,000 tokens", timeout=120_000)
