"""A real server, a real Chromium; a console error or a request to another host fails the test."""

import itertools
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from tests.browser.explore_page import SECONDS, ExplorePage, NewExplore
from tools import chromium
from tools.background_servers import serving_the_app

expect.set_options(timeout=SECONDS)

# A page of a test lives for seconds, in which optimising its code costs more than it gains. What runs for
# longer, such as the search for faults of access, is still optimised.
OPTIMISE_LATER = "--js-flags=--interrupt-budget-for-maglev=600000 --interrupt-budget=2000000"
ONE_PROCESS = "--process-per-site"  # the tabs of a context share compiled code
FAILED = pytest.StashKey[bool]()  # whether the test of an item has failed, for what comes after it
FIRST_VISIT_SECONDS = 120  # a server that has just started imports PyTorch, on a busy machine


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server of the session keeps its log, and its training runs in `runs`."""
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def chromium_path() -> str:
    path = chromium.find()
    if path is None and os.environ.get("CI") == "true":
        pytest.fail(chromium.MISSING)
    if path is None:
        pytest.skip(chromium.MISSING)
    return path


@pytest.fixture(scope="session")
def browser(chromium_path: str, playwright: Playwright) -> Iterator[Browser]:
    running = playwright.chromium.launch(executable_path=chromium_path, args=[OPTIMISE_LATER, ONE_PROCESS])
    yield running
    running.close()


@pytest.fixture(scope="session")
def app_url(server_folder: Path, browser: Browser) -> Iterator[str]:
    """Address of a server of this clone's app that runs for the session, and has answered once."""
    with serving_the_app(server_folder / "log.txt") as server:
        visit_first(browser, server.url)
        yield server.url


def visit_first(browser: Browser, url: str) -> None:
    """Wait for the first answer of a server that has just started."""
    page = browser.new_page()
    page.goto(url)
    page.locator(".stage[data-generation]").wait_for(timeout=1_000 * FIRST_VISIT_SECONDS)
    page.close()


@pytest.fixture(scope="session")
def kept_contexts(browser: Browser) -> Iterator[dict[str, list[BrowserContext]]]:
    """Those of the server that was asked last, by its address; a module may have its own server."""
    kept: dict[str, list[BrowserContext]] = {}
    yield kept
    for context in itertools.chain(*kept.values()):
        context.close()


@pytest.fixture
def free_context(
    browser: Browser, kept_contexts: dict[str, list[BrowserContext]], app_url: str
) -> Callable[[], BrowserContext]:
    """Function that gives a context in which no visitor is: one of those kept, or else another.

    What visitors before have fetched and compiled spares a page in it a third of the work.
    """
    for other in kept_contexts.keys() - {app_url}:
        for context in kept_contexts.pop(other):
            context.close()
    kept = kept_contexts.setdefault(app_url, [])

    def find() -> BrowserContext:
        for context in kept:
            if not context.pages[1:]:
                return context
        kept.append(new_context(browser, app_url))
        return kept[-1]

    return find


@pytest.fixture
def problems() -> Iterator[list[str]]:
    """What went wrong behind the scenes of this test's pages; it must be empty in the end."""
    noted: list[str] = []
    yield noted
    assert not noted, "\n".join(noted)


@pytest.fixture
def new_page(
    browser: Browser, free_context: Callable[[], BrowserContext], app_url: str, problems: list[str]
) -> Iterator[Callable[..., Page]]:
    """Function that opens a page as a visitor of its own; keywords go to `browser.new_context`."""
    own: list[BrowserContext] = []
    pages: list[Page] = []

    def open_page(**options: object) -> Page:
        if options:
            own.append(browser.new_context(**{**usual_options(app_url), **options}))
            page = own[-1].new_page()
        else:
            pages.append(open_anew(free_context(), app_url))
            page = pages[-1]
        watch(page, app_url, problems)
        return page

    yield open_page
    for context in own:
        context.close()
    for page in pages:
        for tab in page.context.pages[1:]:
            tab.close()


def new_context(browser: Browser, app_url: str) -> BrowserContext:
    """For one visitor after another; its first page stays, for code is forgotten with the last one's page."""
    context = browser.new_context(**usual_options(app_url))
    context.new_page().goto("/_stcore/health")
    return context


def open_anew(context: BrowserContext, app_url: str) -> Page:
    """A page for somebody who was never here: of what others left, only the files they fetched are known."""
    context.set_offline(False)
    context.clear_permissions()
    context.clear_cookies()
    page = context.new_page()
    tools = context.new_cdp_session(page)
    tools.send("Storage.clearDataForOrigin", {"origin": app_url, "storageTypes": "local_storage,indexeddb"})
    tools.detach()
    return page


def usual_options(app_url: str) -> dict[str, object]:
    """Of a visitor's context. With less motion, no board begins to play by itself."""
    viewport = {"width": 1366, "height": 768}
    return {"base_url": app_url, "viewport": viewport, "reduced_motion": "reduce"}


def watch(page: Page, app_url: str, problems: list[str]) -> None:
    """Note in `problems` whatever the page must not do: log an error, throw one, ask another host."""
    here = urlsplit(app_url).netloc

    def check_origin(url: str) -> None:
        if urlsplit(url).scheme in {"http", "https", "ws", "wss"} and urlsplit(url).netloc != here:
            problems.append(f"request to another host: {url}")

    def check_console(message) -> None:
        refuses = "422" in message.text and message.location["url"] == f"{app_url}/explore/answer"
        if message.type == "error" and not refuses:  # which browsers log, though the page says it
            problems.append(f"console error: {message.text}")

    page.on("console", check_console)
    page.on("pageerror", lambda error: problems.append(f"uncaught error: {error}"))
    page.on("request", lambda request: check_origin(request.url))
    page.on("websocket", lambda socket: check_origin(socket.url))


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    return new_page()


@pytest.fixture
def explore(page: Page) -> ExplorePage:
    """Explore in a tab of its own, not yet opened."""
    return ExplorePage(page)


@pytest.fixture
def new_explore(new_page: Callable[..., Page]) -> NewExplore:
    """Function that gives Explore to a visitor of its own; keywords as for `new_page`."""
    return lambda **options: ExplorePage(new_page(**options))
