"""Links there and back: the address bar always holds a link that shows the same to somebody else."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from attention_lab.pages.explore.state import VIEWS
from tests.browser.explore_page import TEXT, ExplorePage, NewExplore, untrained

GROUPS = ("view", "stack", "layer", "head", "show", "scale", "sort by")


def shown(explore: ExplorePage) -> dict[str, Any]:
    """All that a visitor sees: the text, what is chosen, every word and number of the stage."""
    canvas, is_head = ".panel canvas", explore.chosen("view") == ["head"]
    if is_head:
        explore.wait_for_heatmap()  # its names belong to the words of the stage
    return {
        "sentence": explore.sentence.input_value(),
        "chosen": {group: explore.chosen(group) for group in GROUPS},
        "stage": explore.stage.inner_text().replace(explore.control("Model").inner_text(), ""),
        "canvas": explore.written(canvas) if explore.stage.locator(canvas).count() else None,
        "names": [explore.names_beside(axis) for axis in "xy"] if is_head else None,
        "step": explore.stage.get_by_label("Decoding step").input_value(),
        "settings": explore.side.locator(":is(select, input)").evaluate_all(
            "(all) => all.map((each) => [each.ariaLabel, each.value, each.ariaValueText])"
        ),
    }


def assert_link_shows_the_same(explore: ExplorePage, new_explore: NewExplore) -> None:
    explore.sentence.hover()
    friend = new_explore().open_link(explore.page.url)
    expect(friend.sentence).to_have_value(explore.sentence.input_value())
    assert shown(friend) == shown(explore)
    assert friend.page.url == explore.page.url


def test_a_link_to_an_untrained_models_head(explore: ExplorePage, new_explore: NewExplore) -> None:
    explore.untrained(n_layers=3, n_heads=8, d_model=96, d_head=16, seed=77, mask="causal", norm="post")
    explore.choose("view", "head")
    explore.choose("layer", 2)
    explore.choose("head", 5)
    explore.choose("show", "scores")
    explore.choose("scale", "row")
    explore.hover_cell(6, 3)
    explore.page.mouse.down()
    explore.page.mouse.up()
    explore.sentence.hover()
    assert_link_shows_the_same(explore, new_explore)


def test_a_link_to_a_set_of_heads_and_a_kept_token(explore: ExplorePage, new_explore: NewExplore) -> None:
    explore.untrained(view="lines")
    explore.choose("head", 2, 3)
    explore.stage.locator('.tokens.keys button[data-at="4"]').click()
    assert explore.chosen("head") == ["0", "2", "3"]
    explore.page.evaluate("document.activeElement.blur()")
    assert_link_shows_the_same(explore, new_explore)


def test_a_link_to_a_forced_target_in_the_cross_stack(explore: ExplorePage, new_explore: NewExplore) -> None:
    explore.open(text="the cat saw the dog", target="le chien a vu le chat", beam=3, view="numbers")
    explore.choose("stack", "decoder.cross")
    explore.choose("layer", 0)
    explore.choose("head", 1)
    assert_link_shows_the_same(explore, new_explore)


def test_a_link_made_by_editing_everything_on_the_page(explore: ExplorePage, new_explore: NewExplore) -> None:
    explore.open()
    with explore.redrawn():
        explore.choose_model("untrained")
    with explore.redrawn():
        explore.type("ein Satz, über den man reden kann & mehr?")
    explore.slide("Seed", "ArrowRight")
    expect(explore.page).to_have_url(re.compile(r"[?&]seed=1\b"))
    explore.choose("view", "numbers")
    explore.choose("head", 3)
    assert_link_shows_the_same(explore, new_explore)
    assert parse_qs(urlsplit(explore.page.url).query)["text"] == ["ein Satz, über den man reden kann & mehr?"]


def test_copy_link_puts_the_address_on_the_clipboard(new_explore: NewExplore) -> None:
    explore = new_explore(permissions=["clipboard-read", "clipboard-write"]).untrained(view="lines", head=3)
    explore.more("copy link").click()
    expect(explore.stage.get_by_text("link copied")).to_be_visible()
    assert explore.page.evaluate("navigator.clipboard.readText()") == explore.page.url


NO_VALUES = {
    "n_heads=seven": "The link's n_heads='seven' is not a whole number from 1 to 16",
    "n_layers=9999999999999999999999": "is not a whole number from 1 to 8",
    "seed=-1": "The link's seed='-1' is not a whole number from 0 to 999",
    "view=everything": f"is not one of {', '.join(VIEWS)}",
    "heads=1.x.2": "is not head numbers separated by dots",
    "d_model=<b>bold</b>": "The link's d_model='<b>bold</b>' is not a whole number from 1 to 512",
}
NOT_THERE = {
    "head=3000": "The link's head=3000 is not below 4",
    "layer=99": "The link's layer=99 is not below 2",
    "heads=1.900": "The link's heads=1.900 is not below 4",
    "step=4000": "The link's step=4000 is not below 10",
    "stack=decoder.cross": "The link's stack=decoder.cross is not one of encoder.self",
}
IMPOSSIBLE = {"n_heads=7": "d_model=64 is not divisible by n_heads=7"}


@pytest.mark.parametrize("damage", [NO_VALUES, NOT_THERE, IMPOSSIBLE])
def test_a_damaged_link_falls_back_and_says_so(explore: ExplorePage, damage: dict[str, str]) -> None:
    explore.untrained(**dict(each.split("=") for each in damage))
    for sentence in damage.values():
        expect(explore.problem).to_contain_text(sentence)
    expect(explore.stage.locator(".panel")).to_be_visible()
    expect(explore.sentence).to_have_value(TEXT)
    expect(explore.heads_of(0)).to_have_count(4)


def test_a_link_damaged_everywhere_shows_the_first_visit(explore: ExplorePage) -> None:
    names = ["view", "stack", "layer", "head", "heads", "show", "range", "sort"]
    explore.open(
        **dict.fromkeys(
            [*names, "model", "direction", "beam", "step", "query", "key", "pinned", "q0", "k0"], "\x00💥"
        )
    )
    for name in names:
        expect(explore.problem).to_contain_text(f"The link's {name}=")
    expect(explore.problem).to_contain_text("is not among the models shown here")
    assert explore.chosen("view") == ["lines"]
    expect(explore.stage.locator(".notice")).to_contain_text("“it” looks at “animal”")


def test_a_good_link_is_no_longer_blamed_when_the_text_gets_shorter(explore: ExplorePage) -> None:
    explore.untrained(view="head", query=9, key=9)
    with explore.redrawn():
        explore.type("three short words")
    expect(explore.problem).to_be_hidden()
    explore.hover_cell(2, 2)
    explore.assert_reads(untrained("three short words"), "encoder.0.self", 0, 2, 2)


def test_a_page_asks_for_its_server_once_where_it_is(page: Page, app_url: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.goto("/design")
    expect(page.get_by_role("link", name="Explore")).to_be_visible()
    searches = [url for url in asked if url.endswith(("/health", "/host-config", "/stream"))]
    own = f"{app_url}/_stcore"
    assert sorted(searches) == sorted(
        [f"{own}/health", f"{own}/host-config", f"{own}/stream".replace("http", "ws", 1)]
    )
