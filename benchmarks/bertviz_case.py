"""One page of BertViz, built and opened in a process of its own, which whoever began it may end.

    python -m benchmarks.bertviz_case VIEW TOKENS ROUNDS FOLDER

FOLDER has the scripts that such a page asks a CDN for, as `scripts.json`. Each measure is printed as a line
of JSON as soon as it is there, so that what was measured stays when the rest does not finish.
"""

import argparse
import itertools
import json
import re
import sys
import time
from pathlib import Path

import torch
from bertviz import head_view, model_view
from playwright.sync_api import Error, Page, Route, sync_playwright

from benchmarks.probe import PATIENCE_MS, Times, first_paint, open_page, press_to_paint
from benchmarks.servers import changed
from tools import chromium

LAYERS, HEADS = 6, 12
SCRIPTS = "scripts.json"
NEW_DRAWING = changed("#vis svg")


def write_page(view: str, n_tokens: int, folder: Path) -> Path:
    """Path of the HTML of `view` ("head" or "model"), for random patterns [layer, head, query, key]."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(LAYERS, 1, HEADS, n_tokens, n_tokens, generator=generator)
    tokens = [f"w{i}" for i in range(n_tokens)]
    build = {"head": head_view, "model": model_view}[view]
    html = build(list(scores.softmax(-1)), tokens, html_action="return")
    path = folder / f"{view}_{n_tokens}.html"
    path.write_text(html.data)
    return path


def serve_scripts(page: Page, scripts: dict[str, str]) -> None:
    """Answer the page's requests to other hosts with `scripts`, and let none out."""

    def answer(route: Route) -> None:
        name = route.request.url.rsplit("/", 1)[-1]
        if name in scripts:
            route.fulfill(body=scripts[name], content_type="text/javascript")
        else:
            route.abort()

    page.route(re.compile("^https?://"), answer)


def change_layers(page: Page, rounds: int) -> Times:
    """Times from a key in the list of layers to the new drawing."""
    chooser = page.locator("select#layer")
    chooser.focus()
    keys = itertools.cycle(["ArrowDown"] * (LAYERS - 1) + ["ArrowUp"] * (LAYERS - 1))
    times = Times()
    for key in itertools.islice(keys, rounds):
        times.ms.append(press_to_paint(page, lambda: page.keyboard.press(key), NEW_DRAWING))  # noqa: B023
    return times


def tell(**measured: float) -> None:
    print(json.dumps(measured), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("view", choices=("head", "model"))
    parser.add_argument("tokens", type=int)
    parser.add_argument("rounds", type=int, help="changes of the layer; the model view shows all layers")
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    begun = time.perf_counter()
    path = write_page(given.view, given.tokens, given.folder)
    tell(built=time.perf_counter() - begun, bytes=path.stat().st_size)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find())
        page = open_page(browser, first=NEW_DRAWING)
        page.set_default_timeout(PATIENCE_MS)
        serve_scripts(page, json.loads((given.folder / SCRIPTS).read_text()))
        try:
            tell(first=first_paint(page, path.as_uri()))
            if given.view == "head":
                layers = change_layers(page, given.rounds)
                tell(median=layers.median, p95=layers.p95)
        except Error as error:  # it waited long enough, or Chromium gave the page up
            sys.exit(str(error).splitlines()[0])


if __name__ == "__main__":
    main()
