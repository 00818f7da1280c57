"""Whatever a person types, or brings by a link, is shown as text: no picture is fetched, nothing becomes a
link or is bold. (A request to another host fails every test here.)
"""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from attention_lab.models.data.tasks import make_task
from attention_lab.models.fields import fields_of
from attention_lab.models.runs.folder import create_run
from attention_lab.models.training.config import run_config
from attention_lab.pages.lab.lesson import lab_page
from tests.browser.board import LAB_PAGES, BoardPage
from tests.browser.explore_page import RARE, ExplorePage

# What is refused is quoted by its beginning alone: half of it in other signs than the rest.
TEXT = (
    "www.evil.example <b>bold</b> :red[r] ![p](http://evil.example/p.png) me@evil.example $x^2$ "
    "<img/src=http://evil.example/d> [a](http://evil.example/a) <http://evil.example/b> http://evil.example/c"
)
MADE_OF_THEM = ", ".join(
    (
        "a[href^='http://evil']", "a[href^='http://www.evil']", "a[href^='mailto:']", "[src^='http://evil']",
        "image[href^='http://evil']",
        "b:text-is('bold')", "strong:text-is('bold')", "tspan[style*='bold']:text-is('bold')",
        "span[style*='color']:text-is('r')",
    )
)  # fmt: skip


def nothing_is_made_of_it(page: Page) -> None:
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")  # it is drawn
    expect(page.locator(MADE_OF_THEM)).to_have_count(0)


def typed_into(name: str) -> set[str]:
    """The fields of a page of the lab that take texts."""
    return {field for field, spec in fields_of(lab_page(name).inputs).items() if spec.rule.most}


@pytest.mark.parametrize("name", [name for name in LAB_PAGES if typed_into(name)])
def test_on_lab_pages(page: Page, name: str) -> None:
    """A link that brings it to every field of the page, and each part into which one can type."""
    lab, board, typed = lab_page(name), BoardPage(page, name), typed_into(name)
    board.open(**dict.fromkeys(typed, TEXT))
    nothing_is_made_of_it(page)
    for part in lab.parts[1:]:
        if typed & set(part.fields):
            board.choose_part(part.label)
            nothing_is_made_of_it(page)
    page.wait_for_timeout(300)  # what is fetched is asked for by now


@pytest.mark.parametrize("model", ["translator", "untrained", "masked", "shakespeare", "sentiment"])
def test_on_explore(explore: ExplorePage, model: str) -> None:
    explore.page.goto(f"/?{urlencode({'model': model, 'text': TEXT, 'view': 'lines'})}")
    explore.stage.wait_for()
    views = explore.choice("view").locator("button")
    offered = views.evaluate_all("(all) => all.map((button) => button.dataset.value)")
    assert {"lines", "grid", "head", "numbers"} <= {*offered}
    for view in (*offered, *RARE[:2]):
        explore.choose("view", view)
        nothing_is_made_of_it(explore.page)
    explore.page.wait_for_timeout(300)


def test_in_the_name_of_a_run(page: Page, server_folder: Path) -> None:
    paths = [server_folder / "runs" / word for word in ("evil", "evil-other")]
    for at, path in enumerate(paths):
        create_run(run_config(make_task("reverse")), name=TEXT[80 * at :][:80], path=path)
    one, both = paths[0].name, ".".join(path.name for path in paths)
    for link in (f"runs?runs={one}", f"runs?runs={both}", f"train?run={one}"):
        page.goto(f"/{link}")
        expect(page.get_by_text(TEXT[:15]).first).to_be_visible()
        nothing_is_made_of_it(page)
