"""Side by side: two texts, one cursor, another head by a press, a knob scrubbed in the browser, bad input."""

import re

from playwright.sync_api import Page, expect

from attention_lab.models import load_model
from attention_lab.models.contrast import Side, contrast, knobs
from attention_lab.pages.beside.state import OTHER_TEXT, TEXT
from tests.browser.axe import SERIOUS, violations
from tests.browser.board import MIDDLE_OF
from tests.browser.explore_page import ExplorePage

SECONDS = 90_000


def test_two_sides_stand_beside_each_other(page: Page) -> None:
    page.set_default_timeout(SECONDS)
    expect.set_options(timeout=SECONDS)
    page.goto("/beside?model2=nobody&layer=NaN")
    shown = page.locator(".board[data-generation]")
    shown.wait_for()
    problems = page.locator(".st-key-problems")
    expect(problems).to_contain_text("The link's layer='NaN' is not a whole number from 0 to 4,096")
    expect(problems).to_contain_text("The link's model2='nobody' is not the name of a model that reads")
    expect(shown.locator(".notice")).to_have_text(
        "“it” looks at “animal” (0.997) on side A, at “street” (0.998) on side B."
    )
    lm = load_model("translator")
    found = contrast(Side(lm, TEXT), Side(lm, OTHER_TEXT))
    figures = shown.locator(".plot")
    expect(figures).to_have_count(3)
    laid = found.laid("encoder.1.self", 3)
    figures.nth(1).hover(position=figures.nth(1).evaluate(MIDDLE_OF, [9, 7]))
    a, b = (float(side[9, 7]) for side in laid[:2])
    expect(shown.locator(".status")).to_have_text(
        f"query it, key street: A {a:.4f} · B {b:.4f} · B − A {b - a:.4f}"
    )
    expect(shown.locator(".cursor:visible")).to_have_count(3)
    expect(shown.locator(".matrix table").first).to_contain_text(f"{found.moved['encoder.self'][1, 3]:.2f}")
    shown.get_by_role("button", name="layer 0, 1:").click()
    expect(shown.locator("figcaption").first).to_have_text("A: first text, layer 0 head 1")
    expect(page).to_have_url(re.compile("layer=0&head=1"))
    assert violations(page, impacts=SERIOUS) + violations(page, "label-content-name-mismatch") == []
    place = shown.bounding_box()
    page.get_by_label("Text of side B").fill(" ")
    page.get_by_label("Text of side B").press("Enter")
    expect(problems).to_have_text("The second text is empty; type one.")
    assert shown.bounding_box() == place  # the sentence lies over it
    expect(shown.locator("figcaption").first).to_have_text("A: first text, layer 0 head 1")


def test_a_knob_is_scrubbed_in_the_browser(page: Page) -> None:
    page.set_default_timeout(SECONDS)
    expect.set_options(timeout=SECONDS)
    page.goto("/beside?differs=temperature&temperature=2&layer=0&head=1")
    shown = page.locator(".board[data-generation]")
    shown.wait_for()
    expect(shown.locator(".scrub output")).to_have_text("2")
    lm = load_model("translator")
    side = Side(lm, TEXT)
    for value in ("2", "4"):
        shown.get_by_role("button", name=f"Show {value} large", exact=True).click()
        expect(shown.locator(".scrub output")).to_have_text(value)
        moved = contrast(side, knobs()["temperature"].applied(side, value)).moved["encoder.self"]
        expect(shown.locator(".matrix td.marked")).to_have_text(f"{moved[0, 1]:.2f}")
    expect(page).to_have_url(re.compile("frame="))
    # A slow browser, which shows late what a press has set, does not take it back meanwhile.
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 8})
    page.get_by_role("button", name="float32 or int8").click()
    expect(shown.locator(".scrub output")).to_have_text("int8")
    page.goto("/beside?differs=temperature&temperature=nan")
    expect(page.locator(".st-key-problems")).to_contain_text("temperature='nan' is no number from ")


def test_explore_and_runs_lead_here(page: Page) -> None:
    page.set_default_timeout(SECONDS)
    expect.set_options(timeout=SECONDS)
    explore = ExplorePage(page).open(text="the cat sleeps in the house", layer=0, head=2, direction="en-fr")
    explore.more("side by side").click()
    shown = page.locator(".board[data-generation]")
    expect(shown.locator("figcaption").first).to_have_text("A: first text, layer 0 head 2")
    expect(page.get_by_label("Text of side A")).to_have_value("the cat sleeps in the house")
    page.goto("/runs?runs=zoo_induction.zoo_grokking")
    link = page.get_by_role("link", name="Compare their heads")
    expect(link).to_have_attribute(
        "href", re.compile("beside.*model=induction&differs=model&model2=grokking")
    )
