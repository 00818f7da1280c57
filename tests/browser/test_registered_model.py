"""A model in a file of its own is on Explore and works in every view; no other file is changed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from models.zoo import offers
from tests.browser.copied_app import copied_app
from tests.browser.explore_page import ExplorePage, agrees

FILE = Path(__file__).with_name("wrapped.py")


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:
    """Address of a server of a copy of the app, with one file more."""
    with copied_app({FILE: "models/zoo/others"}, tmp_path_factory, browser) as url:
        yield url


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch):
    """The same model in this process, to compute what the page must show."""
    monkeypatch.setattr(offers, "_REGISTERED", dict(offers._REGISTERED))
    from tests.browser.wrapped import load

    return load()


def test_a_registered_model_can_be_chosen_and_works_in_every_view(explore: ExplorePage, model) -> None:
    explore.page.set_default_timeout(60_000)
    explore.trained("translator")
    with explore.redrawn():
        explore.choose_model("PyTorch's encoder")
    expect(explore.page.get_by_role("textbox", name="Text")).to_have_value("abcab")
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
    explore.stage.get_by_role("button", name="Take away").click()
    code = explore.page.get_by_test_id("stCode")
    expect(code).to_contain_text("trace = load().trace('abcab')")


def test_what_takes_long_says_how_far_it_is_and_is_stopped(explore: ExplorePage) -> None:
    page = explore.page
    explore.trained("wrapped")
    text = page.get_by_role("textbox", name="Text")
    text.fill("zzab")
    text.press("Enter")
    said = page.locator(".computing")
    expect(said).to_have_text("Computing the figure: its model is opened and its text read first.")
    expect(said).to_have_text("Computing the figure: 1 of 2 layers are done.")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(explore.problem).to_contain_text("The figure was stopped; the one before it stays")
    expect(said).to_have_count(0)
    expect(text).to_have_value("abcab")
    expect(explore.stage.locator(".grid-buttons button")).to_have_count(4)
    page.get_by_role("button", name="Compute it after all").click()
    expect(text).to_have_value("zzab")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(text).to_have_value("abcab")
