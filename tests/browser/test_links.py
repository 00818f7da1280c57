"""Links there and back: the address bar always holds a link that shows the same to somebody else."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lab import TEXT, Lab, NewLab, untrained

GROUPS = ("view", "stack", "layer", "head", "show", "scale", "sort by")


def shown(lab: Lab) -> dict[str, Any]:
    """All that a visitor sees: the text, what is chosen, every word and number of the stage."""
    return {
        "sentence": lab.sentence.input_value(),
        "chosen": {group: lab.chosen(group) for group in GROUPS},
        "stage": lab.stage.inner_text(),
        "canvas": lab.written(".panel canvas") if lab.stage.locator(".panel canvas").count() else None,
        "step": lab.stage.get_by_label("Decoding step").input_value(),
        "controls": lab.page.locator(".stSlider, .stSelectbox, .stSegmentedControl").all_inner_texts(),
    }


def assert_link_shows_the_same(lab: Lab, new_lab: NewLab) -> None:
    friend = new_lab().open_link(lab.page.url)
    expect(friend.sentence).to_have_value(lab.sentence.input_value())
    assert shown(friend) == shown(lab)
    assert friend.page.url == lab.page.url


def test_a_link_to_an_untrained_models_head(lab: Lab, new_lab: NewLab) -> None:
    lab.untrained(n_layers=3, n_heads=8, d_model=96, d_head=16, seed=77, mask="causal", norm="post")
    lab.choose("view", "head")
    lab.choose("layer", 2)
    lab.choose("head", 5)
    lab.choose("show", "scores")
    lab.choose("scale", "row")
    lab.hover_cell(6, 3)
    lab.page.mouse.down()
    lab.page.mouse.up()
    lab.sentence.hover()
    assert_link_shows_the_same(lab, new_lab)


def test_a_link_to_a_set_of_heads_and_a_kept_token(lab: Lab, new_lab: NewLab) -> None:
    lab.untrained(view="lines")
    lab.choose("head", 2, 3)
    lab.stage.locator('.tokens.keys button[data-at="4"]').click()
    lab.sentence.hover()
    assert lab.chosen("head") == ["0", "2", "3"]
    lab.page.evaluate("document.activeElement.blur()")
    assert_link_shows_the_same(lab, new_lab)


def test_a_link_to_a_sorted_grid(lab: Lab, new_lab: NewLab) -> None:
    lab.untrained(n_heads=8)
    lab.choose("sort by", "first")
    lab.choose("scale", "log")
    assert_link_shows_the_same(lab, new_lab)


def test_a_link_to_a_step_of_the_translators_output(lab: Lab, new_lab: NewLab) -> None:
    lab.open(text="the cat saw the dog", view="output")
    lab.stage.locator('.steps button[data-step="2"]').click()
    lab.page.evaluate("document.activeElement.blur()")
    assert_link_shows_the_same(lab, new_lab)


def test_a_link_to_a_forced_target_in_the_cross_stack(lab: Lab, new_lab: NewLab) -> None:
    lab.open(text="the cat saw the dog", target="le chien a vu le chat", beam=3, view="numbers")
    lab.choose("stack", "decoder.cross")
    lab.choose("layer", 0)
    lab.choose("head", 1)
    assert_link_shows_the_same(lab, new_lab)


def test_a_link_made_by_editing_everything_on_the_page(lab: Lab, new_lab: NewLab) -> None:
    lab.open()
    with lab.redrawn():
        lab.choose_model("untrained")
    with lab.redrawn():
        lab.type("ein Satz, über den man reden kann & mehr?")
    lab.page.get_by_role("slider", name="Seed").press("ArrowRight")
    expect(lab.page).to_have_url(re.compile(r"[?&]seed=1\b"))
    lab.choose("view", "numbers")
    lab.choose("head", 3)
    assert_link_shows_the_same(lab, new_lab)
    assert parse_qs(urlsplit(lab.page.url).query)["text"] == ["ein Satz, über den man reden kann & mehr?"]


def test_the_first_visits_link_is_bare(lab: Lab) -> None:
    lab.open()
    assert urlsplit(lab.page.url).query == ""


def test_copy_link_puts_the_address_on_the_clipboard(new_lab: NewLab) -> None:
    lab = new_lab(permissions=["clipboard-read", "clipboard-write"]).untrained(view="lines", head=3)
    lab.stage.get_by_role("button", name="copy link").click()
    expect(lab.stage.get_by_role("button", name="link copied")).to_be_visible()
    assert lab.page.evaluate("navigator.clipboard.readText()") == lab.page.url


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ({"n_heads": "seven"}, "The link's n_heads='seven' is not a whole number from 1 to 16"),
        ({"n_layers": "9999999999999999999999"}, "is not a whole number from 1 to 8"),
        ({"seed": "-1"}, "The link's seed='-1' is not a whole number from 0 to 999"),
        ({"view": "everything"}, "is not one of grid, head, lines, numbers, output"),
        ({"view": "head", "head": "3000"}, "The link's head=3000 is not below 4"),
        ({"view": "head", "layer": "99"}, "The link's layer=99 is not below 2"),
        ({"heads": "1.x.2"}, "is not head numbers separated by dots"),
        ({"view": "lines", "heads": "1.900"}, "The link's heads=1.900 is not below 4"),
        ({"view": "output", "step": "4000"}, "The link's step=4000 is not below 10"),
        ({"stack": "decoder.cross"}, "The link's stack=decoder.cross is not one of encoder.self"),
        ({"d_model": "<b>bold</b>"}, "The link's d_model='<b>bold</b>' is not one of 8, 16, 32"),
        ({"text": "x " * 11_000}, "at most 20,000 characters"),
    ],
)
def test_a_damaged_link_falls_back_and_says_so(lab: Lab, damage: dict[str, str], sentence: str) -> None:
    lab.untrained(**damage)
    expect(lab.problem).to_contain_text(sentence)
    expect(lab.stage.locator(".panel")).to_be_visible()
    if "text" not in damage:
        expect(lab.sentence).to_have_value(TEXT)
    expect(lab.choice("head").locator("button")).to_have_count(4)


def test_a_link_to_an_impossible_model_says_so_and_shows_a_possible_one(lab: Lab) -> None:
    lab.untrained(n_heads=7)
    expect(lab.problem).to_contain_text("d_model=64 is not divisible by n_heads=7")
    expect(lab.stage.locator(".panel")).to_be_visible()


def test_a_link_damaged_everywhere_shows_the_first_visit(lab: Lab) -> None:
    names = ["model", "direction", "beam", "view", "stack", "layer", "head", "heads", "show", "range", "sort"]
    lab.open(**dict.fromkeys([*names, "step", "query", "key", "pinned", "q0", "k0"], "\x00💥"))
    for name in names:
        expect(lab.problem).to_contain_text(f"The link's {name}=")
    assert lab.chosen("view") == ["lines"]
    expect(lab.stage.locator(".notice")).to_contain_text("“it” looks at “animal”")


def test_a_good_link_is_no_longer_blamed_when_the_text_gets_shorter(lab: Lab) -> None:
    lab.untrained(view="head", query=9, key=9)
    with lab.redrawn():
        lab.type("three short words")
    expect(lab.problem).to_have_count(0)
    lab.hover_cell(2, 2)
    lab.assert_reads(untrained("three short words"), "encoder.0.self", 0, 2, 2)


@pytest.mark.parametrize("path", ["/", "/design"])
def test_a_page_asks_for_its_server_once_where_it_is(page: Page, app_url: str, path: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.goto(path)
    expect(page.get_by_role("link", name="Softmax")).to_be_visible()
    searches = [url for url in asked if url.endswith(("/health", "/host-config", "/stream"))]
    own = f"{app_url}/_stcore"
    assert sorted(searches) == sorted(
        [f"{own}/health", f"{own}/host-config", f"{own}/stream".replace("http", "ws", 1)]
    )
