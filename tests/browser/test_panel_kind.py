"""Kinds of panels in files of their own are drawn on a page and in what is taken away; no list names them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from plotly import graph_objects

from tests.browser.board import BoardPage
from tests.browser.copied_app import copied_app

KINDS = Path(__file__).with_name("kinds")
PLACES = {
    "gauge.py": "viz_core/boards/panels",
    "gauge.js": "pages/shared/board/panels",
    "boxes.py": "viz_core/boards/panels",
    "page.py": "pages/lab/design",
}
REGISTERED = "Object.keys(LabPlotly.PlotSchema.get().traces)"


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:
    """Address of a server of a copy of the app, with the kinds and a page that uses them."""
    with copied_app(
        {KINDS / name: place for name, place in PLACES.items()}, tmp_path_factory, browser
    ) as url:
        yield url


@pytest.fixture
def lab(page: Page) -> BoardPage:
    return BoardPage(page, "design").open()


def test_a_kind_with_javascript_of_its_own_is_drawn_moved_and_taken_away(lab: BoardPage) -> None:
    needle = lab.panel("pressure").locator("line")
    expect(needle).to_have_attribute("transform", "rotate(135 60 55)")
    with lab.quiet():
        lab.scrub(0)
    expect(needle).to_have_attribute("transform", "rotate(45 60 55)")
    lab.board.get_by_role("button", name="take away").click()
    dialog = lab.page.get_by_role("dialog")
    expect(dialog.locator(".js-plotly-plot")).to_contain_text("0.5 of 2")
    with lab.page.expect_download() as waiting:
        dialog.get_by_role("button", name="Numbers, CSV").click()
    assert "1 pressure,0,reading,,,,0.5,,," in Path(waiting.value.path()).read_text()


def test_a_kind_of_charts_may_have_any_trace_that_plotly_knows(lab: BoardPage) -> None:
    """Its type is registered when it is first drawn; without that, Plotly would draw points."""
    assert [trace["type"] for trace in lab.traces("sample")] == ["box"]
    drawn = lab.panel("sample").locator(".plot")
    expect(drawn.locator(".boxlayer path.box")).to_have_count(1)
    assert drawn.evaluate("(figure) => figure.calcdata[0][0].med") == 3
    known = {name for name in graph_objects.__all__ if name.islower()} - {"layout"}
    assert set(lab.page.evaluate(REGISTERED)) == known
