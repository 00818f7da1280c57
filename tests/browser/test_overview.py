"""The picture of the whole model: it says where one is and what is edited, leads to heads, switches them."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from attention_lab.models import load_model
from tests.browser.axe import violations
from tests.browser.explore_page import ExplorePage, agrees, read_number
from tests.browser.lab_parts import use_scheme

OFF = "encoder.0.self heads 2: zero"
TEXT = "the animal did not cross the street because it was too tired"


def cell(explore: ExplorePage, stack: str, layer: int, head: int) -> Locator:
    """The cell of a head of the translator, which has three stacks."""
    name = re.compile(rf"^{stack}, layer {layer} head {head}\b")
    return explore.stage.get_by_role("gridcell", name=name)


def shown(explore: ExplorePage) -> list[str]:
    """The cells that are outlined."""
    cells = explore.stage.locator(".overview [aria-current=true]")
    return cells.evaluate_all("(cells) => cells.map((cell) => cell.ariaLabel.split(':')[0])")


def view_of(explore: ExplorePage) -> dict[str, Any]:
    return explore.stage.evaluate("(stage) => stage.parentNode.parentNode.attentionLab.view")


def test_a_press_shows_a_head_of_any_stack_and_another_opens_it(explore: ExplorePage) -> None:
    explore.open(view="grid")
    heads = explore.stage.get_by_role("grid", name="All heads").get_by_role("gridcell")
    expect(heads).to_have_count(3 * 2 * 4)
    with explore.quiet():
        cell(explore, "Cross", 1, 3).click()
    assert shown(explore) == ["Cross, layer 1 head 3"]
    assert (explore.chosen("view"), explore.chosen("stack")) == (["grid"], ["decoder.cross"])
    explore.page.mouse.move(5, 5)
    expect(explore.stage.locator(".overview-tip")).to_contain_text("Cross, layer 1 head 3")
    cell(explore, "Cross", 1, 3).click()
    assert explore.chosen("view") == ["head"]
    assert (explore.chosen("layer"), explore.chosen("head")) == (["1"], ["3"])
    cell(explore, "Encoder self", 0, 1).click()
    assert (explore.chosen("view"), explore.chosen("stack")) == (["head"], ["encoder.self"])
    trace = load_model("translator").trace(TEXT)
    query, key = (view_of(explore)[side] for side in ("query", "key"))
    weight = trace["encoder.0.self.pattern"][1, query, key].item()
    assert agrees(explore.terms()["weight"], weight) and read_number(explore.terms()["weight"]) > 0


def test_the_pointer_says_what_a_head_does_and_nothing_moves(explore: ExplorePage) -> None:
    explore.open(view="head", layer=1, head=3)
    tip, panel = explore.stage.locator(".overview-tip"), explore.stage.locator(".panel")
    expect(tip).to_have_text("Encoder self, layer 1 head 3")
    before = panel.bounding_box()
    with explore.quiet():
        cell(explore, "Decoder self", 0, 2).hover()
    label = explore.stage.evaluate(
        "(stage) => stage.parentNode.parentNode.attentionLab.data.stack('decoder.self').labels[2]"
    )
    expect(tip).to_contain_text(f"Decoder self, layer 0 head 2{': ' + label if label else ''}")
    expect(tip).to_contain_text("press: show · o or Alt+press: switch off")
    assert panel.bounding_box() == before
    a_head_is_switched_off_with_alt_and_on_again_by_a_key(explore)


def a_head_is_switched_off_with_alt_and_on_again_by_a_key(explore: ExplorePage) -> None:
    other = cell(explore, "Encoder self", 0, 2)
    with explore.redrawn():
        other.click(modifiers=["Alt"])
    expect(explore.stage.locator(".edit-lines button")).to_have_text(f"{OFF} ×")
    expect(other).to_have_accessible_name(re.compile(r"^Encoder self, layer 0 head 2: (.*, )?switched off$"))
    expect(other).to_have_class("off")
    assert shown(explore) == ["Encoder self, layer 1 head 3"]  # it is switched off without being shown
    expect(explore.stage.locator(".overview-tip")).to_contain_text("Alt+press: switch on")
    other.focus()
    with explore.redrawn():
        explore.page.keyboard.press("o")
    expect(explore.stage.locator(".edit-lines button")).to_have_count(0)
    expect(other).not_to_have_class("off")
    with explore.redrawn():
        explore.page.keyboard.press("Delete")
    expect(other).to_have_class("off")
    expect(other).to_be_focused()


def test_what_another_edit_names_carries_a_dot(explore: ExplorePage) -> None:
    explore.open(view="head", edits="encoder.1.self heads 1-2: mean\ndecoder.0: off\n" + OFF)
    marked = explore.stage.locator(".overview .edited")
    names = [f"Encoder self, layer 1 head {head}" for head in (1, 2)]
    names += [f"{stack}, layer 0 head {head}" for stack in ("Decoder self", "Cross") for head in range(4)]
    found = marked.evaluate_all("(cells) => cells.map((cell) => cell.ariaLabel)")
    assert [name.split(":")[0] for name in found] == names
    assert all(name.endswith("edited") for name in found)
    expect(explore.stage.locator(".overview .off")).to_have_count(1)


def test_it_is_one_stop_of_tab_and_arrows_walk_over_all_stacks(explore: ExplorePage) -> None:
    explore.open(view="head", layer=0, head=3)
    press = explore.page.keyboard.press
    stops = explore.stage.locator(".overview [tabindex='0']")
    expect(stops).to_have_count(1)
    stops.focus()
    with explore.quiet():
        for key, place in {
            "ArrowDown": ("Encoder self", 1, 3),
            "ArrowRight": ("Decoder self", 1, 0),
            "ArrowUp": ("Decoder self", 0, 0),
            "ArrowLeft": ("Encoder self", 0, 3),
        }.items():
            press(key)
            expect(cell(explore, *place)).to_be_focused()
        press("ArrowUp")  # there is none above
        expect(cell(explore, "Encoder self", 0, 3)).to_be_focused()
        press("ArrowLeft")
        press("Enter")
    expect(stops).to_have_count(1)
    assert shown(explore) == ["Encoder self, layer 0 head 2"]
    press("Tab")
    expect(explore.stage.locator(".overview :focus")).to_have_count(0)
    press("Shift+Tab")
    expect(cell(explore, "Encoder self", 0, 2)).to_be_focused()


def test_arrows_walk_over_it_where_they_would_lead_on_in_a_presentation(explore: ExplorePage) -> None:
    explore.open(view="head", layer=0, head=1)
    explore.page.keyboard.press("p")
    explore.page.keyboard.press("i")  # which shows the panel beside the picture
    cell(explore, "Encoder self", 0, 1).focus()
    explore.page.keyboard.press("ArrowRight")
    expect(cell(explore, "Encoder self", 0, 2)).to_be_focused()
    assert shown(explore) == ["Encoder self, layer 0 head 1"]
    explore.page.keyboard.press("Enter")
    assert shown(explore) == ["Encoder self, layer 0 head 2"]


def test_a_press_with_shift_adds_a_head_to_the_lines(explore: ExplorePage) -> None:
    explore.open(view="lines", layer=1, head=0)
    cell(explore, "Encoder self", 1, 2).click(modifiers=["Shift"])
    assert explore.chosen("head") == ["0", "2"]
    chosen = explore.stage.locator(".overview [aria-selected=true]")
    expect(chosen).to_have_count(2)
    theme = "(stage) => stage.parentNode.parentNode.attentionLab.theme.heads"
    colours = explore.stage.evaluate(theme)
    for at, head in enumerate((0, 2)):
        red, green, blue = (int(colours[head][place : place + 2], 16) for place in (1, 3, 5))
        expect(chosen.nth(at)).to_have_css("background-color", f"rgb({red}, {green}, {blue})")
    cell(explore, "Encoder self", 0, 1).click(modifiers=["Shift"])
    assert (explore.chosen("layer"), explore.chosen("head")) == (["0"], ["1"])


def test_its_shades_are_those_of_the_measure_that_is_chosen(explore: ExplorePage) -> None:
    explore.untrained(view="grid", sort="previous", order="layer", n_layers=2, n_heads=4, seed=5)
    heads = explore.stage.locator(".overview [role=gridcell]")
    written = explore.written(".grid-board canvas")[1::2]
    names = heads.evaluate_all("(cells) => cells.map((cell) => cell.ariaLabel)")
    values = [name.split()[-1] for name in names]
    assert values == [caption.split()[-1] for caption in written]
    assert names[0].startswith("layer 0 head 0: previous token ")
    shade = (
        "(cells) => cells.map((cell) => getComputedStyle(cell).backgroundColor.match(/\\d+/g).map(Number))"
    )
    brightness = [sum(rgb) for rgb in heads.evaluate_all(shade)]
    by_value = sorted(range(8), key=lambda at: -read_number(values[at]))
    assert [brightness[at] for at in by_value] == sorted(brightness)  # the largest is the darkest


def test_it_is_small_and_larger_models_get_smaller_cells(explore: ExplorePage) -> None:
    board = explore.stage.locator(".overview-board")
    for n_layers, n_heads, least in ((6, 8, 16), (6, 16, 12)):
        explore.untrained(view="head", n_layers=n_layers, n_heads=n_heads, d_model=64, layer=n_layers - 1)
        heads = board.get_by_role("gridcell")
        expect(heads).to_have_count(n_layers * n_heads)
        box, one = board.bounding_box(), heads.last.bounding_box()
        assert box is not None and box["width"] <= 220 and box["height"] <= 120
        assert one is not None and min(one["width"], one["height"]) >= least


def test_it_is_read_by_all(explore: ExplorePage) -> None:
    explore.open(view="grid", edits=OFF)
    for scheme in ("light", "dark"):
        use_scheme(explore, scheme)
        cell(explore, "Encoder self", 0, 2).hover()
        assert violations(explore.page, within=".overview") == []


def test_a_finger_shows_a_head_and_a_long_press_switches_it_off(new_page: Callable[..., Page]) -> None:
    phone = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    explore = ExplorePage(phone)
    phone.goto("/?view=head&layer=1&head=3")
    explore.stage.wait_for()
    other = cell(explore, "Encoder self", 0, 2)
    other.scroll_into_view_if_needed()
    box = other.bounding_box()
    assert box is not None and box["width"] >= 12 and box["height"] >= 20
    other.tap()
    assert shown(explore) == ["Encoder self, layer 0 head 2"]
    expect(explore.stage.locator(".overview-tip")).to_contain_text("hold: switch off")
    box = other.bounding_box()
    assert box is not None
    finger = phone.context.new_cdp_session(phone)
    point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    with explore.redrawn():
        finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        phone.wait_for_timeout(700)
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(other).to_have_class("off")
    assert explore.chosen("view") == ["effect"]  # what it did opens by itself
