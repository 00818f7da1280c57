"""Taking away: what is downloaded is opened here and compared with the trace."""

import io
import re
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pypdfium2 as pdfium
import pytest
from playwright.sync_api import Browser, Download, Locator, expect
from plotly.offline import get_plotlyjs_version

from tests.browser.explore_page import TEXT, ExplorePage, settle, untrained

WORDS = TEXT.split()
CAMERA_MAKES_SVG = """
() =>
  document.querySelector("[role=dialog] .js-plotly-plot")?._context?.toImageButtonOptions?.format === "svg"
"""
OPEN = {"view": "head", "layer": 1, "head": 2, "seed": 5}
TIRED = "the animal did not cross the street because it was too tired"


def open_dialog(explore: ExplorePage) -> Locator:
    dialog = explore.take_away()
    expect(dialog.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    return dialog


def press(explore: ExplorePage, dialog: Locator, name: str) -> Download:
    with explore.page.expect_download() as waiting:
        dialog.get_by_role("button", name=name).click()
    return waiting.value


def content(download: Download) -> bytes:
    return Path(download.path()).read_bytes()


def camera(explore: ExplorePage, dialog: Locator) -> Download:
    settle(explore.page)  # while the figure is drawn again, the old one is there too
    dialog.locator(".js-plotly-plot").hover()
    with explore.page.expect_download() as waiting:
        dialog.locator(".modebar-btn[data-title*='ownload']").click()
    return waiting.value


def code_of(dialog: Locator) -> str:
    return dialog.get_by_test_id("stCode").locator("code").inner_text()


def test_the_camera_makes_a_png_and_the_zip_is_for_a_paper(explore: ExplorePage) -> None:
    explore.untrained(**OPEN)
    dialog = open_dialog(explore)
    dialog.get_by_role("button", name="For a paper, ZIP").click()
    with explore.page.expect_download() as waiting:
        explore.page.get_by_role("button", name="Make it").click()
    explore.page.keyboard.press("Escape")  # closes the popover alone
    assert waiting.value.suggested_filename == "encoder-1-self-head-2-nature.zip"
    archive = zipfile.ZipFile(io.BytesIO(content(waiting.value)))
    printed = pdfium.PdfDocument(archive.read("figure.pdf"))[0]
    assert printed.get_width() == pytest.approx(89 / 25.4 * 72, abs=0.5)
    words = printed.get_textpage().get_text_range()
    assert all(word in words for word in ("cat", "because", "tired", "query", "key"))
    names: dict[str, Any] = {}
    exec(archive.read("compute.py"), names)
    whole = np.load(io.BytesIO(archive.read("trace.npz")))
    np.testing.assert_array_equal(names["pattern"], whole["encoder.1.self.pattern"][2])
    assert "seed: 5" in archive.read("caption.txt").decode()
    download = camera(explore, dialog)
    assert download.suggested_filename == "encoder-1-self-head-2.png"
    image = content(download)
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(image[at : at + 4], "big") for at in (16, 20))
    assert min(width, height) >= 400


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_the_camera_makes_an_svg_with_the_tokens_of_each_view(explore: ExplorePage, view: str) -> None:
    explore.untrained(**{**OPEN, "view": view})
    dialog = open_dialog(explore)
    dialog.get_by_role("radio", name="SVG").click()
    # The camera button reads its settings when the figure is drawn again.
    explore.page.wait_for_function(CAMERA_MAKES_SVG)
    download = camera(explore, dialog)
    assert download.suggested_filename.endswith(".svg")
    root = ElementTree.fromstring(content(download))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    drawn = "".join(root.itertext())
    words = ("head 2",) if view == "grid" else ("cat", "because", "tired")
    assert all(word in drawn for word in words)


def test_the_offline_page_draws_the_figure_without_a_network(
    explore: ExplorePage, browser: Browser, tmp_path: Path
) -> None:
    explore.untrained(**OPEN)
    saved = tmp_path / "figure.html"
    press(explore, open_dialog(explore), "Figure, offline HTML").save_as(saved)
    context = browser.new_context(offline=True)
    page, failed = context.new_page(), []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(saved.as_uri())
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    figure = page.locator(".js-plotly-plot").first
    cells = np.array(figure.evaluate("({ calcdata }) => calcdata[0][0].z.map((row) => Array.from(row))"))
    pattern = untrained(seed=5)["encoder.1.self.pattern"][2].numpy()
    np.testing.assert_allclose(cells / 255, pattern, atol=1e-2)  # its colours, of which there are 256
    assert all(word in figure.inner_text() for word in ("because", "tired"))
    expect(page.get_by_text(f"{pattern[0].max():.3f}", exact=True).first).to_be_visible()
    for needs_a_server in ("Sweep", "tired → wide", "side by side"):
        expect(page.get_by_role("button", name=needs_a_server)).to_have_count(0)
    assert failed == []
    context.close()


def test_the_code_reproduces_the_untrained_models_pattern(explore: ExplorePage) -> None:
    explore.untrained(n_heads=8, d_head=16, norm="post", mask="causal", **OPEN)
    code = code_of(open_dialog(explore))
    assert len([line for line in code.splitlines() if line and "import" not in line]) == 3
    names: dict[str, object] = {}
    exec(code, names)
    expected = untrained(n_heads=8, d_head=16, norm="post", mask="causal", seed=5)["encoder.1.self.pattern"][
        2
    ]
    np.testing.assert_array_equal(names["pattern"], expected)


def test_a_large_trace_is_still_taken_away(explore: ExplorePage) -> None:
    """Its open head as a table; the whole of it only where it fits the limit, which the dialog says."""
    explore.untrained(text=" ".join(f"w{at}" for at in range(1_000)), n_layers=8, n_heads=16, view="head")
    dialog = open_dialog(explore)
    expect(dialog).to_contain_text(re.compile(r"more than \d+ MB: take"))
    expect(dialog.get_by_role("button", name="Whole trace, NPZ")).to_have_count(0)


def test_heads_are_drawn_by_our_plotly_after_the_dialog_has_brought_streamlits(explore: ExplorePage) -> None:
    explore.untrained(view="lines")
    dialog = open_dialog(explore)
    assert explore.page.evaluate("[typeof Plotly, typeof LabPlotly]") == ["object", "undefined"]
    dialog.get_by_role("button", name="Close").click()
    explore.choose("view", "head")
    expect(explore.stage.locator(".head-board .main-svg").first).to_be_visible()
    assert explore.page.evaluate("LabPlotly.version") == get_plotlyjs_version()
