"""What Explore promises as a whole: room for the picture, few controls, a round trip for each turn of one."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.explore_page import ExplorePage, NewExplore

EDITS = "encoder.0.self heads 2: zero"
VIEWS = ["grid", "lines", "head", "numbers", "output", "map", "sums", "sweep", "effect"]
PARTS = (".top", ".panel", ".side-panel")
MOST_CONTROLS = 25
# Notes each question as it is asked and answered, and slows it, so that turning a slider overtakes it.
NOTE_QUESTIONS = """
const { fetch } = window;
const asked = (window.asked = { most: 0, now: 0, bodies: [], statuses: [] });
window.fetch = async (address, options) => {
  if (!String(address).includes("explore/answer")) return fetch(address, options);
  asked.bodies.push(JSON.parse(options.body));
  asked.most = Math.max(asked.most, ++asked.now);
  try {
    await new Promise((done) => setTimeout(done, 120));
    const response = await fetch(address, options);
    const { status, headers } = response;
    const bytes = await response.arrayBuffer();
    asked.statuses.push(status);
    return new Response(bytes, { status, headers });
  } finally {
    asked.now--;
  }
};
"""
# What waited for an answer is asked as soon as that has come.
QUIET = """async () => {
  for (let quiet = 0; quiet < 4; quiet = window.asked.now ? 0 : quiet + 1)
    await new Promise((done) => setTimeout(done, 40));
}"""
CONTROLS = """() => {
  const found = [];
  const left =
    "[data-testid=stHeader], [hreflang], .tokens, .story-column, figure td"; // navigation and pictures
  const look = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.shadowRoot) look(each.shadowRoot);
      if (!each.matches("button, select, input, textarea, summary, a[href]") || each.closest(left)) continue;
      const { top, bottom, width, height } = each.getBoundingClientRect();
      const isSeen = each.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (isSeen && width > 1 && height > 1 && bottom > 0 && top < innerHeight)
        found.push(`${each.localName} ${each.ariaLabel || each.textContent || each.title}`.slice(0, 60));
    }
  };
  look(document);
  return found;
}"""


def asked(explore: ExplorePage) -> dict[str, Any]:
    return explore.page.evaluate("window.asked")


def wait_until_answered(explore: ExplorePage) -> None:
    explore.page.evaluate(QUIET)


def drag(page: Page, slider: Locator, start: float, end: float, steps: int) -> None:
    """Move the handle of a range from one share of its length to another, and keep the button down."""
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    middle, width = box["y"] + box["height"] / 2, box["width"] - 16
    left = box["x"] + 8
    page.mouse.move(left + start * width, middle)
    page.mouse.down()
    for at in range(1, steps + 1):
        page.mouse.move(left + (start + (end - start) * at / steps) * width, middle)
        page.wait_for_timeout(30)


@pytest.mark.parametrize(
    ("locale", "width", "height", "share"),
    [("de-DE", 1366, 768, 0.62), ("fr-FR", 1366, 768, 0.62), ("en-GB", 1920, 1080, 0.70)],
)
def test_the_picture_begins_high_and_has_most_of_the_window(
    new_explore: NewExplore, locale: str, width: int, height: int, share: float
) -> None:
    explore = new_explore(locale=locale, viewport={"width": width, "height": height}, reduced_motion="reduce")
    explore.open(view="grid", edits=EDITS)
    small = {}
    for view in VIEWS:
        explore.stage.evaluate(
            "(stage, view) => stage.parentNode.parentNode.attentionLab.set({ view })", view
        )
        box = explore.stage.locator(".panel").bounding_box()
        assert box is not None
        if box["y"] > 200 or box["height"] < share * height:
            small[view] = (box["y"], box["height"] / height)
    assert small == {}


def test_the_first_screen_has_few_controls(explore: ExplorePage) -> None:
    explore.open()
    expect(explore.side).to_be_visible()
    found = explore.page.evaluate(CONTROLS)
    assert len(found) <= MOST_CONTROLS, "\n".join(found)


@pytest.fixture
def noted(explore: ExplorePage) -> ExplorePage:
    """Explore whose questions are noted and slowed."""
    explore.page.add_init_script(NOTE_QUESTIONS)
    return explore


def test_a_slider_asks_while_it_is_dragged_one_question_at_a_time(noted: ExplorePage) -> None:
    noted.untrained(view="head")
    seed = noted.side.get_by_role("slider", name="Seed")
    drag(noted.page, seed, 0.0, 0.6, 20)
    assert len(asked(noted)["bodies"]) >= 2, "nothing was asked while it was dragged"
    noted.page.mouse.up()
    wait_until_answered(noted)
    value = seed.input_value()
    expect(noted.page).to_have_url(re.compile(rf"[?&]seed={value}\b"))
    found = asked(noted)
    assert found["most"] == 1
    assert str(found["bodies"][-1]["turned"]["seed"]) == value
    assert len(found["bodies"]) < 20  # what was passed over is not computed
    shown = noted.stage.evaluate(
        "(stage) => stage.parentNode.parentNode.attentionLab.passes.after.header.asked.settings.seed"
    )
    assert str(shown) == value


def test_sizes_are_dragged_through_all_their_stops_without_a_refusal(noted: ExplorePage) -> None:
    noted.untrained(view="head")
    for name in ("Heads", "d_model", "d_head"):
        slider = noted.side.get_by_role("slider", name=name, exact=True)
        for start, end in ((0.2, 1.0), (1.0, 0.0)):
            drag(noted.page, slider, start, end, 25)
            expect(noted.stage.locator(".notes .refused")).to_be_hidden()
            noted.page.mouse.up()
            wait_until_answered(noted)
    for key in ("Home", *["ArrowRight"] * 15):
        noted.side.get_by_role("slider", name="Heads", exact=True).press(key)
    wait_until_answered(noted)
    assert set(asked(noted)["statuses"]) == {200}
    assert asked(noted)["most"] == 1
    expect(noted.problem).to_be_hidden()


def test_keys_that_turn_a_control_faster_than_it_is_answered_are_not_lost(noted: ExplorePage) -> None:
    noted.untrained(view="head")
    seed, mask = noted.side.get_by_role("slider", name="Seed"), noted.side.get_by_label("Mask", exact=True)
    for _ in range(8):
        seed.press("ArrowRight")
        noted.page.wait_for_timeout(90)
    mask.press("ArrowDown")
    for _ in range(2):
        noted.page.wait_for_timeout(90)
        mask.press("ArrowDown")
    wait_until_answered(noted)
    expect(noted.page).to_have_url(re.compile(r"[?&]seed=8\b"))
    assert mask.evaluate("(list) => list.selectedIndex") == 3
    assert asked(noted)["most"] == 1


def places(explore: ExplorePage) -> list[Any]:
    return [explore.stage.locator(part).bounding_box() for part in PARTS]


def test_nothing_moves_when_a_refusal_or_a_note_comes_and_goes(explore: ExplorePage) -> None:
    explore.open(view="head")
    before = places(explore)
    refusal = explore.stage.locator(".notes .refused")
    explore.type("the cat " * 100)
    expect(refusal).to_be_visible()
    assert places(explore) == before
    with explore.redrawn():
        explore.type("the cat saw the dog")
    expect(refusal).to_be_hidden()
    assert places(explore) == before
    with explore.redrawn():
        explore.type("the animel saw the dog")
    with explore.redrawn():
        explore.page.get_by_role("button", name="back to “translator”").click()
    expect(explore.stage.locator(".notes .unknown")).to_be_visible()
    assert places(explore) == before
    with explore.redrawn():
        explore.page.get_by_role("button", name="animal", exact=True).click()
    expect(explore.problem).to_be_hidden()
    assert places(explore) == before
