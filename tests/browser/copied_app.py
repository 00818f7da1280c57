"""A server of a copy of the app that has some files more, as somebody would add them."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import visit_first
from tools.background_servers import ROOT, free_port, serving

PARTS = ("app.py", "pages", "models", "viz_core", "tools", ".streamlit")


@contextmanager
def copied_app(
    places: Mapping[Path, str], factory: pytest.TempPathFactory, browser: Browser
) -> Iterator[str]:
    """The address of the server; `places`: files, and the folders of the copy in which they lie."""
    folder, home, port = factory.mktemp("app"), factory.mktemp("home"), free_port()
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, folder / part)
    for file, place in places.items():
        shutil.copy(file, folder / place)
    settings = {"ATTENTION_LAB_RUNS": str(home / "runs"), "ATTENTION_LAB_DATA": str(home / "data")}
    command = [sys.executable, str(folder / "tools/serve.py"), "--port", str(port)]
    with serving(command, port, folder, home / "log.txt", **settings) as server:
        visit_first(browser, server.url)
        yield server.url
