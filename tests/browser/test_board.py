"""What holds for the panels of every board: cells, light, pictures, play."""

import math
import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.board import BoardPage
from tests.browser.explore_page import agrees

HEAR = """
(parts) => {
  window.heard = [];
  const note = (part) => part.ariaLive !== "off" && heard.push(part.className || part.localName);
  for (const part of parts)
    new MutationObserver(() => note(part)).observe(part, { childList: true, subtree: true });
}
"""
TREE = """
- heading "What is shown" [level=2]
- paragraph: /pairs are left/
- figure "mask":
  - table "mask":
    - rowgroup:
      - row:
        - columnheader "I"
    - rowgroup:
      - row:
        - 'cell "<start>, <start>: 0"':
          - 'button "<start>, <start>: 0" [pressed]'
- figure "weights":
  - table "weights"
- group: More
"""


@pytest.fixture
def mask(page: Page) -> BoardPage:
    """The talks' example: scores, a causal mask, masked scores, weights."""
    return BoardPage(page, "masks").open(part="mask")


@pytest.fixture
def worked(page: Page) -> BoardPage:
    """The worked example: cells that can be written into, and a slider."""
    return BoardPage(page, "attention").open(part="worked")


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def lit(lab: BoardPage, title: str) -> np.ndarray:
    """bool [row, column]: the cells that are lit up."""
    rows = lab.panel(title).locator("tbody tr").all()
    read = "(cells) => cells.map((cell) => cell.classList.contains('lit'))"
    return np.array([row.locator("[data-cell]").evaluate_all(read) for row in rows])


def middle(cell: Locator) -> tuple[float, float]:
    box = cell.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_matrix_is_pointed_at_and_walked_over(mask: BoardPage) -> None:
    arrow_keys_go_from_cell_to_cell_and_tab_leaves_them(mask)
    pointing_lights_up_the_axes_that_panels_share(mask)
    the_status_line_tells_the_number_pointed_at(mask)
    masked_cells_are_hatched_and_have_no_colour(mask)


def pointing_lights_up_the_axes_that_panels_share(mask: BoardPage) -> None:
    mask.cell("scores", 2, 1).hover()
    row, column = np.indices((4, 4))
    for title in ("scores", "mask", "masked scores", "weights"):
        assert (lit(mask, title) == ((row == 2) | (column == 1))).all(), title
    mask.board.locator(".notice").hover()
    assert not lit(mask, "weights").any()


def the_status_line_tells_the_number_pointed_at(mask: BoardPage) -> None:
    mask.cell("weights", 3, 0).hover()
    told = re.fullmatch(r"weights: query (.+), key (.+) = (.+)", status(mask))
    assert told, status(mask)
    words = mask.panel("scores").locator("tbody th").all_inner_texts()
    expected = softmax(np.array(mask.numbers("scores")[3]))[0]
    assert told.groups() == (words[3], words[0], f"{expected:.4f}")
    mask.cell("mask", 3, 0).hover()  # whose rows have their names beside another matrix
    assert status(mask) == f"mask: query {words[3]}, key {words[0]} = 0"  # as the cell says


def status(lab: BoardPage) -> str:
    return lab.board.locator(".status").inner_text()


def masked_cells_are_hatched_and_have_no_colour(mask: BoardPage) -> None:
    for row in range(4):
        for column in range(4):
            own = mask.cell("mask", row, column)  # its 0 and −∞ have no colour of numbers
            assert own.evaluate("(cell) => cell.style.backgroundColor") == ""
            cell = mask.cell("masked scores", row, column)
            hidden = column > row
            assert (cell.inner_text() == "−∞") == hidden
            assert (cell.evaluate("(cell) => cell.style.backgroundColor") == "") == hidden
            assert ("gradient" in cell.evaluate("(cell) => getComputedStyle(cell).backgroundImage")) == hidden


