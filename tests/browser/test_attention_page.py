"""Attention, step by step: what a person sees and does, and the numbers that PyTorch gives for it."""

import math
import re
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Page, expect
from torch.nn import functional as F

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


def test_multi_head_shows_the_numbers_of_pytorchs_attention_for_each_head(lab: BoardPage):
    lab.open(step="v5")
    W_Q, W_K, W_V = (torch.tensor(lab.numbers(name)) for name in ("W_Q · new", "W_K", "W_V"))
    lab.attempt("Two heads, two reasons")
    W_O = torch.tensor(lab.numbers("W_O · new"))
    q, k, v = ((X @ W).view(4, 2, 2).transpose(0, 1) for W in (W_Q, W_K, W_V))  # [head, token, d_head]
    z = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    for head in (0, 1):
        close(lab.numbers(f"Z, head {head}"), z[head])
    close(lab.numbers("out: concat W_O · new"), z.transpose(0, 1).flatten(1) @ W_O)
    assert "head 0 at “animal” (0.84), head 1 at “tired” (0.83)" in lab.notice


def test_heads_and_random_matrices_change_the_numbers_and_reset_brings_them_back(lab: BoardPage):
    lab.open(step="v6", matrices="random", seed=3, n_heads=2)
    assert lab.cells("Z, head 1")
    usual = lab.cells("X")
    with lab.redrawn():
        lab.page.get_by_role("button", name="Reset", exact=True).click()
    assert lab.cells("X") == usual
    expect(lab.page).to_have_url(re.compile("/attention$"))


def test_a_bad_number_is_refused_in_words_and_the_figure_stays(lab: BoardPage):
    lab.open()
    before = lab.cells(PATTERN)
    lab.edit("X", 0, 0, "lots")
    expect(lab.problem).to_contain_text("'lots' is not a number")
    assert lab.cells(PATTERN) == before


def test_a_link_with_a_bad_step_says_so_and_shows_the_first(lab: BoardPage):
    lab.open(step="v9")
    expect(lab.problem).to_contain_text("The link's step='v9' is not one of free, v0")
    assert lab.cells("scores: X Xᵀ")


def test_the_worked_example_gives_the_numbers_of_the_talks(lab: BoardPage):
    lab.open(part="worked")
    assert lab.numbers("dot products") == [[112, 96]]
    assert lab.numbers("divided: scores") == [[14, 12]]
    assert lab.cells("softmax: weights") == [["0.88", "0.12"]]
    weight = math.exp(14) / (math.exp(14) + math.exp(12))
    close(
        lab.numbers("z1"),
        weight * torch.tensor([[4.0, 0, 2, -2]]) + (1 - weight) * torch.tensor([[-4.0, 4, 0, 2]]),
    )
    assert "are 14 and 12; softmax turns them into the weights 0.88 and 0.12" in lab.notice


def test_dividing_by_another_number_asks_the_server_nothing(lab: BoardPage):
    lab.open(part="worked")
    with lab.quiet():
        lab.scrub(0)
    assert lab.numbers("divided: scores") == [[112, 96]]
    assert lab.cells("softmax: weights") == [["1.00", "≈0"]]
    expect(lab.page).to_have_url(re.compile("[?]part=worked&divisor=1$"))
    lab.attempt("Make them equal")
    assert lab.cells("softmax: weights") == [["0.50", "0.50"]]


def test_other_dot_products_and_values_are_worked_through(lab: BoardPage):
    lab.open(part="worked")
    with lab.redrawn():
        lab.edit("dot products", 0, 1, "104")
    weight = 1 / (1 + math.exp(-1))
    close(lab.numbers("softmax: weights"), torch.tensor([[weight, 1 - weight]]))
    with lab.redrawn():
        lab.edit("values", 0, 0, "10")
    assert lab.numbers("z1")[0][0] == pytest.approx(10 * weight - 4 * (1 - weight), abs=0.006)


def test_reordering_moves_outputs_without_positions_and_changes_them_with(lab: BoardPage):
    lab.open(part="order")
    plain, moved = (lab.numbers(f"{name}, no positions") for name in ("outputs", "reordered"))
    assert moved == [plain[at] for at in (0, 4, 2, 3, 1)]
    assert {row[0] for row in lab.cells("difference, no positions")} <= {"≈0", "0.00"}
    assert re.search(r"they differ by (0|\d\.\d × 10⁻[⁷⁸⁹]), no more than rounding", lab.notice)
    assert max(row[0] for row in lab.numbers("difference, with positions")) > 0.5
    lab.attempt("Keep the order")
    assert lab.notice.startswith("The order is the same")


def test_an_order_of_other_words_is_refused_in_words(lab: BoardPage):
    lab.open(part="order", reordered="the cat bites the man")
    expect(lab.problem).to_contain_text("the new order has one 'cat' too many")


def test_a_new_sentence_is_read_backwards(lab: BoardPage):
    lab.open(part="order")
    sentence = lab.page.get_by_label("Sentence", exact=True)
    sentence.fill("cats chase mice")
    with lab.redrawn():
        sentence.press("Enter")
    rows = lab.panel("reordered, no positions").locator("th[scope=row]")
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


@pytest.mark.parametrize(
    ("part", "answers"),
    [
        ("steps", ("64", "the same to all", "look at it more")),
        ("worked", ("grows", "stays the same", "less than a millionth")),
        ("order", ("it stays the same", "it changes", "not at all")),
        ("films", ("same films, weights less even", "at all films alike", "something positive")),
    ],
)
def test_predictions_are_answered_with_computed_numbers(lab: BoardPage, part: str, answers: tuple[str, ...]):
    lab.open(part=part)
    for at, answer in enumerate(answers):
        assert lab.predict(at, answer).startswith("Right.")
