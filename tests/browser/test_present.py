"""A board, or Explore's stage, alone on the screen, worked by keys as a clicker sends them."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import SERIOUS, violations
from tests.browser.board import BoardPage
from tests.browser.explore_page import ExplorePage

SCREEN = {"width": 1366, "height": 768}


@pytest.fixture
def alone(page: Page) -> BoardPage:
    """A page opened by a link that asks to present."""
    page.set_viewport_size(SCREEN)
    page.goto("/masks?part=late&present=1")
    lab = BoardPage(page, "masks")
    lab.board.wait_for()
    lab.settle()
    return lab


def fills_the_window(page: Page, part: str) -> None:
    box = page.locator(part).bounding_box()
    assert box is not None
    assert (box["x"], box["y"]) == (0, 0)
    assert (round(box["width"]), round(box["height"])) == (SCREEN["width"], SCREEN["height"])


def test_a_clicker_goes_through_frames_then_parts_then_pages(alone: BoardPage) -> None:
    page = alone.page
    fills_the_window(page, ".board")
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    first = alone.board.get_attribute("data-frame")
    page.keyboard.press("PageDown")
    expect(alone.board).not_to_have_attribute("data-frame", str(first))
    alone.scrub(int(alone.slider.get_attribute("max") or 0))
    page.keyboard.press("PageDown")
    expect(page).to_have_url(re.compile("part=padding&present=1"))
    fills_the_window(page, ".board")
    page.keyboard.press("PageDown")  # a part without frames
    expect(page).to_have_url(re.compile("part=graph"))
    page.keyboard.press("PageDown")
    expect(page).to_have_url(re.compile("/positions"))
    expect(page.locator(".board .scrub output")).to_have_text("10,000")
    fills_the_window(page, ".board")
    page.keyboard.press("PageUp")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stHeader")).to_be_visible()
    expect(page).not_to_have_url(re.compile("present"))


def test_keys_cover_blank_and_open(alone: BoardPage) -> None:
    page = alone.page
    assert violations(page, impacts=SERIOUS) == []
    veil, keys = page.locator(".veil"), page.locator(".help")
    for key, layer in (("b", veil), (".", veil), ("?", keys)):
        page.keyboard.press(key)
        expect(layer).to_be_visible()
        page.keyboard.press(key)
        expect(layer).to_be_hidden()
    listed = keys.locator("th").all_text_contents()
    assert listed[2:6] == ["n  N", "Space", "a", "f  s  q  g  i  w"]
    for key, name in (("f", "formula"), ("s", "code"), ("q", "questions")):
        page.keyboard.press(key)
        expect(page.locator(f".st-key-lab_drawer_{name}")).to_be_visible()
        page.keyboard.press(key)
        expect(page.locator(f".st-key-lab_drawer_{name}")).to_be_hidden()
    page.keyboard.press("i")
    expect(page.locator(".st-key-lab_side").get_by_role("button", name="Reset")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-lab_side")).to_be_hidden()
    page.keyboard.press(" ")
    expect(alone.board.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    place = page.locator(".whereabouts")
    page.keyboard.press("w")  # nothing is written here
    expect(place).to_have_text("This page has no sentence of yours.")
    expect(place).to_have_css("opacity", "1")
    buttons = alone.board.locator(".actions").first
    expect(buttons).to_have_css("opacity", "0")
    page.mouse.move(300, 300)
    page.mouse.move(320, 300)
    expect(buttons).to_have_css("opacity", "1")
    page.emulate_media(color_scheme="dark")
    expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", "dark")
    expect(page.locator(".presented")).to_have_css("background-color", "rgb(255, 255, 255)")
    page.keyboard.press("t")
    expect(page.locator(".presented")).to_have_css("background-color", "rgb(14, 17, 23)")


def test_a_headline_that_tells_an_answer_waits(page: Page) -> None:
    page.set_viewport_size(SCREEN)
    lab = BoardPage(page, "positions").open(part="waves")
    notice, cover = lab.board.locator(".notice"), lab.board.locator(".cover")
    page.keyboard.press("p")
    expect(notice).to_be_hidden()
    expect(cover).to_contain_text("Which dot product is larger")
    telling = lab.board.locator(".panel", has_text="dot product of two positions").locator(".plot")
    expect(telling).to_have_css("opacity", "0")
    page.keyboard.press("a")
    expect(notice).to_be_visible()
    expect(telling).to_have_css("opacity", "1")
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("part=shift"))
    expect(cover).to_contain_text("How many matrices")
    page.keyboard.press("q")
    drawer = page.locator(".st-key-lab_drawer_questions")
    asked, rows = drawer.bounding_box(), lab.board.locator(".rows").bounding_box()
    assert asked and rows and asked["y"] + asked["height"] <= rows["y"]
    page.locator(".st-key-lab_question_1").get_by_text("shifted by 7").click()
    expect(page).to_have_url(re.compile("shift=7"))  # the board shows the answer
    expect(cover).to_be_visible()  # another question was answered
    page.keyboard.press("Escape")
    cover.get_by_role("button", name="one for every shift", exact=True).click()
    expect(notice).to_be_visible()


def test_a_clicker_goes_through_the_steps_of_attention(page: Page) -> None:
    page.set_viewport_size(SCREEN)
    page.goto("/attention?present=1")
    lab = BoardPage(page, "attention")
    lab.board.wait_for()
    for step in ("v0", "v1", "v2", "v3", "v4", "v5", "v6"):
        page.keyboard.press("PageDown")
        expect(page).to_have_url(re.compile(f"step={step}"))
    place = "Attention, step by step · Steps · part 1 of 4 · step 8 of 8"
    expect(page.locator(".whereabouts")).to_have_text(place)
    lab.settle()
    page.keyboard.press("w")
    page.keyboard.type("bat")  # letters that are keys elsewhere
    expect(page.locator(".st-key-lab_side input[type=text]").first).to_have_value("bat")
    page.keyboard.press("Escape")
    page.keyboard.press("PageDown")
    expect(page).to_have_url(re.compile("part=worked"))
    lab.scrub(0)
    page.keyboard.press("PageUp")
    expect(page).to_have_url(re.compile("step=v6"))
    page.keyboard.press("n")
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("part=order"))
    lab.settle()
    page.keyboard.press("w")
    page.keyboard.type("cats chase mice")
    page.keyboard.press("Enter")
    expect(page.locator(".board")).to_contain_text("chase")
    fills_the_window(page, ".board")


def test_presses_that_come_faster_than_the_server_answers_all_count(page: Page) -> None:
    """From one part or page into the next, too, where the last of them waits for the other's board."""
    page.goto("/attention?present=1&step=v3")
    lab = BoardPage(page, "attention")
    lab.board.wait_for()
    lab.settle()
    for _ in range(3):
        page.keyboard.press("PageDown")
    expect(page).to_have_url(re.compile("step=v6"))
    lab.settle()
    for key in ("PageUp", "PageUp", "PageDown", "PageDown", "PageDown"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile("part=worked"))
    lab.scrub(0)
    page.keyboard.press("PageUp")
    page.keyboard.press("PageUp")
    expect(page).to_have_url(re.compile("step=v5"))
    page.goto("/masks?part=graph&present=1")
    lab.board.wait_for()
    lab.settle()
    for _ in range(3):
        page.keyboard.press("n")  # from page to page: nothing hears keys between the two
    expect(page).to_have_url(re.compile("/positions[?]part=learned"))


