"""From an edit to its painted figure on Explore, beside the same change without an edit."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial

from playwright.sync_api import Page

from benchmarks import servers
from benchmarks.paint import PAUSE_MS, Slider, click, take_turns
from benchmarks.probe import first_paint, open_page
from benchmarks.setting import Setting, print_table, verdict

TOKENS = (32, 128)
AT_MOST = 1.5
EDIT = "encoder.0.self heads 2: zero"


def edits(setting: Setting) -> None:
    """A seed changed while an edit is in force, and a head switched off or on, beside a seed alone."""
    measures: dict[str, Callable[[], float]] = {}
    pages: list[Page] = []
    for n in TOKENS:
        plain = servers.untrained(n, view="grid")
        links = {"plain": plain, "edited": servers.untrained(n, view="grid", edits=EDIT)}
        for name, link in links.items():
            slider = Slider.open(setting, f"{setting.app.url}/?{link}", "Seed", servers.DRAWN_FROM_NEW_DATA)
            measures[f"{name} {n}"] = slider.move
            pages.append(slider.page)
        switching = _open(setting, f"{setting.app.url}/?{plain}")
        measures[f"switch {n}"] = partial(next, _switches(switching))
        pages.append(switching)
    times = take_turns(setting.rounds, measures)
    rows = []
    for n in TOKENS:
        alone = times[f"plain {n}"]
        rows.append([f"a seed changed, {n} tokens", f"{alone.median:.0f}", f"{alone.p95:.0f}", "1"])
        told = {"edited": "the same with an edit in force", "switch": "a head switched off or on"}
        for name, words in told.items():
            mine = times[f"{name} {n}"]
            ratio = verdict(mine.median / alone.median, AT_MOST)
            rows.append([f"{words}, {n} tokens", f"{mine.median:.0f}", f"{mine.p95:.0f}", ratio])
    columns = ["change", "median ms", "p95 ms", "× without an edit"]
    print_table(f"An edit → figure painted ({setting.rounds} each, 8 heads)", columns, rows)
    for page in pages:
        page.context.close()


def _open(setting: Setting, url: str) -> Page:
    page = open_page(setting.browser, first=servers.DRAWN)
    first_paint(page, url)
    page.wait_for_timeout(10 * PAUSE_MS)
    return page


def _switches(page: Page) -> Iterator[float]:
    """A head off, and on again, one after the other."""
    for head in itertools.cycle(range(4)):
        for _ in range(2):
            page.bring_to_front()
            cell = page.locator(f'.overview [data-place="encoder.self 0 {head}"]')
            page.keyboard.down("Alt")
            yield click(page, cell, servers.DRAWN_FROM_NEW_DATA)
            page.keyboard.up("Alt")
