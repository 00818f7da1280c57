"""A position scheme and a mask in files of their own are offered and work on every page that has them, and no
other file is changed.
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from models.config import POSITION_SCHEMES
from models.data.tasks import make_task
from models.engine.positions import POSITIONS
from models.engine.size import count_parameters
from models.training.config import run_config
from tests.browser.board import BoardPage
from tests.browser.copied_app import copied_app
from tests.browser.explore_page import ExplorePage, choose, untrained
from tests.browser.test_design_page import rows
from tests.browser.training import TINY, TrainPage

NAME = "alternating"
PLACES = {
    Path(__file__).with_name(f"{NAME}.py"): "models/engine/positions",
    Path(__file__).with_name("checkered.py"): "models/engine/masks/kinds",
}


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:
    """Address of a server of a copy of the app, with these files more."""
    with copied_app(PLACES, tmp_path_factory, browser) as url:
        yield url


@pytest.fixture
def registered() -> Iterator[None]:
    """This process knows the scheme as well, to compute what the pages must show."""
    import_module(f"tests.browser.{NAME}")
    yield
    POSITIONS.pop(NAME)
    POSITION_SCHEMES.remove(NAME)
    sys.modules.pop(f"tests.browser.{NAME}")


@pytest.mark.usefixtures("registered")
def test_train_trains_with_it(page: Page) -> None:
    train = TrainPage(page)
    train.open(**TINY)
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
        choose(explore.page, "Positions", NAME)
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
        choose(explore.page, "Mask", "causal + checkered")
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
