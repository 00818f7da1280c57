"""The lab pages are found from everywhere, and are as they were left."""

from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.browser.board import LAB_PAGES, BoardPage
from tests.browser.explore_page import ExplorePage


def test_the_navigation_leads_to_these_pages(explore: ExplorePage) -> None:
    """One page and four groups of them; the group of the page that is open is marked."""
    page = explore.open().page
    paths = "(links) => links.map((link) => link.pathname)"
    links = page.get_by_test_id("stTopNavLink").evaluate_all(paths)
    assert links == ["/"]
    groups = {
        "Learn": ["start", *LAB_PAGES],
        "Compare": ["beside", "findings"],
        "Train": ["train", "runs", "sweeps"],
        "More": ["documents", "talks"],
    }
    for group, names in groups.items():
        page.get_by_role("button", name=group, exact=True).click()
        links = page.get_by_test_id("stTopNavPopover").locator("a").evaluate_all(paths)
        assert links == [f"/{name}" for name in names]
        page.get_by_test_id("stTopNavPopover").locator("a").last.click()
        expect(page.get_by_role("button", name=group, exact=True)).to_have_css("font-weight", "600")


def test_pages_keep_their_state_while_another_is_open(explore: ExplorePage) -> None:
    """One page after another; the same lines keep every page of the lab."""
    page, names = explore.page, ("attention", "design")
    explore.open(model="untrained", text="one two three")
    explore.type("to be or not to be")
    left = {}
    for name in names:
        on = BoardPage(page, name).choose()
        on.choose_part(on.part_chooser.last.inner_text())
        on.attempt(on.experiments.first.inner_text())
        left[name] = (on.shown(), on.link())
    for name in names:
        page.get_by_role("link", name="Explore").click()
        expect(explore.sentence).to_have_value("to be or not to be")
        explore.stage.wait_for()
        on = BoardPage(page, name).choose()
        assert (on.shown(), on.link()) == left[name], name
        assert urlsplit(page.url).path == f"/{name}"
