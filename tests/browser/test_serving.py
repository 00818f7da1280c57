"""A visitor whose server is killed goes on with the other, with what the address says."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.explore_page import OPENING, ExplorePage
from tests.browser.test_talk import Show, packed
from tools.background_servers import Served, served

OF_A_KILL = "50[0-9]|ERR_|not responding|DoInitPings"
"""What a browser says of requests that nobody answers."""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("serving")) as found:
        yield found


@pytest.fixture(scope="module")
def app_url(two: Served) -> str:
    return two.url


@pytest.mark.parametrize("is_sent", [False, True], ids=["half typed", "sent to nobody"])
def test_a_text_that_is_typed_while_its_server_is_away_outlives_the_new_page(
    two: Served, explore: ExplorePage, problems: list[str], is_sent: bool
) -> None:
    explore.trained("untrained", text="one two", seed=5, view="head")
    explore.type("one two three")  # so that the address is not the page's first
    expect(explore.page).to_have_url(re.compile("text=one[+]two[+]three&"))
    explore.page.evaluate("document.documentElement.dataset.isFirst = true")
    for server in two.servers():  # one of them is the visitor's
        two.kill(server["port"])
    explore.sentence.fill("four five")
    if is_sent:
        explore.sentence.press("Enter")
    expect(explore.page.locator("html[data-is-first]")).to_have_count(0, timeout=OPENING)
    expect(explore.sentence).to_have_value("four five")
    if not is_sent:
        expect(explore.page).to_have_url(re.compile("text=one[+]two[+]three&"))
        explore.sentence.press("Enter")
    expect(explore.page).to_have_url(re.compile("text=four[+]five&seed=5&view=head"))
    assert explore.names_beside("x") == ["four", "five"]
    problems[:] = [told for told in problems if not re.search(OF_A_KILL, told)]


STOPS = ("masks", "softmax", "positions")
TALK = "# A talk\n\n" + "\n\n".join(f"## {page}\n\n[{page}](/{page})" for page in STOPS)


def test_a_show_keeps_its_picture_until_the_server_is_back(
    two: Served, page: Page, problems: list[str]
) -> None:
    """And the speaker alone is told."""
    show = Show(page)
    page.goto(f"/{packed(TALK)}")
    expect(page.locator(".frames iframe.behind[data-ready]")).to_be_attached()
    with page.context.expect_page() as opened:
        show.press("s")
    speaker = opened.value
    expect(speaker.get_by_role("heading", level=1)).to_have_text("1 / 3 masks")
    page.locator(".frames iframe").evaluate_all("all => all.forEach(each => each.dataset.first = '')")
    for server in two.servers():
        two.kill(server["port"])
    show.press("PageDown")
    expect(show.title).to_have_text("softmax")
    show.press("PageDown")  # to what is not here yet
    expect(speaker.locator(".problem")).to_contain_text("The server does not answer")
    expect(speaker.get_by_role("heading", level=1)).to_have_text("3 / 3 positions")
    while show.title.inner_text() != "positions":
        has_come = show.notice.is_visible() or show.title.inner_text() == "positions"
        assert has_come, "a picture is seen all the time"
        assert not show.inside.get_by_role("dialog").is_visible(), show.inside.get_by_role(
            "dialog"
        ).inner_text()
    expect(show.notice).to_be_visible()
    expect(speaker.locator(".problem")).to_be_hidden()
    expect(page.locator("iframe[data-first]")).to_have_count(0)
    show.press("PageUp")
    expect(show.title).to_have_text("softmax")
    expect(show.notice).to_contain_text("standard deviation")
    problems[:] = [told for told in problems if not re.search(OF_A_KILL, told)]
