"""The block page in a real browser: boxes lead to their tensors, and what is shown is what runs."""

import re

import pytest
from playwright.sync_api import Page, expect

from attention_lab.models import ModelConfig, UntrainedModel
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
            block.board.get_by_role("button", name=re.compile(f"^{box}:")).click()
            x = trace()[f"encoder.0.{address}"]
            mean, deviation, length = block.cells("each token's channels at this point")
            for shown, numbers in (
                (mean, x.mean(1)), (deviation, x.std(1, correction=0)), (length, x.norm(dim=1)),
            ):  # fmt: skip
                assert all(agrees(cell, number) for cell, number in zip(shown, numbers.tolist(), strict=True))
            assert agrees(block.facts()["mean length here"], x.norm(dim=1).mean().item())
        box = block.board.get_by_role("button", name=re.compile("^feed-forward:"))
        box.focus()
        block.page.keyboard.press("Enter")
        expect(box).to_have_attribute("aria-pressed", "true")
    zeros = (trace()["encoder.0.ff.post"] == 0).float().mean().item()
    assert f"zeroes {zeros:.0%}." in block.notice
