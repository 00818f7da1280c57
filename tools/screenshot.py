"""Takes the README's pictures: `make screenshot` starts the app, opens its pages and photographs them."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Page, sync_playwright

from attention_lab.models import load_model
from attention_lab.models.zoo.hub.from_engine import from_engine, tokenizer_of
from attention_lab.pages.findings import static as findings
from attention_lab.viz_core import head_grid
from attention_lab.viz_core.paper import draw
from attention_lab.viz_core.viewer.static.documents import page_as_file
from tools import chromium
from tools.background_servers import ROOT, serving_notebooks, serving_the_app

PICTURES = ROOT / "docs" / "pictures"
PICTURE = PICTURES / "screenshot.png"
DOCUMENT = PICTURES / "long-text.png"
GPT2 = PICTURES / "gpt2.png"
EDIT = PICTURES / "edit.png"
PAPER = PICTURES / "paper.png"
NOTEBOOK = PICTURES / "notebook.png"
FILE = PICTURES / "one-file.png"
EDITED = {"view": "effect", "edits": "encoder.1.self heads 0-3: zero"}
TEXT = "First Citizen: Before we proceed any"
SHOWCASE = "the animal did not cross the street because it was too tired"
GRID = {"view": "grid", "sort": "previous"}


def on_paper() -> bytes:
    """All heads of the translator's encoder as a journal prints them."""
    trace = load_model("translator").trace(SHOWCASE)
    patterns = np.stack([trace[address].numpy() for address in trace if address.endswith("self.pattern")][:2])
    return draw(head_grid(patterns, trace.tokens["encoder"]), "nature-wide").contents["png"]


def write_as_gpt2(folder: Path) -> None:
    """The shipped Shakespeare model, and its tokenizer of letters, as a GPT-2 of transformers."""
    model = load_model("shakespeare")
    from_engine(model.model).save_pretrained(folder)
    tokenizer_of(model.task).save_pretrained(folder)


def in_a_notebook(page: Page, folder: Path) -> None:
    """Explore as the output of a cell of JupyterLab."""
    code = f"from attention_lab import explore\n\nexplore('translator', {SHOWCASE!r}, view='head')"
    cell: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "source": code,
        "outputs": [],
    }
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    (folder / "attention.ipynb").write_text(json.dumps(content))
    options = ("--no-browser", "--allow-root", "--ServerApp.token=", f"--ServerApp.root_dir={folder}")
    with serving_notebooks("jupyterlab", *options, folder=folder) as url:
        page.set_viewport_size({"width": 1366, "height": 900})
        page.goto(f"{url}/lab/tree/attention.ipynb")
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=120_000)
        page.locator(".jp-Notebook .cm-content").first.click()
        page.keyboard.press("Shift+Enter")
        page.locator(".head-board .main-svg").first.wait_for(timeout=120_000)
        page.wait_for_timeout(3_000)
        news = page.get_by_role("button", name="No", exact=True)  # to news of Jupyter's
        news.click()
        news.wait_for(state="detached")
        page.locator(".jp-Notebook").first.screenshot(path=NOTEBOOK)


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
        write_as_gpt2(gpt2)
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
        in_a_notebook(page, Path(folder))
        browser.close()
    PAPER.write_bytes(on_paper())
    for picture in (PICTURE, EDIT, DOCUMENT, GPT2, FILE, NOTEBOOK, PAPER):
        print(f"wrote {picture.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
