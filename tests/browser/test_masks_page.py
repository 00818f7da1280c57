"""The masks page: what a person sees, paints and drags, and the numbers that PyTorch gives for it."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
import torch
from playwright.sync_api import Page, expect

from models.engine import masks
from tests.browser.board import BoardPage
from tests.browser.explore_page import ExplorePage

TALK = torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.3, 0.6, 0.1], [0.1, 0.3, 0.3, 0.3]])


@pytest.fixture
def lab(page: Page) -> BoardPage:
    return BoardPage(page, "masks")


def weights(allowed: torch.Tensor, scores: torch.Tensor = TALK) -> torch.Tensor:
    return scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)


def close(shown: list[list[float]], computed: torch.Tensor, digits: int = 2) -> None:
    """The cells show these numbers, to their digits."""
    torch.testing.assert_close(torch.tensor(shown), computed.float(), rtol=0, atol=0.51 * 10**-digits)


def test_the_first_view_is_the_talks_example(lab: BoardPage) -> None:
    lab.open()
    allowed = torch.ones(4, 4, dtype=torch.bool).tril()
    close(lab.numbers("scores"), TALK)
    assert lab.cells("mask") == [["1" if may else "0" for may in row] for row in allowed.tolist()]
    assert lab.panel("mask").locator("tbody tr").nth(1).inner_text().split() == ["0", "0", "−∞", "−∞"]
    close(lab.numbers("masked scores"), TALK.masked_fill(~allowed, -torch.inf))
    close(lab.numbers("weights"), weights(allowed))
    assert "10 of 16 pairs are left" in lab.notice


def test_a_painted_cell_changes_the_weights_the_choice_and_the_link(
    lab: BoardPage, new_page: Callable[..., Page]
) -> None:
    lab.open()
    with lab.redrawn():
        lab.cell("mask", 0, 3).click()
    allowed = torch.ones(4, 4, dtype=torch.bool).tril()
    allowed[0, 3] = True
    close(lab.numbers("weights"), weights(allowed))
    assert "11 of 16 pairs are left" in lab.notice
    assert lab.link() == {"mask": "1001;1100;1110;1111"}
    expect(lab.page.get_by_role("combobox", name="Mask")).to_have_value("painted")
    again = BoardPage(new_page(), "masks").open(**lab.link())
    assert again.cells("weights") == lab.cells("weights")


def test_painting_works_by_keyboard_down_to_a_row_that_sees_nothing(lab: BoardPage) -> None:
    lab.open()
    with lab.redrawn():
        lab.cell("mask", 0, 0).locator("button").press("Enter")
    assert lab.cells("by the formula")[0] == ["NaN"] * 4
    assert lab.numbers("weights")[0] == [0, 0, 0, 0]
    assert "“<start>” may look at nothing" in lab.notice


def test_an_edited_score_changes_the_weights(lab: BoardPage) -> None:
    lab.open()
    with lab.redrawn():
        lab.edit("scores", 2, 0, "2")
    scores = TALK.clone()
    scores[2, 0] = 2
    close(lab.numbers("weights"), weights(torch.ones(4, 4, dtype=torch.bool).tril(), scores))


def test_an_experiment_sets_mask_argument_and_words(lab: BoardPage) -> None:
    lab.open()
    lab.attempt("three packed documents")
    assert lab.link() == {"mask": "packed", "argument": "2.3.2", "n": "7"}
    allowed = masks.named("packed", "2.3.2", 7)[0, 0]
    assert lab.cells("mask") == [["1" if may else "0" for may in row] for row in allowed.tolist()]
    assert "17 of 49 pairs are left" in lab.notice


def test_a_bad_argument_is_explained_and_the_figure_stays(lab: BoardPage) -> None:
    lab.open(mask="window", argument="2")
    before = lab.cells("weights")
    field = lab.page.get_by_role("textbox", name="Mask argument")
    field.fill("wide")
    field.press("Enter")
    expect(lab.problem).to_contain_text("rgument 'wide' of mask 'window' is not a width in tokens; try '4'")
    assert lab.cells("weights") == before


def test_a_damaged_link_says_so(lab: BoardPage) -> None:
    lab.open(mask="10;1")
    expect(lab.problem).to_contain_text("The link's mask='10;1' is not a mask, one of none, causal")
    assert "10 of 16 pairs are left" in lab.notice


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


def test_layers_carry_words_further_without_asking_the_server(lab: BoardPage) -> None:
    lab.open(part="reach")
    with lab.quiet():
        for layers, heard in ((1, 3), (3, 7), (5, 11)):
            lab.scrub(layers - 1)
            assert f"After {layers} layer" in lab.notice
            assert f"{heard} of 12 words" in lab.notice
            *_, lit = lab.traces("what “who” depends on")
            assert sum(height is not None for height in lit["y"]) == sum(
                min(12, 1 + 2 * floor) for floor in range(layers + 1)
            )
    assert lab.link()["layers"] == "5"


def test_the_stride_is_dragged_through_all_masks(lab: BoardPage) -> None:
    lab.open(part="cost")
    for stride in (1, 7, 49):
        lab.scrub(stride - 1)
        for name, mask in (("strided", masks.strided(49, stride)), ("fixed", masks.fixed(49, stride))):
            assert lab.facts()[f"{name}: pairs kept"].startswith(f"{int(mask.sum()):,} ")


def test_a_hidden_score_leaks_until_nothing_is_left(lab: BoardPage) -> None:
    lab.open(part="late")
    first = lab.cells("mask before softmax")
    assert "“I” is left with 0.557 of its 1" in lab.notice
    lab.scrub(int(lab.slider.get_attribute("max") or 0))
    assert lab.cells("mask before softmax") == first
    assert lab.cells("cut ÷ row sum")[1] == ["NaN"] * 4
    assert lab.numbers("row sum")[1] == [0]


def test_padding_is_hidden_from_every_query(lab: BoardPage) -> None:
    lab.open(part="padding", padding=5)
    hidden, alone = lab.cells("padding hidden"), lab.cells("no padding at all")
    assert [row[:4] for row in hidden] == alone
    assert all(float(cell) == 0 for row in hidden for cell in row[4:])
    assert all(float(cell) > 0 for row in lab.cells("padding seen") for cell in row[4:])


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
