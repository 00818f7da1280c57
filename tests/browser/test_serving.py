"""A visitor whose server is killed goes on with the other, with what the address says."""

import re
from collections.abc import Iterator
from typing import Any

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


@pytest.mark.parametrize("text", ["one two three", "one two three four"], ids=["opened", "typed"])
def test_a_killed_server_costs_its_visitor_a_reconnect_and_nothing_else(
    two: Served, explore: ExplorePage, text: str
) -> None:
    """Streamlit itself asks the new server for a run only where the last run was a fragment's."""
    explore.trained("untrained", text="one two three", seed=5, view="head")
    if text != "one two three":
        explore.type(text)
    expect(explore.page).to_have_url(re.compile(rf"text={text.replace(' ', '[+]')}&"))
    explore.page.evaluate("document.documentElement.dataset.isFirst = true")
    for server in two.servers():  # one of them is the visitor's
        kill_and_wait(two, server)
    expect(explore.page.locator("html[data-is-first]")).to_have_count(0)
    settle(explore.page)
    expect(explore.sentence).to_have_value(text)
    assert explore.names_beside("x") == text.split()
    explore.type("and on it goes")
    expect(explore.page).to_have_url(re.compile(r"text=and\+on\+it\+goes&seed=5&view=head"))


def kill_and_wait(two: Served, server: dict[str, Any]) -> None:
    """Until another runs in its place."""
    two.kill(server["port"])

    def again() -> bool:
        return any(
            s["port"] == server["port"] and s["well"] and s["restarts"] > server["restarts"]
            for s in two.servers()
        )

    until(again, two.servers)
