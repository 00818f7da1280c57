"""From the press of a clicker to the picture of the next stop, over all stops of the talks that ship.

python -m benchmarks.talk [--rounds 2]
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from attention_lab.pages.talks.talks import NAMES
from benchmarks.percentile import percentile
from tools import chromium
from tools.background_servers import serving_the_app

DWELL = 2.0
"""Seconds that a stop is spoken of, after the next is ready."""
CLOCK = """
addEventListener("keydown", (event) => {
  top.pressed = performance.timeOrigin + event.timeStamp;
}, { capture: true });
"""
# Two frames of the browser after the next stop is in front, it has been painted.
PAINTED = """
() => {
  new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(() => {
    globalThis.painted = performance.timeOrigin + performance.now();
  }))).observe(document.querySelector(".count"), { childList: true });
}
"""
READY = """
(at) => document.querySelector(".show").dataset.tidied === String(at)
  && [...document.querySelectorAll(".frames iframe")].every((frame) => "ready" in frame.dataset)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    rounds = parser.parse_args().rounds
    with (
        tempfile.TemporaryDirectory() as folder,
        serving_the_app(Path(folder) / "log.txt") as app,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium.find())
        print("| talk | stops | press to picture, ms | p95 | largest | next is ready after, ms |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        for name in NAMES:
            times: list[tuple[float, float]] = []
            for _ in range(rounds):
                context = browser.new_context(viewport={"width": 1366, "height": 768}, bypass_csp=True)
                context.add_init_script(CLOCK)
                times += walk(context.new_page(), f"{app.url}/talk/#shipped={name}")
                context.close()
            shown, ready = ([each[side] for each in times] for side in (0, 1))
            print(
                f"| {name} | {len(times) // rounds + 1} | {statistics.median(shown):.0f} "
                f"| {percentile(shown, 95):.0f} | {max(shown):.0f} | {statistics.median(ready):,.0f} |"
            )
        browser.close()


def walk(page: Page, address: str) -> list[tuple[float, float]]:
    """Of each stop after the first: milliseconds from press to picture, and how long it was prepared."""
    page.goto(address)
    page.locator(".count:not(:empty)").wait_for(state="attached")
    page.evaluate(PAINTED)
    times = []
    n_stops = int((page.locator(".count").text_content() or "").split("/")[1])
    for at in range(n_stops - 1):
        start = time.perf_counter()
        page.wait_for_function(READY, arg=at, timeout=60_000)
        ready = 1_000 * (time.perf_counter() - start)
        time.sleep(DWELL)
        page.evaluate("painted = 0")
        page.keyboard.press("n")
        page.wait_for_function("painted > 0 && painted")
        times.append((page.evaluate("painted - pressed"), ready))
        assert (page.locator(".count").text_content() or "").startswith(f"{at + 2} ")
    return times


if __name__ == "__main__":
    main()