def test_the_screen_stays_filled_from_page_to_page(page: Page) -> None:
    """From the start to the lab, and from its last part to the end of the chain."""
    page.set_viewport_size(SCREEN)

    def is_presented(name: str, figure: str) -> None:
        expect(page).to_have_url(re.compile(f"/{name}([?]|$)"))
        expect(page.locator(f"html[data-present] .presented > {figure}")).to_be_visible()
        expect(page.get_by_test_id("stHeader")).to_be_hidden()

    page.goto("/start?present=1")
    for name, figure in (("start", ".start"), ("", ".stage"), ("attention", ".board")):
        is_presented(name, figure)
        page.keyboard.press("n")
    page.goto("/design?part=memory&present=1")
    for name in ("design", "beside", "findings"):
        is_presented(name, ".board")
        page.keyboard.press("n")
    expect(page).to_have_url(re.compile("/runs"))


def test_back_goes_back_part_by_part(page: Page) -> None:
    lab = BoardPage(page, "masks").open()
    lab.choose_part("Reach")
    expect(page).to_have_url(re.compile("part=reach"))
    lab.choose_part("Cost")
    expect(page).to_have_url(re.compile("part=cost"))
    page.go_back()
    expect(lab.panel("layers needed (∞: never)")).to_be_visible()
    page.go_back()
    expect(lab.panel("layers needed (∞: never)")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("part="))
    expect(lab.part_chooser.first).to_be_checked()


def test_explore_is_presented_too(explore: ExplorePage) -> None:
    page = explore.page
    page.set_viewport_size(SCREEN)
    explore.open()
    page.keyboard.press("p")
    fills_the_window(page, ".stage")
    assert violations(page, impacts=SERIOUS) == []
    listed = page.locator(".help th").all_text_contents()
    assert listed == [
        *("→  Page Down", "←  Page Up", "n  N", "Space", "g  i  w"),
        *("v", "b  .", "t", "?", "Tab", "Esc"),
    ]
    head = explore.chosen("head")
    page.keyboard.press("PageUp")
    assert explore.chosen("head") != head
    expect(page).to_have_url(re.compile("present=1"))
    expect(explore.side).to_be_hidden()
    page.keyboard.press("i")
    expect(explore.side).to_be_in_viewport(ratio=0.99)
    expect(explore.control("Model")).to_be_visible()
    fills_the_window(page, ".stage")
    with explore.redrawn():
        explore.choose_model("untrained")
    expect(explore.side).to_be_visible()
    page.keyboard.press("Escape")
    expect(explore.side).to_be_hidden()
    expect(explore.sentence).to_be_hidden()
    page.keyboard.press("w")
    page.keyboard.type("the dog was tired")
    page.keyboard.press("Escape")
    page.keyboard.press("w")
    expect(explore.sentence).not_to_have_value("the dog was tired")
    page.keyboard.type("the street was too wide")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("text=the.street.was.too.wide"))
    expect(page.locator("html[data-drawer]")).to_have_count(0)
    fills_the_window(page, ".stage")
    page.keyboard.press("p")
    expect(page.get_by_test_id("stHeader")).to_be_visible()
