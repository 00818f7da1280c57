"""Start here: the way through the lab, and what this browser alone remembers of it."""

from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.board import LAB_PAGES, BoardPage

WITHOUT_STORAGE = """
for (const name of ["getItem", "setItem", "removeItem"])
  Storage.prototype[name] = () => { throw new DOMException("refused", "SecurityError"); };
"""

TREE = """
- list:
  - listitem:
    - heading "Attention, step by step" [level=2]
    - list:
      - listitem:
        - link "Steps"
"""


def open_start(page: Page) -> None:
    page.get_by_role("link", name="Start here").click()
    expect(page.locator(".stop")).to_have_count(len(LAB_PAGES))


def test_what_was_opened_and_predicted_is_marked_until_it_is_forgotten(page: Page) -> None:
    page.goto("/start")
    expect(page.locator(".stop h2")).to_have_text(list(LAB_PAGES.values()))
    expect(page.locator(".next")).to_have_text("Steps")
    assert violations(page) == []
    expect(page.locator(".way")).to_match_aria_snapshot(TREE)
    below = page.get_by_test_id("stMain").evaluate("(main) => main.scrollHeight - main.clientHeight")
    assert below <= 0, f"{below} px have to be scrolled for"

    page.locator(".stop").nth(3).get_by_role("link", name="Reach").click()
    masks = BoardPage(page, "masks").wait()
    assert masks.link() == {"part": "reach"}
    right = masks.predict(
        0, page.locator(".st-key-lab_question_0 [role=radiogroup] label").first.inner_text()
    )
    masks.close_drawer()
    open_start(page)
    mark = page.locator(".stop").nth(3).locator(".mark")
    expect(mark).to_have_text(f"✓ {int(right.startswith('Right.'))} of 1 right")

    page.reload()  # a visit later
    expect(mark).to_have_count(1)
    expect(page.locator(".done")).to_contain_text("1 of 44 parts opened")
    page.get_by_role("button", name="forget").click()
    expect(mark).to_have_count(0)
    expect(page.locator(".done")).to_contain_text("None of 44 parts is opened yet")


def test_a_browser_that_keeps_nothing_shows_the_way_all_the_same(page: Page) -> None:
    page.add_init_script(WITHOUT_STORAGE)
    page.goto("/start")
    page.get_by_role("link", name="Number formats").click()
    assert BoardPage(page, "softmax").wait().link() == {"part": "formats"}
    open_start(page)
    expect(page.locator(".mark")).to_have_count(0)
