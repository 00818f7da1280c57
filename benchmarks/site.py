"""The first figure of whoever follows a link, on the static site and in the app, as new visitors.

python -m benchmarks.site [--rounds 5]
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.live import served
from tools import chromium
from tools.background_servers import serving_the_app
from tools.site import build

PAGES = ("", "softmax/", "masks/", "translation/")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with (
        tempfile.TemporaryDirectory() as name,
        serving_the_app(Path(name) / "log.txt") as app,
        sync_playwright() as playwright,
    ):
        build(Path(name) / "lab", pages=PAGES)
        browser = playwright.chromium.launch(executable_path=chromium.find())
        with served(Path(name) / "lab") as address:
            print("| first figure of a page | site ms | app ms | site MB on the wire |")
            print("| --- | ---: | ---: | ---: |")
            for page in PAGES[1:]:
                first_figure(browser, f"{app.url}/{page.rstrip('/')}")  # the server has computed it once
                pairs = [
                    (
                        first_figure(browser, f"{address}{page}"),
                        first_figure(browser, f"{app.url}/{page[:-1]}"),
                    )
                    for _ in range(rounds)
                ]
                site, other = (statistics.median(each[side][0] for each in pairs) for side in (0, 1))
                print(f"| {page[:-1]} | {site:,.0f} | {other:,.0f} | {pairs[0][0][1] / 1e6:.1f} |")
        browser.close()


def first_figure(browser: Browser, address: str) -> tuple[float, int]:
    """Milliseconds until the board and its first panel are drawn, and the bytes that came."""
    context = browser.new_context(viewport={"width": 1366, "height": 768}, service_workers="block")
    page = context.new_page()
    start = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.locator(".board[data-generation] :is(.plot .main-svg, td[data-cell])").first.wait_for(timeout=60_000)
    passed = 1_000 * (time.perf_counter() - start)
    sent = page.evaluate("performance.getEntries().reduce((sum, each) => sum + (each.transferSize ?? 0), 0)")
    context.close()
    return passed, sent


if __name__ == "__main__":
    main()
