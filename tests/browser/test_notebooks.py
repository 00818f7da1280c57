"""Figures in a real JupyterLab and a real marimo: drawn, selected from both sides, there when saved."""

import base64
import io
import json
import mimetypes
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, Route, expect

for needed in ("anywidget", "jupyterlab", "marimo"):
    if find_spec(needed) is None:  # importing them takes seconds, and they run in processes of their own
        pytest.skip(f"needs {needed}, which requirements-dev.txt installs", allow_module_level=True)

from attention_lab import load_model  # noqa: E402
from tools.background_servers import notebooks_environment, serving_notebooks  # noqa: E402

TEXT = "the animal did not cross the street because it was too tired"
WIDE = TEXT.replace("tired", "wide")
BESIDE = f"""from attention_lab import beside
two = beside({TEXT!r}, {WIDE!r}, model="translator", layer=1, head=3)
two"""
OPENS = f"""from attention_lab import explore, show
figure = explore("translator", {TEXT!r}, view="head", layer=1, head=2, query=9)
figure"""
SECONDS = 120.0
MARIMO = """import marimo
app = marimo.App()

@app.cell
def _():
{cell}
    return
"""


@contextmanager
def watched(browser: Browser, url: str) -> Iterator[Page]:
    """A page that asks no other host and logs no error of ours."""
    page = browser.new_page(viewport={"width": 1366, "height": 1800})
    faults: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            faults.append(message.text)

    def ask(request: Request) -> None:
        if not request.url.startswith((url, "blob:", "data:", url.replace("http", "ws"))):
            faults.append(request.url)

    page.on("console", hear)
    page.on("request", ask)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.set_default_timeout(1_000 * SECONDS)
    yield page
    page.close()
    assert faults == []


