"""A visitor whose server is killed goes on with the other, with what the address says."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.explore_page import ExplorePage, settle
from tools.background_servers import Served, served, until


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("serving")) as found:
        yield found


@pytest.fixture(scope="module")
def app_url(two: Served) -> str:
    return two.url


def test_a_killed_server_costs_its_visitor_a_reconnect_and_nothing_else(
    two: Served, explore: ExplorePage
) -> None:
    explore.trained("untrained", text="a b c", seed=5, view="head")
    explore.type("one two three four")
    expect(explore.page).to_have_url(re.compile(r"text=one\+two\+three\+four"))
    explore.page.evaluate("document.documentElement.dataset.isFirst = true")
    for server in two.servers():  # one of them is the visitor's
        kill_and_wait(two, server["port"])
    expect(explore.page.locator("html[data-is-first]")).to_have_count(0)
    settle(explore.page)
    expect(explore.sentence).to_have_value("one two three four")
    assert explore.names_beside("x") == ["one", "two", "three", "four"]
    explore.type("and on it goes")
    expect(explore.page).to_have_url(re.compile(r"text=and\+on\+it\+goes&seed=5&view=head"))


def kill_and_wait(two: Served, port: int) -> None:
    """Until another runs in its place."""
    two.kill(port)

    def again() -> bool:
        return any(s["port"] == port and s["well"] and s["restarts"] for s in two.servers())

    until(again, two.servers)
