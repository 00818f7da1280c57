"""Python's end of probe.js: open pages in Chromium, act on them as a person would, collect milliseconds."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.percentile import percentile

SCRIPT = Path(__file__).with_suffix(".js").read_text()
PATIENCE_MS = 180_000


@dataclass
class Times:
    """Milliseconds of one kind of interaction."""

    ms: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.ms)

    @property
    def p95(self) -> float:
        return percentile(self.ms, 95)


def open_page(browser: Browser, *, first: str | None = None) -> Page:
    """A new visitor's page with the probe in it; `first`: the JavaScript promise that `first_paint` reads."""
    page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(SCRIPT)
    if first:
        page.add_init_script(f"probe.first = probe.shown({first});")
    return page


def first_paint(page: Page, url: str) -> float:
    """Milliseconds from navigation to the painted effect that `open_page` was told of."""
    page.goto(url, wait_until="commit")
    return float(page.evaluate("probe.first"))


def press_to_paint(
    page: Page, act: Callable[[], None], effect: str, inputs: Sequence[str] = ("keydown", "pointerdown")
) -> float:
    """Milliseconds from the first of the `inputs` that `act` makes to the frame that shows `effect`.

    `effect` is a JavaScript promise of probe.js; `inputs` are types of DOM events.
    """
    page.evaluate(f"probe.arm({effect}, {list(inputs)})")
    act()
    return float(page.evaluate("probe.result"))