def notebook(path: Path, *cells: str, widgets: dict | None = None, outputs: list | None = None) -> None:
    described = [
        {"cell_type": "code", "id": f"c{at}", "metadata": {}, "execution_count": None, "source": code,
         "outputs": outputs or []}
        for at, code in enumerate(cells)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel} | ({"widgets": widgets} if widgets else {})
    path.write_text(
        json.dumps({"cells": described, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
    )


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("jupyter")
    options = ("--no-browser", "--allow-root", "--ServerApp.token=", f"--ServerApp.root_dir={folder}")
    with serving_notebooks("jupyterlab", *options, folder=folder) as url:
        yield url, folder


def shows_the_pattern(stage: Locator) -> None:
    """The heat map's numbers are the trace's, and its darkest pixels are the pronoun's noun."""
    picture = stage.locator(".head-board .js-plotly-plot")
    expect(picture.locator(".main-svg").first).to_be_visible(timeout=1_000 * SECONDS)
    sent = picture.evaluate("(plot) => plot.calcdata[0][0].z.map((row) => Array.from(row))")
    pattern = load_model("translator").trace(TEXT)["encoder.1.self.pattern"][2].numpy()
    np.testing.assert_allclose(np.array(sent) / 255, pattern, atol=0.51 / 255)  # it draws 256 levels
    image = Image.open(io.BytesIO(picture.locator(".heatmaplayer image").first.screenshot())).convert("L")
    shades = np.asarray(image.resize(pattern.T.shape, Image.Resampling.BOX))
    assert np.unravel_index(shades.argmin(), shades.shape) == (9, 2)


def shows_what_differs(board: Locator) -> None:
    """The pronoun's row of B − A: what it looks at instead is the warmest, what it looked at the coldest."""
    picture = board.locator(".plot").nth(2).locator(".heatmaplayer image").first
    expect(picture).to_be_visible(timeout=1_000 * SECONDS)
    image = Image.open(io.BytesIO(picture.screenshot())).convert("RGB").resize((14, 14), Image.Resampling.BOX)
    warmth = np.asarray(image, dtype=float)[..., 0] - np.asarray(image, dtype=float)[..., 2]
    assert [np.unravel_index(at, warmth.shape) for at in (warmth.argmax(), warmth.argmin())] == [
        (9, 7),
        (9, 2),
    ]


def test_jupyterlab_shows_a_figure_and_python_reads_and_sets_what_is_selected(
    browser: Browser, jupyter: tuple[str, Path]
) -> None:
    url, folder = jupyter
    notebook(
        folder / "live.ipynb", OPENS, "figure.state = figure.state | {'head': 0}", "figure.state['head']",
        BESIDE, "two.state['layer'], two.state['head']",
    )  # fmt: skip
    with watched(browser, url) as page:
        page.goto(f"{url}/lab/tree/live.ipynb")
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()  # else it runs nothing
        page.locator(".jp-Notebook .cm-content").first.click()
        page.keyboard.press("Shift+Enter")
        stage = page.locator(".stage")
        shows_the_pattern(stage)
        page.keyboard.press("Shift+Enter")
        heads = stage.get_by_role("gridcell", name="Encoder self, layer 1 head")
        expect(heads.nth(0)).to_have_attribute("aria-current", "true", timeout=1_000 * SECONDS)
        heads.nth(3).click()
        page.locator(".jp-Notebook .cm-content").nth(2).click()
        page.keyboard.press("Shift+Enter")
        expect(page.locator(".jp-OutputArea-output pre").last).to_have_text("3")
        page.keyboard.press("Shift+Enter")
        board = page.locator(".board[data-generation]")
        shows_what_differs(board)
        expect(page.locator("figure[class^=still] img").last).to_be_attached()
        expect(page.locator("figure[class^=still]:visible")).to_have_count(0)
        board.get_by_role("button", name="layer 0, 1:").click()
        expect(board.locator("figcaption").first).to_have_text("A: first text, layer 0 head 1")
        page.locator(".jp-Notebook .cm-content").nth(4).click()
        page.keyboard.press("Shift+Enter")
        expect(page.locator(".jp-OutputArea-output pre").last).to_have_text("(0, 1)")


@pytest.fixture(scope="module")
def saved(jupyter: tuple[str, Path]) -> Path:
    """A notebook with four figures, as JupyterLab saves it."""
    from ipywidgets import Widget

    from attention_lab import beside, explore, show

    _, folder = jupyter
    # The second has no charts, and not the code that draws those of the first.
    figures = [show("softmax/spread"), show("masks/mask")]
    figures.append(explore("translator", TEXT, view="head", layer=1, head=2, query=9))
    figures.append(beside(TEXT, WIDE, model="translator", layer=1, head=3))
    outputs = [
        {"output_type": "display_data", "data": data, "metadata": {}}
        for figure in figures
        for data in (figure._repr_mimebundle_()[0], {"text/html": figure._still()})
    ]
    state = {"application/vnd.jupyter.widget-state+json": Widget.get_manager_state()}
    notebook(folder / "saved.ipynb", "figure", widgets=state, outputs=outputs)
    sign = [sys.executable, "-m", "nbformat.sign", "saved.ipynb"]  # as what a person saved themselves
    subprocess.run(sign, cwd=folder, env=notebooks_environment(folder), check=True, capture_output=True)
    return folder / "saved.ipynb"


def test_a_saved_notebook_shows_its_figures_without_being_run(
    browser: Browser, jupyter: tuple[str, Path], saved: Path
) -> None:
    url, _ = jupyter
    with watched(browser, url) as page:
        page.goto(f"{url}/lab/tree/saved.ipynb")
        shows_the_pattern(page.locator(".stage"))
        expect(page.locator(".board .js-plotly-plot .main-svg").first).to_be_visible()
        shows_what_differs(page.locator(".board").last)
        expect(page.locator("figure[class^=still]:visible")).to_have_count(0)


def test_a_page_of_nbconvert_shows_pictures_without_a_network(browser: Browser, saved: Path) -> None:
    convert = [sys.executable, "-m", "nbconvert", "--to", "html", saved.name]
    subprocess.run(convert, cwd=saved.parent, env=notebooks_environment(saved.parent), check=True)
    page = browser.new_page(viewport={"width": 1366, "height": 900})
    page.route(re.compile("^https?:"), lambda route: route.abort())
    page.goto(saved.with_suffix(".html").as_uri())
    pictures = page.locator("figure[class^=still] img")
    expect(pictures).to_have_count(4)
    image = np.asarray(Image.open(io.BytesIO(pictures.nth(2).screenshot())).convert("RGB"), dtype=int)
    inside = image[:, : image.shape[1] * 7 // 10]  # left of the scale
    height, width = np.ptp(
        np.argwhere((inside[..., 0] < 30) & (inside[..., 2] - inside[..., 0] > 80)), axis=0
    )
    assert abs(height - width) <= 2 and image.shape[0] / 20 < height < image.shape[0] / 12  # one cell of 14
    expect(page.locator("figcaption").nth(3)).to_contain_text("“it” looks at “animal” (0.997) on side A")
    page.close()


def test_marimo_shows_a_figure(browser: Browser, tmp_path: Path) -> None:
    cell = "\n".join(f"    {line}" for line in OPENS.splitlines())
    (tmp_path / "live.py").write_text(MARIMO.format(cell=cell))
    options = ("run", "live.py", "--headless", "--no-token")
    with serving_notebooks("marimo", *options, folder=tmp_path) as url, watched(browser, url) as page:
        page.goto(url)
        stage = page.locator(".stage")
        shows_the_pattern(stage)
        head = stage.get_by_role("gridcell", name="Encoder self, layer 0 head")  # within a shadow root
        head.nth(0).click()
        page.keyboard.press("ArrowRight")
        expect(head.nth(1)).to_be_focused()
        page.keyboard.press("Enter")
        expect(head.nth(1)).to_have_attribute("aria-current", "true")


def test_a_page_of_marimo_needs_marimo_s_own_files_alone(browser: Browser, tmp_path: Path) -> None:
    import marimo

    files = Path(marimo.__file__).parent / "_static"
    cell = "\n".join(f"    {line}" for line in OPENS.splitlines())
    (tmp_path / "kept.py").write_text(MARIMO.format(cell=cell))
    export = [sys.executable, "-m", "marimo", "export", "html", "kept.py", "-o", "kept.html"]
    subprocess.run(export, cwd=tmp_path, env=notebooks_environment(tmp_path), check=True, capture_output=True)
    page, strangers = browser.new_page(viewport={"width": 1366, "height": 1800}), []

    def answer(route: Route) -> None:
        name = re.sub(r".*/@marimo-team/frontend@[^/]+/dist/", "", route.request.url)
        if (files / name).is_file():
            route.fulfill(path=files / name, headers={"Access-Control-Allow-Origin": "*"} | kind_of(name))
        else:
            strangers.append(route.request.url)
            route.abort()

    page.route(re.compile("^https?:"), answer)
    page.goto((tmp_path / "kept.html").as_uri())
    shows_the_pattern(page.locator(".stage"))
    assert strangers == []
    page.close()


def kind_of(name: str) -> dict[str, str]:
    return {"Content-Type": mimetypes.guess_type(name)[0] or "text/plain"}


RENDER = """async ([code, plain, charts, packed]) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([code], {type: "text/javascript"})));
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const models = [0, 1].map(() => {
    const [values, heard] = [{message: bytes(plain), plotly: bytes("")}, {}];
    const on = (event, hear) => Object.assign(heard, {[event]: hear});
    const model = {values, heard, get: (name) => values[name], on, set() {}, save_changes() {}, send() {}};
    widget.render({model, el: document.body.appendChild(document.createElement("div"))});
    return model;
  });
  Object.assign(models[0].values, {message: bytes(charts), plotly: bytes(packed)});
  models[0].heard["change:message"]();
}"""


def test_a_figure_may_get_charts_later_than_another_is_shown_and_is_as_dark_as_the_page(
    browser: Browser,
) -> None:
    from attention_lab import show

    charts, plain = show("softmax/spread"), show("masks/mask")
    coded = [base64.b64encode(each).decode() for each in (plain.message, charts.message, charts.plotly)]
    page = browser.new_page()
    page.set_content("<style>body { background: #101418 }</style>")
    page.evaluate(RENDER, [charts._esm, *coded])
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    shades = np.asarray(Image.open(io.BytesIO(page.locator(".board").first.screenshot())).convert("L"))
    assert np.median(shades) < 40
    page.close()


OPENED = """async ([code, message]) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([code], {type: "text/javascript"})));
  const values = {message: Uint8Array.from(atob(message), (letter) => letter.charCodeAt(0)), plotly: null};
  const set = (name, value) => Object.assign(values, {[name]: value});
  const model = {get: (name) => values[name], set, on() {}, off() {}, save_changes() {}, send() {}};
  widget.render({model, el: document.body.appendChild(document.createElement("div"))});
  return values.state;
}"""


@pytest.mark.parametrize("view", [{}, {"view": "grid"}, {"stack": "decoder.cross", "head": 1}])
def test_the_browser_opens_what_python_takes_for_opened(browser: Browser, view: dict) -> None:
    from attention_lab import explore

    figure = explore("translator", TEXT, **view)
    taken = figure._seen
    page = browser.new_page()
    state = page.evaluate(OPENED, [figure._esm, base64.b64encode(figure.message).decode()])
    page.close()
    assert taken.items() <= state.items()
    figure.state = state  # each field that the browser tells of is taken
    assert figure.state == state
