"""BertViz's own pages for given patterns; the three scripts that they ask a CDN for come from here."""

import itertools
import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import torch
from bertviz import head_view, model_view
from playwright.sync_api import Error, Page, Route

from benchmarks.load import count_bytes
from benchmarks.paint import alone, choose_layers
from benchmarks.probe import Times, first_paint, open_page, press_to_paint
from benchmarks.servers import DRAWN, changed, untrained
from benchmarks.setting import Setting, print_table

# What bertviz 1.4.1 asks for, by the end of the address: npm package and file in it.
# It wants jQuery 2.0.0, which npm never had; 2.1.0 is the oldest there.
SCRIPTS = {
    "require.min.js": ("requirejs@2.3.6", "package/require.js"),
    "jquery.min.js": ("jquery@2.1.0", "package/dist/jquery.min.js"),
    "d3.min.js": ("d3@5.7.0", "package/dist/d3.min.js"),
}
LAYERS, HEADS = 6, 12
BOTH_VIEWS = 128
"""Of longer texts the model view, which draws all heads at once, is not opened."""
TOKENS = (64, 128, 256, 512)
FEW_ROUNDS = 4
PATIENCE_S = 180  # then a page is said not to be drawn
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


def fetch_scripts(folder: Path) -> dict[str, str] | None:
    """Text of each script by file name, fetched with npm; None where npm or its registry is not there."""
    if shutil.which("npm") is None:
        return None
    scripts = {}
    for name, (package, member) in SCRIPTS.items():
        packed = subprocess.run(
            ["npm", "pack", "--json", package], cwd=folder, capture_output=True, text=True, timeout=120
        )
        if packed.returncode != 0:
            return None
        with tarfile.open(folder / json.loads(packed.stdout)[0]["filename"]) as archive:
            content = archive.extractfile(member)
            assert content is not None, f"{package} has no {member}"
            scripts[name] = content.read().decode()
    return scripts


def serve_scripts(page: Page, scripts: dict[str, str]) -> None:
    """Answer the page's requests to other hosts with `scripts`, and let none out."""

    def answer(route: Route) -> None:
        name = route.request.url.rsplit("/", 1)[-1]
        if name in scripts:
            route.fulfill(body=scripts[name], content_type="text/javascript")
        else:
            route.abort()

    page.route(re.compile("^https?://"), answer)


def compare(setting: Setting) -> None:
    """BertViz's own pages at sizes that it can still draw, and Explore's, each opened in the same browser."""
    rows = []
    scripts = fetch_scripts(setting.folder)
    for n_tokens in TOKENS:
        rows.append([f"Explore, lines, {n_tokens} tokens", *measure_explore(setting, n_tokens)])
        if scripts is None:
            continue
        for view in ("head", "model") if n_tokens <= BOTH_VIEWS else ("head",):
            rows.append(
                [
                    f"BertViz, {view} view, {n_tokens} tokens",
                    *measure_bertviz(setting, view, n_tokens, scripts),
                ]
            )
    columns = ["6 layers × 12 heads", "MB", "first drawn ms", "another layer: median ms", "p95 ms"]
    print_table("Beside BertViz, same shapes, same browser", columns, rows)
    if scripts is None:
        print(
            "\nBertViz was not measured: its scripts could not be fetched (npm or its registry is not there)."
        )


def measure_explore(setting: Setting, n_tokens: int) -> list[str]:
    query = untrained(n_tokens, n_layers=LAYERS, n_heads=HEADS, d_model=384, view="lines")
    url = f"{setting.app.url}/?{query}"
    page = open_page(setting.browser, first=DRAWN)
    sizes = count_bytes(page)
    first = first_paint(page, url)
    megabytes = sum(sizes) / 1e6
    page.context.close()
    layers, _ = alone(setting, url, choose_layers)
    return [f"{megabytes:.2f}", f"{first:.0f}", f"{layers.median:.0f}", f"{layers.p95:.0f}"]


def measure_bertviz(setting: Setting, view: str, n_tokens: int, scripts: dict[str, str]) -> list[str]:
    path = write_page(view, n_tokens, setting.folder)
    page = open_page(setting.browser, first=NEW_DRAWING)
    page.set_default_timeout(1_000 * PATIENCE_S)
    serve_scripts(page, scripts)
    cells = [f"{path.stat().st_size / 1e6:.0f}"]
    try:
        cells.append(f"{first_paint(page, path.as_uri()):.0f}")
        if view == "head":
            layers = change_layers(page, setting.rounds if n_tokens <= BOTH_VIEWS else FEW_ROUNDS)
            cells += [f"{layers.median:.0f}", f"{layers.p95:.0f}"]
    except Error:  # it waited long enough, or the browser gave the page up
        cells.append(f"not drawn within {PATIENCE_S} s")
    page.context.close()
    return [*cells, "", "", ""][:4]  # the model view shows all layers at once


def change_layers(page: Page, rounds: int) -> Times:
    chooser = page.locator("select#layer")
    chooser.focus()
    keys = itertools.cycle(["ArrowDown"] * (LAYERS - 1) + ["ArrowUp"] * (LAYERS - 1))
    times = Times()
    for key in itertools.islice(keys, rounds):
        times.ms.append(press_to_paint(page, lambda: page.keyboard.press(key), NEW_DRAWING))  # noqa: B023
    return times
