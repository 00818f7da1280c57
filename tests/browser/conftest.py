"""A real server, a real Chromium; a console error or a request to another host fails the test."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from tools import chromium

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server of this clone's app, started for the session as `make run` starts it."""
    port = free_port()
    log = tmp_path_factory.mktemp("server") / "log.txt"
    command = [sys.executable, str(ROOT / "tools/serve.py"), "--port", str(port)]
    with log.open("w") as out, subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out) as server:
        try:
            wait_until_healthy(server, f"http://127.0.0.1:{port}/_stcore/health", log)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_healthy(server: subprocess.Popen, health_url: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(health_url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the app did not start:\n{log.read_text()}")


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
    running = playwright.chromium.launch(executable_path=chromium_path)
    yield running
    running.close()


@pytest.fixture
def new_page(browser: Browser, app_url: str) -> Iterator[Callable[..., Page]]:
    """Function that opens a page as a visitor of its own; keywords go to `browser.new_context`."""
    problems: list[str] = []
    contexts = []

    def open_page(**options: object) -> Page:
        options = {"base_url": app_url, "viewport": {"width": 1366, "height": 768}, **options}
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        watch(page, app_url, problems)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems, "\n".join(problems)


def watch(page: Page, app_url: str, problems: list[str]) -> None:
    """Note in `problems` whatever the page must not do: log an error, throw one, ask another host."""
    here = urlsplit(app_url).netloc

    def check_origin(url: str) -> None:
        if urlsplit(url).scheme in {"http", "https", "ws", "wss"} and urlsplit(url).netloc != here:
            problems.append(f"request to another host: {url}")

    def check_console(message) -> None:
        if message.type == "error":
            problems.append(f"console error: {message.text}")

    page.on("console", check_console)
    page.on("pageerror", lambda error: problems.append(f"uncaught error: {error}"))
    page.on("request", lambda request: check_origin(request.url))
    page.on("websocket", lambda socket: check_origin(socket.url))


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    return new_page()
