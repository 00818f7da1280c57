"""Start here: the way through the lab, and what this browser alone remembers of it."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from attention_lab.pages.start.walk import STATIONS
from tests.browser.axe import violations
from tests.browser.board import LAB_PAGES, BoardPage

WITHOUT_STORAGE = """
for (const name of ["getItem", "setItem", "removeItem"])
  Storage.prototype[name] = () => { throw new DOMException("refused", "SecurityError"); };
"""

TREE = """
- list:
  - listitem:
    - group:
      - heading "Attention, step by step" [level=2]
"""


def open_start(page: Page) -> None:
    page.get_by_role("button", name="Learn").click()
    page.get_by_role("menuitem", name="Start here").click()
    expect(page.locator(".stop")).to_have_count(len(LAB_PAGES))


def test_what_was_opened_and_predicted_is_marked_until_it_is_forgotten(page: Page) -> None:
    page.goto("/start")
    expect(page.locator(".stop h2")).to_have_text(list(LAB_PAGES.values()))
    expect(page.locator(".stop [aria-current]")).to_contain_text("Attention, step by step")
    assert violations(page) == []
    expect(page.locator(".start")).to_match_aria_snapshot(TREE)
    below = page.get_by_test_id("stMain").evaluate("(main) => main.scrollHeight - main.clientHeight")
    assert below <= 0, f"{below} px have to be scrolled for"

    page.locator(".stop").nth(3).locator("summary").click()
    page.locator(".stop").nth(3).get_by_role("link", name="Reach").click()
    masks = BoardPage(page, "masks").wait()
    assert masks.link() == {"part": "reach"}
    right = masks.predict(
        0, page.locator(".st-key-lab_question_0 [role=radiogroup] label").first.inner_text()
    )
    masks.close_drawer()
    open_start(page)
    mark = page.locator(".stop").nth(3).locator("li .mark")
    expect(mark).to_have_text(f"✓ {int(right.startswith('Right.'))} of 1 right")

    page.reload()  # a visit later
    expect(mark).to_have_count(1)
    expect(page.locator(".stop summary .mark")).to_have_text(re.compile("^1 of "))
    expect(page.locator(".done")).to_contain_text("1 of 45 parts opened")
    page.get_by_role("button", name="forget").click()
    expect(mark).to_have_count(0)
    expect(page.locator(".done")).to_contain_text("You haven't opened any of the 45 parts yet")


def test_a_browser_that_keeps_nothing_shows_the_way_all_the_same(page: Page) -> None:
    page.add_init_script(WITHOUT_STORAGE)
    page.goto("/start")
    page.locator(".stop").nth(1).locator("summary").click()
    page.get_by_role("link", name="Number formats").click()
    assert BoardPage(page, "softmax").wait().link() == {"part": "formats"}
    open_start(page)
    expect(page.locator(".mark")).to_have_count(0)


OWN = "my friends love this old city because it is so quiet"  # of words that the first translator lacks


def at_station(page: Page, at: int) -> None:
    expect(page.locator(".st-key-walk")).to_contain_text(f"Station {at} of 12 · {STATIONS[at - 1].title}")


def next_station(page: Page, at: int) -> None:
    page.locator(".st-key-walk").get_by_role("button", name="next").click()
    at_station(page, at)


def begin_with(page: Page, own: str) -> None:
    page.goto("/start")
    page.get_by_role("button", name="Begin the walk").click()
    at_station(page, 1)
    sentence = page.locator("textarea.text")
    sentence.fill(own)
    sentence.press("Enter")
    expect(page.locator(".story-column .name")).to_have_text([re.compile(".*"), *own.split(), "<eos>"])


def test_the_walk_is_walked_to_its_end_with_a_sentence_of_one_s_own(page: Page) -> None:
    """One station after another, each under its bar; who comes back goes on where they stopped."""
    begin_with(page, "the dog did not cross the street because it was too tired")
    for at in range(2, len(STATIONS) + 1):
        if at == 8:  # a visit later
            BoardPage(page, "positions").wait()
            expect(page.get_by_role("textbox", name="Sentence")).to_have_value(re.compile("the dog"))
            page.goto("/start")
            page.get_by_role("button", name="Continue the walk at station 8").click()
            at_station(page, at)
        else:
            next_station(page, at)
        if at == 2:  # the page that is open shows what the next station is about
            expect(page.get_by_role("button", name="2 “it” asks")).to_have_attribute("aria-pressed", "true")
            expect(page.locator("textarea.text")).to_have_value(re.compile("the dog"))
    page.wait_for_timeout(1000)  # what the stage asks for by itself leaves the view of the link
    expect(page.get_by_role("button", name="Effect")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".notice").first).to_contain_text("elle")
    page.get_by_role("button", name="undo all").click()
    expect(page.get_by_role("button", name="Output")).to_have_attribute("aria-pressed", "true")
    page.locator(".st-key-walk").get_by_role("button", name="end").click()
    learnt = page.locator(".st-key-walk_end li")
    expect(learnt).to_have_text([f"{each.title}. {each.take}" for each in STATIONS])
    expect(page.locator(".stop")).to_have_count(len(LAB_PAGES))
    expect(page.locator(".done")).not_to_contain_text("predictions")
    assert violations(page) == []
    page.get_by_role("button", name="All stations").click()
    expect(page.locator(".stations .mark")).to_have_count(12)
    expect(page.get_by_role("button", name="Begin the walk")).to_be_visible()


def test_the_address_keeps_the_station_and_the_sentence(page: Page, new_page: Callable[..., Page]) -> None:
    """A reload, Back and Forward, a link to somebody else; stations without the sentence hand it on."""
    begin_with(page, OWN)
    asks = page.get_by_role("group", name="story").locator("[aria-pressed=true]")
    next_station(page, 2)
    expect(asks).to_have_text(re.compile("^2 "))
    next_station(page, 3)
    expect(page.locator(".st-key-walk")).to_contain_text("your sentence comes back")
    BoardPage(page, "attention").wait()
    page.go_back()
    at_station(page, 2)
    expect(page.locator("textarea.text")).to_have_value(OWN)
    page.go_back()
    at_station(page, 1)
    expect(asks).to_have_text(re.compile("^1 "))
    page.go_forward()
    at_station(page, 2)
    expect(asks).to_have_text(re.compile("^2 "))
    page.go_forward()
    at_station(page, 3)
    BoardPage(page, "attention").wait().link()
    page.reload()
    at_station(page, 3)
    next_station(page, 4)
    expect(page.locator("textarea.text")).to_have_value(OWN)
    expect(asks).to_have_text(re.compile("^3 "))
    friend = new_page()
    friend.goto(page.url)
    at_station(friend, 4)
    expect(friend.locator("textarea.text")).to_have_value(OWN)
    friend.goto("/?walk=end")
    expect(friend.locator("textarea.text")).to_be_visible()
    expect(friend.locator(".st-key-walk")).to_have_count(0)
    friend.goto("/masks?walk=77")
    expect(friend.locator(".st-key-problems")).to_contain_text("The walk has no station '77'")
    page.goto("/start?walk=end&own=everyday%3Amy+friends")
    page.get_by_role("button", name="Explore your own sentence further").click()
    expect(page.locator("textarea.text")).to_have_value("my friends")
