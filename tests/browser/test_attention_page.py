"""Attention, step by step: what a person sees and does, and the numbers that PyTorch gives for it."""

import re
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Page, expect

from attention_lab.pages.lab.attention.inputs import STEP_NAMES
from tests.browser.board import BoardPage

X = torch.tensor([[1.5, 0, 0, 0.5], [0, 1.5, 0, 0], [0.5, 0.5, 1.5, 0], [0.5, 0, 0, 1.5]])
PATTERN = "pattern: softmax"


@pytest.fixture
def lab(page: Page) -> BoardPage:
    return BoardPage(page, "attention")


def close(shown: list[list[float]], computed: torch.Tensor, digits: int = 2) -> None:
    """The cells show these numbers, to their digits."""
    torch.testing.assert_close(torch.tensor(shown), computed.float(), rtol=0, atol=0.51 * 10**-digits)


def test_the_first_view_is_attention_without_parameters_and_its_cells_are_torchs(lab: BoardPage):
    lab.open()
    assert "4 of 4 words look most at themselves" in lab.notice
    close(lab.numbers("scores: X Xᵀ"), X @ X.T)
    pattern = (X @ X.T).softmax(dim=-1)
    close(lab.numbers(PATTERN), pattern)
    close(lab.numbers("Z: pattern X"), pattern @ X)


def test_an_edited_embedding_changes_the_numbers_as_torch_does_and_is_in_the_link(
    lab: BoardPage, new_page: Callable[..., Page]
):
    lab.open()
    with lab.redrawn():
        lab.edit("X", 1, 0, "1")
    changed = X.clone()
    changed[1, 0] = 1
    close(lab.numbers(PATTERN), (changed @ changed.T).softmax(dim=-1))
    expect(lab.page).to_have_url(re.compile("X="))
    link = lab.link()
    assert link["X"].startswith("1.5,0,0,0.5;1,1.5,0,0;")
    again = BoardPage(new_page(), "attention").open(**link)
    assert again.cells(PATTERN) == lab.cells(PATTERN)


def test_stepping_through_the_history_marks_what_is_new(lab: BoardPage):
    lab.open()
    for step, marked in (("v0", {"q", "hidden", "scores"}), ("v1", {"scores"})):
        with lab.redrawn():
            lab.page.locator(".st-key-lab_side").get_by_text(STEP_NAMES[step], exact=True).click()
        boxes = lab.board.locator(".box.changed + .box-label").all_text_contents()
        assert set(boxes) == marked, step
        expect(lab.page).to_have_url(re.compile(rf"[?]step={step}(&more=1)?$"))
        expect(lab.page.get_by_role("radio", name=step)).to_be_checked()