def test_one_drag_paints_every_cell_that_it_crosses(mask: BoardPage) -> None:
    mouse = mask.page.mouse
    with mask.quiet():
        mouse.move(*middle(mask.cell("mask", 0, 1)))
        mouse.down()
        for column in (2, 3, 2):
            mouse.move(*middle(mask.cell("mask", 0, column)), steps=4)
        assert mask.cells("mask")[0] == ["1", "1", "1", "1"]
    with mask.redrawn():
        mouse.up()
    assert mask.cells("mask") == [list(row) for row in ("1111", "1100", "1110", "1111")]
    expected = softmax(np.array(mask.numbers("scores")[0]))
    assert all(agrees(cell, weight) for cell, weight in zip(mask.cells("weights")[0], expected, strict=True))
    assert mask.link()["mask"] == "1111;1100;1110;1111"


def test_a_key_turns_a_cell(mask: BoardPage) -> None:
    button = mask.cell("mask", 1, 0).locator("button")
    button.focus()
    for key, shown in (("Enter", "0"), ("Space", "1")):
        with mask.redrawn():
            mask.page.keyboard.press(key)
        assert mask.cells("mask")[1] == [shown, "1", "0", "0"]
        expect(button).to_be_focused()


def test_a_bad_number_stays_and_is_told(worked: BoardPage) -> None:
    before = worked.notice
    worked.edit("dot products", 0, 0, "1o2")
    expect(worked.problem).to_contain_text("'1o2' is not a number")
    assert worked.cells("dot products") == [["1o2", "96"]]
    assert worked.notice == before
    with worked.redrawn():
        worked.edit("dot products", 0, 0, "96")
    expect(worked.problem).to_have_count(0)
    assert "0.50 and 0.50" in worked.notice


def test_play_and_steps_walk_over_the_frames_without_the_server(worked: BoardPage) -> None:
    steps_go_one_frame_on_and_back_and_stop_at_the_ends(worked)
    last = int(worked.slider.get_attribute("max") or 0)
    worked.scrub(last - 3)
    with worked.quiet():
        worked.board.locator(".notice, .scrub output").evaluate_all(HEAR)
        worked.board.get_by_role("button", name="Play").click()
        expect(worked.board).to_have_attribute("data-frame", str(last))
        expect(worked.board.get_by_role("button", name="Play")).to_be_visible()
        assert worked.page.evaluate("heard") == ["notice"]  # once, in the end
        worked.board.get_by_role("button", name="Play").click()
        expect(worked.board.get_by_role("button", name="Pause")).to_be_visible()
        worked.board.get_by_role("button", name="Pause").click()
        stopped = worked.board.get_attribute("data-frame")
        worked.page.wait_for_timeout(300)
    assert worked.board.get_attribute("data-frame") == stopped != str(last)


def steps_go_one_frame_on_and_back_and_stop_at_the_ends(worked: BoardPage) -> None:
    back, on = (worked.board.get_by_role("button", name=name) for name in ("Step back", "Step forward"))
    worked.scrub(1)
    with worked.quiet():
        for button, frame in ((on, 2), (back, 1), (back, 0), (back, 0)):
            button.click()
            expect(worked.board).to_have_attribute("data-frame", str(frame))


def test_a_picture_tells_the_number_pointed_at(page: Page) -> None:
    """Channel 1 of the paper's table is cos(position)."""
    lab = BoardPage(page, "positions").open(part="waves")
    lab.hover_cell("PE: one vector for each position", 3, 1)
    assert status(lab).endswith(f"position 3, channel 1 = −{-math.cos(3):.4f}")


def arrow_keys_go_from_cell_to_cell_and_tab_leaves_them(mask: BoardPage) -> None:
    expect(mask.board).to_match_aria_snapshot(TREE)
    mask.cell("mask", 1, 0).locator("button").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp"):
        mask.page.keyboard.press(key)
    expect(mask.cell("mask", 1, 2).locator("button")).to_be_focused()
    mask.page.keyboard.press("Tab")
    expect(mask.panel("mask").locator(":focus")).to_have_count(0)


def test_plotly_comes_once(page: Page) -> None:
    BoardPage(page, "softmax").open()
    fetched = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    assert sum("/plotly/" in name for name in fetched) == 1
