"""Explore without a mouse, and for those who see it in other colours or not at all."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.axe import SERIOUS, violations
from tests.browser.explore_page import ExplorePage, NewExplore, agrees, untrained
from tests.browser.lab_parts import use_scheme

SEED = {"seed": 5}
TREE = """
- textbox /Sentence/
- combobox "Examples of a text"
- group "view":
  - button "Grid" [pressed]
  - button "Head"
- group
- button "settings" [expanded]
- group "level":
  - button "Story"
  - button "Explore" [pressed]
- heading "What is shown" [level=2]
- paragraph: /Rows are queries/
- region "All heads":
  - button /Open layer 0 head 0/
- group "Settings":
  - grid /All heads/
  - region "What is shown":
    - group "sort by":
      - combobox "sort by"
  - region "Settings":
    - combobox "Model"
    - slider "Heads"
"""
AT_DOUBLE_SIZE = {"width": 683, "height": 384}
"""Of a page of 1366 x 768 that is seen twice as large."""
STICKING_OUT = """
(stage) => [...stage.querySelectorAll(".top *, .story *, .translation, .side-panel *")]
  .filter((part) => part.getBoundingClientRect().right > innerWidth + 1).map((part) => part.outerHTML)
"""
CELLS = "(rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText))"


def tab_to(explore: ExplorePage, selector: str, most: int = 80) -> None:
    """Press Tab until the focus is on the element of the stage."""
    focused = explore.stage.locator(f"{selector}:focus")
    for _ in range(most):
        explore.page.keyboard.press("Tab")
        if focused.count():
            return
    pytest.fail(f"Tab does not reach {selector}")


def test_everything_is_reached_and_worked_by_keyboard(explore: ExplorePage) -> None:
    explore.untrained(query=0, key=0, **SEED)
    expect(explore.page).to_have_title("Explore · Attention Lab")
    expect(explore.page.get_by_role("heading", level=1)).to_have_text(["Explore"])
    expect(explore.stage).to_match_aria_snapshot(TREE)
    tab_to(explore, '.overview [data-place="encoder.self 0 0"]')
    for way in ("off", ""):
        explore.page.keyboard.press("o")
        expect(explore.stage.locator('.overview [data-place="encoder.self 0 0"]')).to_have_class(way)
        expect(explore.stage.locator('.overview [data-place="encoder.self 0 0"]')).to_be_focused()
    explore.sentence.focus()
    tab_to(explore, '.views button[data-value="head"]')
    explore.page.keyboard.press("Enter")
    tab_to(explore, ".overview [data-place]")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
        explore.page.keyboard.press(key)
    explore.sentence.focus()
    tab_to(explore, ".head-board")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        explore.page.keyboard.press(key)
    trace = untrained(**SEED)
    explore.assert_reads(trace, "encoder.1.self", 2, 2, 1)
    explore.page.keyboard.press("v")
    pattern, typed = trace["encoder.1.self.pattern"][2].numpy(), trace.tokens["encoder"]
    tokens = [f"{token} ({at})" if typed.count(token) > 1 else token for at, token in enumerate(typed)]
    query, key = np.unravel_index(pattern.argmax(), pattern.shape)
    dialog = explore.stage.get_by_role("dialog", name="What is shown, as a table")
    sentence = dialog.locator("p").first
    expect(sentence).to_be_focused()
    said = re.fullmatch(r"Of (\d+) queries, “(.+)” looks most at “(.+)”: ([\d.]+)\.", sentence.inner_text())
    assert said and said.groups()[:3] == (str(len(tokens)), tokens[query], tokens[key])
    assert agrees(said[4], pattern.max())
    cells = dialog.get_by_role("table").get_by_role("row").evaluate_all(CELLS)[1:]
    assert len(cells) == len(tokens)
    assert all(map(agrees, np.ravel(cells), pattern.ravel()))
    dialog.get_by_role("combobox", name="query").select_option(label=tokens[2])
    top = np.argsort(-pattern[2], kind="stable")
    expect(sentence).to_contain_text(f"“{tokens[2]}” looks most at “{tokens[top[0]]}”")
    expect(dialog.get_by_role("rowheader")).to_have_text([tokens[at] for at in top])
    dialog.get_by_role("button", name="hear this row").click()
    explore.page.keyboard.press("Escape")
    expect(explore.stage.locator(".head-board")).to_be_focused()
    expect(dialog).to_be_hidden()


def test_a_token_is_kept_by_enter_and_read_on_focus(explore: ExplorePage) -> None:
    explore.untrained(view="lines", **SEED)
    views = explore.choice("view").locator("button")
    views.nth(0).focus()
    for pressed, at in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)]:  # they walk a group
        explore.page.keyboard.press(pressed)
        expect(views.nth(at)).to_be_focused()
    explore.choose("view", "lines")
    explore.sentence.focus()
    tab_to(explore, '.tokens.keys button[data-at="1"]')
    expect(explore.stage.locator(".readout")).to_contain_text("cat is looked at by")
    explore.page.keyboard.press("Enter")
    key = explore.stage.locator('.tokens.keys button[data-at="1"]')
    expect(key).to_be_focused()
    explore.page.keyboard.press("Tab")
    explore.page.evaluate("document.activeElement.blur()")
    expect(explore.stage.locator(".readout")).to_contain_text("cat is looked at by")
    expect(key).to_have_attribute("aria-pressed", "true")


def test_the_dialog_opens_and_closes_by_keyboard(explore: ExplorePage) -> None:
    explore.untrained(view="head", **SEED)
    take = explore.stage.locator(".more > summary")
    take.focus()
    explore.page.keyboard.press("Enter")
    tab_to(explore, ".more-list button:text-is('take away')")
    explore.page.keyboard.press("Enter")
    expect(explore.page.get_by_role("dialog")).to_be_visible()
    explore.page.keyboard.press("Escape")
    expect(explore.page.get_by_role("dialog")).to_have_count(0)
    expect(take).to_be_focused()
    for _ in range(2):  # a drawer opens, and closes
        explore.page.keyboard.press("g")
    expect(take).to_be_focused()
    letters = explore.page.get_by_role("checkbox", name="Single-letter shortcuts")
    explore.page.keyboard.press("v")
    letters.press("Space")  # switches them off
    for key in ("Escape", "g", "p", "v"):
        explore.page.keyboard.press(key)
    expect(take).to_be_focused()
    expect(explore.page.locator("html:is([data-drawer], [data-present])")).to_have_count(0)
    explore.page.reload()  # which the browser remembers
    explore.more("As a table").press("Enter")
    expect(letters).not_to_be_checked()
    letters.press("Space")
    explore.page.keyboard.press("Escape")
    explore.page.keyboard.press("v")
    expect(letters).to_be_checked()
    explore.page.keyboard.press("Escape")
    another = explore.side.get_by_role("button", name="another model…")
    another.press("Enter")
    expect(explore.page.get_by_role("dialog", name="Another model")).to_be_visible()
    explore.page.keyboard.press("Tab")
    explore.page.keyboard.press("Escape")
    expect(another).to_be_focused()
    edits = explore.stage.get_by_role("combobox", name="edit")
    edits.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):  # the first opens the list
        explore.page.keyboard.press(key)
    expect(explore.stage.locator(".edit-lines button")).to_have_text("encoder.0.self heads 0: mean ×")
    expect(explore.stage.locator(".effect-view")).to_be_focused()  # which has opened by itself


def assert_accessible(explore: ExplorePage) -> None:
    """axe finds no serious fault; in dark none of contrast, the only one that dark alone can have."""
    faults = violations(explore.page, impacts=SERIOUS)
    use_scheme(explore, "dark")
    faults += violations(explore.page, "color-contrast")
    use_scheme(explore, "light")
    assert not faults, "\n".join(faults)


def test_axe_finds_no_serious_fault_in_any_view_and_the_dialog(explore: ExplorePage) -> None:
    explore = explore.open(text="the animel did not cross the street because it was tired")
    for view in ("grid", "head", "numbers", "output", "lines"):
        explore.choose("view", view)
        assert_accessible(explore)
    explore.choose("stack", "decoder.cross")
    assert_accessible(explore)
    explore.choose("view", "head")
    explore.page.set_viewport_size(AT_DOUBLE_SIZE)
    explore.page.wait_for_timeout(100)
    assert not explore.page.evaluate("document.documentElement.scrollWidth - innerWidth > 0")
    assert not explore.stage.evaluate(STICKING_OUT)
    explore.page.set_viewport_size({"width": 1366, "height": 768})
    expect(explore.take_away().locator(".js-plotly-plot .main-svg").first).to_be_visible()
    assert_accessible(explore)


def test_axe_finds_no_serious_fault_in_the_untrained_models_controls(explore: ExplorePage) -> None:
    explore = explore.untrained(mask="edges", mask_arg="0-1")
    explore.control("Mask argument").fill("0-77")
    explore.control("Mask argument").press("Enter")
    expect(explore.problem).to_be_visible()
    assert_accessible(explore)


def test_dark_visitors_get_dark_figures(new_explore: NewExplore) -> None:
    light, dark = (
        new_explore(color_scheme=scheme).untrained(view="head", **SEED) for scheme in ("light", "dark")
    )
    backgrounds = [
        explore.page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
        for explore in (light, dark)
    ]
    assert backgrounds == ["rgb(255, 255, 255)", "rgb(14, 17, 23)"]
    assert (light.heat(10, 10) != dark.heat(10, 10)).any()
