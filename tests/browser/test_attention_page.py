"""Attention, step by step: what a person sees and does, and the numbers that PyTorch gives for it."""

import re
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Page, expect

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
    forward = lab.page.get_by_role("button", name="next ›")
    for step, marked in (
        ("v0", {"q", "hidden", "scores"}),
        ("v1", {"scores"}),
        ("v2", {"scores"}),
        ("v3", {"Q", "dots"}),
        ("v4", {"K", "V", "dots", "Z"}),
        ("v5", {"Q"}),
        ("v6", {"Q heads", "K heads", "V heads", "scores", "concat", "out"}),
    ):
        with lab.redrawn():
            forward.click()
        boxes = lab.board.locator(".box.changed + .box-label").all_text_contents()
        assert set(boxes) == marked, step
        expect(lab.page).to_have_url(re.compile(rf"[?]step={step}$"))
        expect(lab.page.get_by_role("radio", name=step)).to_be_checked()
    expect(forward).to_be_disabled()


def test_a_bad_number_is_refused_in_words_and_the_figure_stays(lab: BoardPage):
    lab.open()
    before = lab.cells(PATTERN)
    lab.edit("X", 0, 0, "lots")
    expect(lab.problem).to_contain_text("'lots' is not a number")
    assert lab.cells(PATTERN) == before


def test_dividing_by_another_number_asks_the_server_nothing(lab: BoardPage):
    lab.open(part="worked")
    with lab.quiet():
        lab.scrub(0)
    assert lab.numbers("divided: scores") == [[112, 96]]
    assert lab.cells("softmax: weights") == [["1.00", "≈0"]]
    expect(lab.page).to_have_url(re.compile("[?]part=worked&divisor=1$"))
    lab.attempt("Make them equal")
    assert lab.cells("softmax: weights") == [["0.50", "0.50"]]


def test_a_new_sentence_is_read_backwards(lab: BoardPage):
    lab.open(part="order")
    sentence = lab.page.get_by_label("Sentence", exact=True)
    sentence.fill("cats chase mice")
    with lab.redrawn():
        sentence.press("Enter")
    rows = lab.panel("reordered").first.locator("th[scope=row]")
    assert rows.all_inner_texts() == ["mice", "chase", "cats"]


def test_films_are_recommended_by_their_dot_products(lab: BoardPage):
    lab.open(part="films")
    assert lab.numbers("dot products: Q Kᵀ")[0] == [5, -4, -1, 2]
    assert "Ana should watch Space Chase" in lab.notice
    marked = lab.panel("dot products: Q Kᵀ").locator("td.marked")
    assert marked.all_inner_texts() == ["5.0", "5.0", "4.0", "4.0"]
    lab.attempt("Ana falls for romance")
    assert lab.numbers("dot products: Q Kᵀ")[0] == [1, 4, 3, 10]
    assert "Ana should watch Agents in Love" in lab.notice
