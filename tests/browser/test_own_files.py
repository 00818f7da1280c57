"""A model, a position scheme, a mask and kinds of panels, each in a file of its own as somebody would add it,
are offered and work on every page that has them, and in what is taken away; no other file is changed.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from plotly import graph_objects

from attention_lab.models.config import POSITION_SCHEMES
from attention_lab.models.data.tasks import make_task
from attention_lab.models.engine.positions import POSITIONS
from attention_lab.models.engine.size import count_parameters
from attention_lab.models.training.config import run_config
from attention_lab.models.zoo import catalogue
from tests.browser.board import BoardPage
from tests.browser.conftest import visit_first
from tests.browser.explore_page import ExplorePage, agrees, choose, untrained
from tests.browser.test_design_page import rows
from tests.browser.training import TINY, TrainPage
from tools.background_servers import ROOT, free_port, serving

FILES = Path(__file__).with_name("own_files")
PLACES = {
    "wrapped.py": "models/zoo/others",
    "alternating.py": "models/engine/positions",
    "checkered.py": "models/engine/masks/kinds",
    "gauge.py": "viz_core/boards/panels",
    "gauge.js": "viz_core/viewer/board/panels",
    "falls.py": "viz_core/boards/panels",
    "page.py": "pages/findings",
}
"""Files, and the folders of a copy of the app in which they lie."""
PARTS = ("app.py", "attention_lab", "pages", "models", "viz_core", "tools", ".streamlit")
NAME = "alternating"
REGISTERED = "Object.keys(LabPlotly.PlotSchema.get().traces)"


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:
    """Address of a server of a copy of the app with these files."""
    folder, home, port = tmp_path_factory.mktemp("app"), tmp_path_factory.mktemp("home"), free_port()
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, symlinks=True)
        else:
            shutil.copy(ROOT / part, folder / part)
    for file, place in PLACES.items():
        shutil.copy(FILES / file, folder / place)
    settings = {"ATTENTION_LAB_RUNS": str(home / "runs"), "ATTENTION_LAB_DATA": str(home / "data")}
    command = [sys.executable, "-m", "attention_lab", "--port", str(port)]
    with serving(command, port, folder, home / "log.txt", **settings) as server:
        visit_first(browser, server.url)
        yield server.url


@pytest.fixture
def registered() -> Iterator[None]:
    """This process knows the scheme as well, to compute what the pages must show."""
    import_module(f"tests.browser.own_files.{NAME}")
    yield
    POSITIONS.pop(NAME)
    POSITION_SCHEMES.remove(NAME)
    sys.modules.pop(f"tests.browser.own_files.{NAME}")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch):
    """The same model in this process, to compute what the page must show."""
    monkeypatch.setattr(catalogue, "_REGISTERED", dict(catalogue._REGISTERED))
    from tests.browser.own_files.wrapped import load

    return load()


def test_a_registered_model_can_be_chosen_and_works_in_every_view(explore: ExplorePage, model) -> None:
    explore.page.set_default_timeout(60_000)
    explore.trained("translator")
    with explore.redrawn():
        explore.choose_model("PyTorch's encoder")
    expect(explore.sentence).to_have_value("abcab")
    trace = model.trace("abcab")
    expect(explore.stage.locator(".grid-buttons button")).to_have_count(4)
    explore.choose("view", "head")
    explore.choose("layer", 1)
    explore.choose("head", 1)
    explore.hover_cell(3, 2)
    explore.assert_reads(trace, "encoder.1.self", 1, 3, 2)
    explore.choose("view", "lines")
    assert explore.pixels(".lines-board canvas")[..., 3].any()
    explore.choose("view", "numbers")
    expect(explore.stage).to_contain_text("softmax")
    explore.choose("view", "output")
    explore.stage.locator('.steps button[data-step="0"]').click()
    best = trace["logits"][0].double().softmax(-1).max(0)
    row = explore.stage.locator(".next tbody tr").first
    assert row.locator("th").inner_text().replace("␣", " ") == model.outputs[int(best.indices)]
    assert agrees(row.locator(".weight").inner_text(), best.values.item())
    explore.take_away()
    code = explore.page.get_by_test_id("stCode")
    expect(code).to_contain_text("trace = load().trace('abcab')")


def test_what_takes_long_says_how_far_it_is_and_is_stopped(explore: ExplorePage) -> None:
    page = explore.page
    explore.trained("wrapped")
    text = explore.sentence
    explore.type("zzab")
    said = explore.stage.locator(".computing")
    expect(said).to_contain_text("Computing: the model is opened first.")
    expect(said).to_contain_text("Computing the figure: 1 of 2 layers are done.")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(explore.problem).to_contain_text("The figure was stopped; the previous one stays")
    expect(said).to_be_hidden()
    expect(text).to_have_value("zzab")  # what was typed stays
    expect(explore.page).to_have_url(re.compile("model=wrapped"))
    expect(explore.page).not_to_have_url(re.compile("zzab"))
    expect(explore.stage.locator(".grid-buttons button")).to_have_count(4)
    page.get_by_role("button", name="compute it after all").click()
    expect(said).to_contain_text("layers are done.")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(said).to_be_hidden()
    page.get_by_role("button", name="compute it after all").click()
    expect(explore.page).to_have_url(re.compile("text=zzab"), timeout=60_000)
    expect(explore.problem).to_be_hidden()


@pytest.mark.usefixtures("registered")
def test_train_trains_with_it(page: Page) -> None:
    train = TrainPage(page)
    train.open(**TINY)
    train.unfold()
    choose(page, "Positions", NAME)
    sizes = {name: TINY[name] for name in ("n_layers", "n_heads", "d_model")}
    config = run_config(make_task("reverse", {"length": 4}), sizes={**sizes, "positions": NAME})
    expect(train.board).to_contain_text(f"{count_parameters(config.model).total:,}")
    train.finish()
    assert train.facts()["step"] == "60"


@pytest.mark.usefixtures("registered")
def test_explore_traces_an_untrained_model_with_it(explore: ExplorePage) -> None:
    explore.untrained(view="head", layer=1, head=2, seed=5)
    with explore.redrawn():
        explore.set("Positions", NAME)
    assert "positions=alternating" in explore.page.url
    explore.hover_cell(query=7, key=1)
    trace = untrained(seed=5, positions=NAME)
    explore.assert_reads(trace, "encoder.1.self", head=2, query=7, key=1)
    explore.choose("view", "numbers")
    expect(explore.stage.get_by_text("both turned by their positions")).to_be_visible()


def test_design_counts_it_and_says_what_it_needs(page: Page) -> None:
    design = BoardPage(page, "design")
    design.open(part="calculator")
    assert rows(design)["positions"][0] == f"{1_024 * 768:,}"
    with design.redrawn():
        choose(page, "positions", NAME)
    assert rows(design)["positions"][0] == "1"
    heads = page.get_by_role("spinbutton", name="n_heads")
    heads.fill("256")
    heads.press("Enter")
    expect(design.problem).to_have_text(
        "d_model / n_heads = 3 is odd, but alternating positions turn channels in pairs; "
        "try d_model=1024, or other positions"
    )


def test_explore_hides_what_the_mask_hides(explore: ExplorePage) -> None:
    explore.untrained(view="head", layer=0, head=0)
    with explore.redrawn():
        explore.set("Mask", "causal + checkered")
    assert "mask=causal%2Bcheckered" in explore.page.url
    for key, hidden in ((3, False), (2, True), (1, False), (5, True)):
        explore.hover_cell(query=3, key=key)
        assert ("masked" in explore.terms()["score"]) == hidden


def test_the_page_of_masks_draws_it(page: Page) -> None:
    lab = BoardPage(page, "masks")
    lab.open()
    with lab.redrawn():
        choose(page, "Mask", "checkered")
    assert lab.cells("mask") == [list(row) for row in ("1010", "0101", "1010", "0101")]


@pytest.fixture
def lab(page: Page) -> BoardPage:
    page.goto("/findings?more=1")
    return BoardPage(page, "objective").wait()


def test_a_kind_with_javascript_of_its_own_is_drawn_moved_and_taken_away(lab: BoardPage) -> None:
    needle = lab.panel("pressure").locator("line")
    expect(needle).to_have_attribute("transform", "rotate(135 60 55)")
    with lab.quiet():
        lab.scrub(0)
    expect(needle).to_have_attribute("transform", "rotate(45 60 55)")
    lab.more("take away").click()
    dialog = lab.page.get_by_role("dialog")
    expect(dialog.locator(".js-plotly-plot")).to_contain_text("0.5 of 2")
    with lab.page.expect_download() as waiting:
        dialog.get_by_role("button", name="Numbers, CSV").click()
    assert '"1 pressure","0","reading","","","","0.5","","",""' in Path(waiting.value.path()).read_text()


def test_a_kind_of_charts_may_have_any_trace_that_plotly_knows(lab: BoardPage) -> None:
    """All of Plotly comes when it is first needed; without that, it would draw points."""
    assert [trace["type"] for trace in lab.traces("sample")] == ["waterfall"]
    drawn = lab.panel("sample").locator(".plot")
    expect(drawn.locator(".waterfalllayer .point")).to_have_count(5)
    assert drawn.evaluate("(figure) => figure.calcdata[0][4].s") == 15
    known = {name for name in graph_objects.__all__ if name.islower()} - {"layout"}
    assert set(lab.page.evaluate(REGISTERED)) == known
