"""Takes the README's pictures: `make screenshot` starts the app, opens its pages and photographs them."""

import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import sync_playwright

from attention_lab.models import load_model
from attention_lab.pages.findings import static as findings
from attention_lab.viz_core import head_grid
from attention_lab.viz_core.paper import draw
from attention_lab.viz_core.viewer.static.documents import page_as_file
from tools import as_gpt2, chromium
from tools.background_servers import ROOT, serving_the_app

PICTURE = ROOT / "tools" / "screenshot.png"
DOCUMENT = ROOT / "tools" / "long-text.png"
GPT2 = ROOT / "tools" / "gpt2.png"
EDIT = ROOT / "tools" / "edit.png"
PAPER = ROOT / "tools" / "paper.png"
FILE = ROOT / "tools" / "one-file.png"
EDITED = {"view": "effect", "edits": "encoder.1.self heads 0-3: zero"}
TEXT = "First Citizen: Before we proceed any"
SHOWCASE = "the animal did not cross the street because it was too tired"
GRID = {"view": "grid", "sort": "previous"}


def on_paper() -> bytes:
    """All heads of the translator's encoder as a journal prints them."""
    trace = load_model("translator").trace(SHOWCASE)
    patterns = np.stack([trace[address].numpy() for address in trace if address.endswith("self.pattern")][:2])
    return draw(head_grid(patterns, trace.tokens["encoder"]), "nature-wide").contents["png"]


def main() -> None:
    path = chromium.find()
    if path is None:
        sys.exit(chromium.MISSING)
    with (
        tempfile.TemporaryDirectory() as folder,
        serving_the_app(Path(folder) / "log.txt") as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path)
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(server.url)
        page.locator(".stage[data-generation]").wait_for(timeout=60_000)
        page.screenshot(path=PICTURE)
        page.goto(f"{server.url}/?{urlencode(EDITED)}")
        page.locator(".answers .other").wait_for(timeout=60_000)  # what it writes without these heads
        page.wait_for_timeout(1_000)
        page.locator(".stage").screenshot(path=EDIT)
        page.goto(f"{server.url}/documents")
        page.locator(".map[data-generation]").wait_for(timeout=60_000)
        page.locator(".heatmaplayer image").wait_for()
        page.wait_for_timeout(1_000)  # until the code of Streamlit's own widgets has come
        page.screenshot(path=DOCUMENT)
        gpt2 = Path(folder) / "shakespeare-as-gpt2"
        as_gpt2.write(gpt2)
        page.goto(f"{server.url}/?{urlencode({'model': f'hf:{gpt2}', 'text': TEXT} | GRID)}")
        page.locator(".stage[data-generation]").wait_for(timeout=60_000)
        page.wait_for_timeout(1_000)
        page.screenshot(path=GPT2)
        file = Path(folder) / "findings.html"
        file.write_text(page_as_file("Findings", "findings", findings.parts_of()), "utf-8")
        page.goto(file.as_uri())
        page.locator(".plot svg").first.wait_for()
        page.wait_for_timeout(1_000)
        page.screenshot(path=FILE)
        browser.close()
    PAPER.write_bytes(on_paper())
    for picture in (PICTURE, EDIT, DOCUMENT, GPT2, FILE, PAPER):
        print(f"wrote {picture.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
