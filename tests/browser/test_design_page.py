"""The page on design and cost in a real browser: numbers on the screen against others' own."""

import pytest
import torch
from playwright.sync_api import Page, expect

from attention_lab.pages.lab.design.table3 import ROWS, looks
from tests.browser.board import BoardPage
from tests.browser.explore_page import choose


@pytest.fixture
def design(page: Page) -> BoardPage:
    return BoardPage(page, "design")


def rows(design: BoardPage) -> dict[str, list[str]]:
    """The rows of the board's table of words by their names."""
    lines = design.board.locator(".words tbody tr").all()
    return {line.locator("th").inner_text(): line.locator("td").all_inner_texts() for line in lines}


def marked(design: BoardPage) -> list[str]:
    return design.board.locator(".words tr.marked th").all_inner_texts()


def numel(model: torch.nn.Module) -> str:
    return f"{sum(parameter.numel() for parameter in model.parameters()):,}"


def test_who_has_heard_is_marked_step_by_step(design: BoardPage):
    design.open(part="paths", words=8, kernel=3, window=4)
    arrives = {name: int(cells[2]) for name, cells in rows(design).items()}
    assert list(arrives.values()) == [8, 1, 4, 2, 3]
    for step in (0, 1, 3, 8):
        with design.quiet():
            design.scrub(step)
        assert marked(design) == [name for name, steps in arrives.items() if steps <= step]


def test_the_picker_sets_the_sizes_and_a_changed_size_is_counted(design: BoardPage):
    design.open(part="calculator")
    page = design.page
    choose(page, "Published model", "GPT-2 medium")
    layers = page.get_by_role("spinbutton", name="n_layers")
    expect(layers).to_have_value("24")
    layers.fill("25")
    with design.redrawn():
        layers.press("Enter")
    design.settle()
    from transformers import GPT2Config, GPT2LMHeadModel  # three seconds, which no other worker needs

    with torch.device("meta"):
        deeper = numel(GPT2LMHeadModel(GPT2Config(n_layer=25, n_embd=1_024, n_head=16)))
    assert f"GPT-2 medium, changed: {deeper} parameters." in design.notice


def test_a_pressed_row_of_table_3_shows_what_its_heads_make_of_it(design: BoardPage):
    design.open(part="table3")
    assert marked(design) == ["base"]
    with design.quiet():
        design.board.get_by_role("button", name="(C) layers 2 → 1").click()
    assert marked(design) == ["(C) layers 2 → 1"]
    assert "(C) layers 2 → 1" in design.notice
    (row,) = (row for row in ROWS if row.name == "(C) layers 2 → 1")
    shown = design.cells("from “it”: each encoder layer's best head")
    assert shown[0][1] == f"{looks(row, 'tired')[0, 1]:.2f}"
    assert rows(design)[row.name][-2:] == ["6.11", "23.7"]
