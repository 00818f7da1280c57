"""A model in a file of its own is on Explore and works in every view; no other file is changed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from models.zoo import offers
from tests.browser.copied_app import copied_app
from tests.browser.lab import Lab, agrees

FILE = Path(__file__).with_name("wrapped.py")


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server of a copy of the app, with one file more."""
    with copied_app(FILE, "models/zoo/others", tmp_path_factory) as url:
        yield url


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch):
    """The same model in this process, to compute what the page must show."""
    monkeypatch.setattr(offers, "_REGISTERED", dict(offers._REGISTERED))
    from tests.browser.wrapped import load

    return load()


def test_a_registered_model_can_be_chosen_and_works_in_every_view(lab: Lab, model) -> None:
    lab.page.set_default_timeout(60_000)
    lab.trained("translator")
    with lab.redrawn():
        lab.choose_model("PyTorch's encoder")
    expect(lab.page.get_by_role("textbox", name="Text")).to_have_value("abcab")
    trace = model.trace("abcab")
    expect(lab.stage.locator(".grid-buttons button")).to_have_count(4)
    lab.choose("view", "head")
    lab.choose("layer", 1)
    lab.choose("head", 1)
    lab.hover_cell(3, 2)
    lab.assert_reads(trace, "encoder.1.self", 1, 3, 2)
    lab.choose("view", "lines")
    assert lab.pixels(".lines-board canvas")[..., 3].any()
    lab.choose("view", "numbers")
    expect(lab.stage).to_contain_text("softmax")
    lab.choose("view", "output")
    lab.stage.locator('.steps button[data-step="0"]').click()
    best = trace["logits"][0].double().softmax(-1).max(0)
    row = lab.stage.locator(".next tbody tr").first
    assert row.locator("th").inner_text().replace("␣", " ") == model.outputs[int(best.indices)]
    assert agrees(row.locator(".weight").inner_text(), best.values.item())
    lab.stage.get_by_role("button", name="Take away").click()
    code = lab.page.get_by_test_id("stCode")
    expect(code).to_contain_text("trace = load().trace('abcab')")
