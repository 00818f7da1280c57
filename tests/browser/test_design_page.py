"""The page on design and cost in a real browser: numbers on the screen against others' own."""

from dataclasses import replace

import pytest
import torch
from playwright.sync_api import Page, expect
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel

from pages.lab.design import memory
from tests.browser.board import BoardPage


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


def test_a_wider_kernel_shortens_the_way(design: BoardPage):
    design.open(part="paths")
    before = rows(design)["convolution, kernel 3"]
    with design.redrawn():
        design.page.get_by_role("radiogroup", name="Kernel k").get_by_text("5", exact=True).click()
    design.settle()
    after = rows(design)["convolution, kernel 5"]
    assert (before[2], after[2]) == ("4", "2")
    assert (before[4], after[4]) == ("500", "250")


def test_the_terms_of_table_1_follow_the_slider(design: BoardPage):
    design.open(part="layers", d_layer=128)
    for frame, n in ((3, 128), (7, 2_048)):
        with design.quiet():
            design.scrub(frame)
        shown = design.facts()
        assert float(shown["self-attention, n² d"].replace(",", "")) == pytest.approx(
            n * n * 128 / 1e6, abs=0.006
        )
        assert float(shown["recurrent, n d²"].replace(",", "")) == pytest.approx(n * 128**2 / 1e6, abs=0.006)
        assert f"n / d = {n // 128} ×" in design.notice


def test_published_models_have_as_many_parameters_as_transformers_counts(design: BoardPage):
    design.open(part="calculator")
    with torch.device("meta"):
        gpt2, bert = (
            numel(GPT2LMHeadModel(GPT2Config())),
            numel(
                BertModel(
                    BertConfig(
                        hidden_size=1_024,
                        num_hidden_layers=24,
                        num_attention_heads=16,
                        intermediate_size=4_096,
                    )
                )
            ),
        )
    assert rows(design)["total"][0] == gpt2
    design.attempt("BERT large")
    assert rows(design)["total"][0] == bert
    assert rows(design)["published: Devlin et al. 2019, section 3"][0] == "340,000,000"
    assert marked(design) == ["total"]


def test_the_picker_sets_the_sizes_and_a_changed_size_is_counted(design: BoardPage):
    design.open(part="calculator")
    page = design.page
    page.get_by_test_id("stSelectbox").filter(has_text="Published model").get_by_role("combobox").click()
    with design.redrawn():
        page.get_by_role("option", name="GPT-2 medium", exact=True).click()
    design.settle()
    layers = page.get_by_role("spinbutton", name="n_layers")
    expect(layers).to_have_value("24")
    layers.fill("25")
    with design.redrawn():
        layers.press("Enter")
    design.settle()
    with torch.device("meta"):
        deeper = numel(GPT2LMHeadModel(GPT2Config(n_layer=25, n_embd=1_024, n_head=16)))
    assert f"GPT-2 medium, changed: {deeper} parameters." in design.notice


def test_impossible_sizes_are_explained_and_the_last_model_stays(design: BoardPage):
    design.open(part="calculator")
    before = rows(design)
    width = design.page.get_by_role("spinbutton", name="d_model")
    width.fill("770")
    with design.redrawn():
        width.press("Enter")
    expect(design.problem).to_have_text("d_model=770 is not divisible by n_heads=12; try d_model=768 or 780")
    assert rows(design) == before


def test_switches_save_what_the_formulas_say_and_the_meter_agrees(design: BoardPage):
    design.open(part="memory")
    assert design.facts()["one head's matrices, 16 sequences"] == "64 MB"
    plain = memory.Setting(16, 1_000, 8, 6)
    for name, setting in (("Fused attention", replace(plain, fused=True)), ("Half precision", None)):
        with design.redrawn():
            design.page.get_by_text(name, exact=True).click()
        design.settle()
        setting = setting or replace(plain, fused=True, half=True)
        shown = design.facts()["peak, with your switches"]
        assert shown == f"{memory.peak_bytes(setting) / 1e9:.2f} GB"
        assert rows(design)["your switches"][2] == "1.000"
    assert design.link() == {"part": "memory", "half": "True", "fused": "True"}
