"""The block page in a real browser: boxes lead to their tensors, and what is shown is what runs."""

import re

import pytest
import torch
from playwright.sync_api import Page, expect
from torch import nn

from models import ModelConfig, UntrainedModel, load_model
from pages.lab.block import norms
from tests.browser.board import BoardPage
from tests.browser.explore_page import agrees

TEXT = "the animal did not cross the street because it was too tired"


@pytest.fixture
def block(page: Page) -> BoardPage:
    return BoardPage(page, "block")


def trace(**fields):
    sizes = {"n_layers": 1, "n_heads": 4, "d_model": 32, "vocab_size": 17, "max_len": 19}
    return UntrainedModel(ModelConfig(kind="encoder-only", **sizes, **fields), seed=0).trace(TEXT)


def test_a_box_shows_its_tensor_by_mouse_and_keyboard_and_asks_the_server_nothing(block: BoardPage):
    block.open()
    expected = {"attention": "self.out", "add 1": "resid_self", "add 2": "resid_post"}
    with block.quiet():
        for box, address in expected.items():
            block.board.get_by_role("button", name=f"Show {box}", exact=True).click()
            x = trace()[f"encoder.0.{address}"]
            mean, deviation, length = block.cells("each token's channels at this point")
            for shown, numbers in (
                (mean, x.mean(1)), (deviation, x.std(1, correction=0)), (length, x.norm(dim=1)),
            ):  # fmt: skip
                assert all(agrees(cell, number) for cell, number in zip(shown, numbers.tolist(), strict=True))
            assert agrees(block.facts()["mean length here"], x.norm(dim=1).mean().item())
        box = block.board.get_by_role("button", name="Show feed-forward", exact=True)
        box.focus()
        block.page.keyboard.press("Enter")
        expect(box).to_have_attribute("aria-pressed", "true")
    zeros = (trace()["encoder.0.ff.post"] == 0).float().mean().item()
    assert f"leaves {zeros:.0%} of the hidden layer at 0" in block.notice


def test_the_diagram_follows_the_switches(block: BoardPage):
    block.open()
    boxes = block.board.locator(".diagram [role=button] .box-label")
    assert boxes.all_text_contents()[-1] == "add 2"
    block.attempt("the paper's post-norm")
    assert boxes.all_text_contents()[-2:] == ["add 2", "norm 2"]
    with block.redrawn():
        block.page.get_by_text("Residual connections").click()
    assert "add 1" not in boxes.all_text_contents()


def test_depth_reproduces_the_theorem(block: BoardPage):
    """The last layer's share of the gradient: near 1/√48 with pre-norm, near 1 with post-norm."""
    block.open(part="depth")

    def share() -> float:
        found = re.search(r"gets ([\d.]+) of the gradient", block.notice)
        assert found
        return float(found[1])

    assert 0.08 < share() < 0.3
    block.attempt("the paper's post-norm")
    assert 0.6 < share() < 1.5
    with block.quiet():
        block.scrub(0)
        assert share() == 1


def test_companions_change_batch_norm_alone(block: BoardPage):
    block.open(part="norms", seed=4)
    x = norms.sentences(3, 3, 4)
    before = block.cells("layer norm")[:3]
    with block.quiet():
        block.scrub(10)
    x[1:] += 2.0
    with torch.no_grad():
        expected = nn.BatchNorm1d(6)(x.flatten(0, 1))
    for row, numbers in zip(block.cells("batch norm"), expected.tolist(), strict=True):
        assert all(agrees(cell.replace("≈", ""), n) for cell, n in zip(row, numbers, strict=True))
    assert block.cells("layer norm")[:3] == before


def test_the_lens_ends_with_the_models_own_answer(block: BoardPage):
    block.open(part="lens")
    block.attempt("a hidden word")
    model = load_model("masked")
    with torch.no_grad():
        p = model.model(*model.read("the animal did not cross the [MASK] because it was too tired").inputs)[0]
    best = p.softmax(-1).max(-1)
    words = [model.outputs[word] for word in best.indices.tolist()]
    title = "the likeliest answer after each layer, by its probability"
    assert block.cells(title)[-1] == words
    assert agrees(block.bars("probability of the final answer")[-1], best.values[7].item())
    assert f"“{words[7]}” ({best.values[7]:.2f})" in block.notice


def test_a_text_that_is_too_long_is_refused_in_words(block: BoardPage):
    block.open(part="lens", prompt="x" * 30)
    expect(block.problem).to_contain_text("30 positions; this page draws at most 24; shorten it by 6.")
