"""The network between a browser and the server is cut for a while: afterwards the page is alive, and what was
typed is still there. CUT_SECONDS=30 cuts for as long as that.
"""

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.explore_page import ExplorePage, settle

SECONDS = float(os.environ.get("CUT_SECONDS", "3"))
TO_COME_BACK = 60_000  # milliseconds: the browser tries again, less and less often
OF_A_CUT = ("ERR_INTERNET_DISCONNECTED", "server is not responding", "No response received when attempting")


class Network:
    """What lies between a page and its server. Being "offline" leaves a browser's open websockets open."""

    def __init__(self, page: Page) -> None:
        self.page, self.is_there = page, True
        self.sockets: list[WebSocketRoute] = []
        page.route_web_socket(re.compile("/_stcore/stream"), self._connect)

    def _connect(self, socket: WebSocketRoute) -> None:
        if not self.is_there:
            socket.close()
            return
        server = socket.connect_to_server()
        socket.on_message(lambda message: server.send(message) if self.is_there else None)
        server.on_message(lambda message: socket.send(message) if self.is_there else None)
        self.sockets.append(socket)

    def cut(self) -> None:
        """Nothing arrives any more, and nobody has noticed."""
        self.is_there = False
        self.page.context.set_offline(True)

    def be_noticed(self) -> None:
        for socket in self.sockets:
            socket.close()
        self.sockets.clear()

    def mend(self) -> None:
        self.is_there = True
        self.page.context.set_offline(False)


def is_back(page: Page) -> None:
    state = "data-test-connection-state"
    expect(page.get_by_test_id("stApp")).to_have_attribute(state, "CONNECTED", timeout=TO_COME_BACK)


@pytest.fixture
def network(page: Page, problems: list[str]) -> Iterator[Network]:
    """The network of the page; what a browser says of its being cut is no problem."""
    yield Network(page)
    problems[:] = [told for told in problems if not any(words in told for words in OF_A_CUT)]


def test_a_cut_of_the_network_loses_nothing_that_was_typed(explore: ExplorePage, network: Network) -> None:
    explore.trained("untrained", text="a b c", seed=5, view="head")
    explore.page.evaluate("document.documentElement.dataset.isFirst = true")

    explore.sentence.fill("half a sentence")  # and the cut comes before Enter
    network.cut()
    network.be_noticed()
    explore.page.wait_for_timeout(1_000 * SECONDS)
    network.mend()
    is_back(explore.page)
    expect(explore.sentence).to_have_value("half a sentence")
    explore.sentence.press("Enter")
    expect(explore.page).to_have_url(re.compile(r"text=half\+a\+sentence&seed=5&view=head"))
    settle(explore.page)
    assert explore.names_beside("x") == ["half", "a", "sentence"]

    network.cut()
    explore.type("said to nobody")  # the browser sends it, and it does not arrive
    expect(explore.problem).to_contain_text("The server does not answer; it is asked again.")
    network.be_noticed()
    explore.slide("Seed", "ArrowLeft")  # the page is alive
    network.mend()
    expect(explore.page).to_have_url(
        re.compile(r"text=said\+to\+nobody&seed=4&view=head"), timeout=TO_COME_BACK
    )
    settle(explore.page)
    expect(explore.problem).to_be_hidden()
    assert explore.names_beside("x") == ["said", "to", "nobody"]
    is_back(explore.page)

    expect(explore.page.get_by_role("dialog")).to_have_count(0)
    expect(explore.page.locator("html[data-is-first]")).to_have_count(1)  # it is the same page, not another
