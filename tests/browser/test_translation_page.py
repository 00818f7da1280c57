"""The page on encoder and decoder in a real browser: what it shows is what the engine computes."""

import re

import pytest
import torch
from playwright.sync_api import Page, expect

from attention_lab.models import load_model
from attention_lab.pages.lab.translation.inputs import INCOMPLETE, SENTENCE
from attention_lab.viz_core.labels import short
from tests.browser.board import BoardPage
from tests.browser.explore_page import agrees

FIRST, PER_STEP = 6, 10  # frames of the encoder, frames of a decoder's step
WORDS = "the 8 likeliest of 1,564 words: logits, and their softmax"
FLOW = "the source, and the translation so far (press a word)"
TOO_WIDE = """labels => labels
  .filter((label) => label.getBBox().width > label.parentNode.querySelector("rect").getBBox().width)
  .map((label) => label.textContent)"""


@pytest.fixture
def translation(page: Page) -> BoardPage:
    return BoardPage(page, "translation")


def boxes(lab: BoardPage, title: str) -> list[tuple[str, int]]:
    """The boxes of a diagram that can be seen: their words, and how far they stand out."""
    found = lab.panel(title).locator("g[data-level]")
    read = "(boxes) => boxes.map((box) => [box.querySelector('text').textContent, +box.dataset.level])"
    return [(label, level) for label, level in found.evaluate_all(read) if level]


def test_a_pressed_word_shows_the_models_numbers_for_it(translation: BoardPage):
    translation.open(moment=115)
    lm = load_model("translator")
    trace = lm.trace(SENTENCE)
    with translation.quiet():
        translation.panel(FLOW).get_by_role("button", name="pas", exact=True).press("Enter")
        expect(translation.board).to_have_attribute("data-frame", str(FIRST + PER_STEP * 4 + 9))
        translation.board.get_by_role("button", name="Step back").click()
        assert "Softmax gives “pas” " in translation.notice
        p = trace["logits"][4].softmax(dim=-1).max()
        assert f"{p:.3f}" in translation.notice
        words = boxes(translation, FLOW)[len(trace.tokens["encoder"]) :]
    assert [word for word, _ in words] == trace.tokens["decoder"][:5]
    translation.scrub(FIRST + PER_STEP * 7 + 8)
    rows = translation.cells("cross-attention of this step, each head over the source")
    expected = torch.cat([trace[f"decoder.{layer}.cross.pattern"][:, 7] for layer in range(2)])
    for shown, weights in zip(rows, expected.tolist(), strict=True):
        for cell, weight in zip(shown, weights, strict=True):
            assert weight < 0.005 if cell == "≈0" else agrees(cell, weight)
    likeliest = trace["logits"][7].topk(8)
    bars, below = translation.bars(WORDS)[:8], translation.traces(WORDS)[2]["text"]
    words = [text.partition("<br>")[0] for text in below]
    assert words == [lm.task.words.vocabulary[id_] for id_ in likeliest.indices.tolist()]
    chances = trace["logits"][7].softmax(dim=-1)[likeliest.indices].tolist()
    for bar, chance in zip(bars, chances, strict=True):
        assert chance < 0.005 if bar == "≈0" else agrees(bar, chance)
    translation.scrub(FIRST + PER_STEP * 7)  # the step has only begun
    assert not any(translation.traces(WORDS)[2]["text"])


def test_an_unknown_word_is_refused_and_the_figure_stays(translation: BoardPage):
    translation.open()
    before = translation.shown()
    with translation.redrawn():
        field = translation.page.get_by_role("textbox", name="Sentence")
        field.fill("thanks a lot")
        field.press("Enter")
    expect(translation.problem).to_contain_text("The translator's 1,564 words do not include “thanks”")
    assert translation.shown() == before


def test_masked_attention_is_blank_ahead(translation: BoardPage):
    translation.open(part="three", head=5)
    for title, n_keys in (
        ("encoder self-attention", 14),
        ("decoder self-attention, masked", 15),
        ("cross-attention", 14),
    ):
        expect(translation.panel(title).locator(".xtick text")).to_have_count(n_keys)
    translation.hover_cell("decoder self-attention, masked", 0, 12)
    status = translation.board.locator(".status")
    expect(status).to_contain_text("query <bos>")
    assert status.inner_text().endswith("= −∞")
    trace = load_model("translator").trace(SENTENCE)
    encoder, cross = trace["encoder.1.self.pattern"][1], trace["decoder.1.cross.pattern"][1]
    assert translation.notice.startswith("Layer 1 head 1:")
    assert f"{encoder.triu(1).sum(dim=1).mean():.2f} of the weight" in translation.notice
    translation.hover_cell("cross-attention", 2, 3)
    label = translation.panel("cross-attention").locator(".hoverlayer .hovertext")
    expect(label).to_have_text(re.compile(re.escape(short(cross[2, 3])) + "$"))


def test_temperature_and_top_k(translation: BoardPage):
    translation.open(part="sampling")
    logits = load_model("translator").trace(INCOMPLETE, direction="fr-en")["logits"][7]
    translation.attempt("hot, but top-k 3")
    p = (logits / 3).softmax(dim=-1).topk(8).values
    shown = translation.bars("what is drawn from, after the cut")
    for number, expected in zip(shown, [*(p[:3] / p[:3].sum()).tolist(), *[0.0] * 5], strict=True):
        assert agrees(number, expected)
    assert translation.facts()["words kept"] == "3"
    with translation.quiet():
        translation.scrub(0)
        cold = (logits / 0.1).softmax(dim=-1).max().item()
        assert agrees(translation.bars("softmax(logits / T): the 8 likeliest words")[0], cold)


def test_a_word_is_put_in_the_place_of_another(translation: BoardPage):
    translation.open(part="forcing")
    boxes_of_words = translation.panel("teacher forcing: words fed, below the next word predicted")
    assert boxes_of_words.locator("text").evaluate_all(TOO_WIDE) == []  # the lit one is bold
    with translation.redrawn():
        field = translation.page.get_by_role("textbox", name="Word put there")
        field.fill("a")
        field.press("Enter")
    translation.settle()
    with translation.quiet():
        translation.scrub(2)
    assert "“a” is fed in place of “n'”" in translation.notice
    assert translation.facts()["passes, alone"] == "13"
    assert translation.link() == {"part": "forcing", "put": "a", "at": "3"}
