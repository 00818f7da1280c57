"""The masks page: what a person sees, paints and drags, and the numbers that PyTorch gives for it."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
import torch
from playwright.sync_api import Page, expect

from attention_lab.models.engine import masks
from tests.browser.axe import violations
from tests.browser.board import BoardPage
from tests.browser.explore_page import ExplorePage

TALK = torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.3, 0.6, 0.1], [0.1, 0.3, 0.3, 0.3]])


@pytest.fixture
def lab(page: Page) -> BoardPage:
    return BoardPage(page, "masks")


def test_a_painted_cell_changes_the_weights_the_choice_and_the_link(
    lab: BoardPage, new_page: Callable[..., Page]
) -> None:
    lab.open()
    assert violations(lab.page, "label-content-name-mismatch") == []
    with lab.redrawn():
        lab.cell("mask", 0, 3).click()
    allowed = torch.ones(4, 4, dtype=torch.bool).tril()
    allowed[0, 3] = True
    weights = TALK.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    torch.testing.assert_close(torch.tensor(lab.numbers("weights")), weights, rtol=0, atol=0.0051)
    assert "11 of 16 pairs are left" in lab.notice
    assert lab.link() == {"mask": "1001;1100;1110;1111"}
    expect(lab.page.get_by_role("combobox", name="Mask")).to_have_value("painted")
    again = BoardPage(new_page(), "masks").open(**lab.link())
    assert again.cells("weights") == lab.cells("weights")


def test_the_same_mask_on_explore(lab: BoardPage, new_page: Callable[..., Page]) -> None:
    lab.open(mask="fixed", argument="2.1", n=5)
    href = lab.page.get_by_role("link", name="This mask on Explore").get_attribute("href") or ""
    asked = parse_qs(urlsplit(href).query)
    assert (asked["mask"], asked["mask_arg"]) == (["fixed"], ["2.1"])
    explore = ExplorePage(new_page()).open_link(href)
    explore.choose("view", "head")
    explore.choose("show", "scores")
    for query, key in ((4, 1), (4, 2), (1, 2)):
        explore.hover_cell(query, key)
        seen = bool(masks.fixed(5, 2)[0, 0, query, key])
        assert ("masked" in explore.terms()["score"]) != seen


def test_edges_are_the_mask_and_neighbours_answer(lab: BoardPage) -> None:
    lab.open(part="graph", graph="0-1 0-2", changed=0)
    assert "3 of 6 outputs have moved" in lab.notice
    with lab.redrawn():
        lab.cell("mask", 5, 0).click()
    assert "4 of 6 outputs have moved" in lab.notice
    moved = [row[0] for row in lab.numbers("moved")]
    assert [number > 0 for number in moved] == [True, True, True, False, False, True]


def test_controls_that_parts_share_show_the_same_in_each(lab: BoardPage) -> None:
    lab.open(mask="strided", argument="2", n=6)
    for part in ("Graph", "After softmax", "Mask"):
        lab.choose_part(part)
    expect(lab.page.get_by_role("combobox", name="Mask")).to_have_value("strided")
    expect(lab.page.get_by_role("textbox", name="Mask argument")).to_have_value("2")
    expect(lab.page.get_by_role("slider", name="Words")).to_have_value("6")
