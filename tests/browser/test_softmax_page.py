"""Softmax and scale in Chromium: dragging asks the server nothing and shows torch's numbers."""

import pytest
import torch
from playwright.sync_api import Page, expect

from attention_lab.models import load_model
from attention_lab.pages.lab.softmax import dots, formats, spread
from tests.browser.board import BoardPage


@pytest.fixture
def lab(page: Page) -> BoardPage:
    return BoardPage(page, "softmax")


def test_dragging_the_spread_shows_torchs_numbers_and_asks_nothing(lab: BoardPage):
    lab.open()
    computed = spread.spread(16, seed=0).original
    with lab.quiet():
        for frame in (0, 40, 50, 60):
            lab.scrub(frame)
            shown = lab.facts()  # the red ones and the blue ones have the same labels: these are the blue
            red = lab.panel("as they are").locator("dd").all_inner_texts()
            assert float(red[0]) == pytest.approx(computed.largest[frame].item(), abs=5e-4)
            assert float(red[1].split()[0]) == pytest.approx(computed.entropy[frame].item(), abs=5e-4)
            assert shown["gradient that gets through"] == "0.316"
            assert f"{computed.largest[frame].item():.2f}" in lab.notice
    assert float(lab.link()["deviation"]) == pytest.approx(10)


def test_the_scale_keeps_attention_from_saturating(lab: BoardPage):
    lab.open(part="dots")
    lab.attempt("d_k = 1,024")
    vectors = dots.draw(seed=0)
    plain, scaled = (dots.attend(vectors, 64, power=power, d_ks=[1_024]) for power in (0.0, 0.5))
    assert f"{plain.largest.mean().item():.0%}" in lab.notice
    assert f"{scaled.largest.mean().item():.0%}" in lab.notice
    facts = lab.facts()
    sampled = dots.sample(vectors, [1_024])
    assert float(facts["their variance"].replace(",", "")) == pytest.approx(sampled.variance.item(), abs=0.1)
    with lab.quiet():
        lab.scrub(0)
    assert "With 1 channel, " in lab.notice
    assert lab.link() == {"part": "dots", "d_k": "1"}


def test_the_head_and_the_sentence_can_be_changed(lab: BoardPage):
    lab.open(part="head")
    sentence = lab.page.get_by_label("Sentence", exact=True)
    with lab.redrawn():
        sentence.fill("the animal did not cross the street because it was too tired")
        sentence.press("Enter")
    lab.settle()
    assert "qu'il était trop fatigué" in lab.notice
    trace = load_model("translator").trace("the animal did not cross the street because it was too tired")
    largest = trace["encoder.1.self.pattern"][3, trace.tokens["encoder"].index("it")].max().item()
    assert f"“animal” gets most, {largest:.2f}." in lab.notice


def test_number_formats_show_nan_where_torch_does(lab: BoardPage):
    lab.open(part="formats")
    lab.attempt("logits at 12")
    cells = lab.cells("weights")
    at = formats.HEIGHTS.tolist().index(12)
    rows = ["exact"] + [f"{name} {way}" for way in ("written", "subtracted") for name in formats.FORMATS]
    shown = dict(zip(rows, cells, strict=True))
    assert set(shown["float16 written"]) <= {"NaN", "0.0000", "0"}
    assert "NaN" in shown["float16 written"]
    for name, dtype in formats.FORMATS.items():
        computed = formats.compute(formats.logits(), dtype, subtract_max=True).weights[at]
        seen = torch.tensor([float(cell) for cell in shown[f"{name} subtracted"]], dtype=torch.float64)
        torch.testing.assert_close(seen, computed, rtol=0, atol=5.1e-5)
    with lab.quiet():
        lab.scrub(120)
    assert "works in every format" in lab.notice


def test_a_damaged_link_is_told_and_its_default_shown(lab: BoardPage):
    lab.open(deviation="1e9", n_logits=5, part="none")
    for told in ("deviation='1e9' is not a number from 0.01 to 100", "n_logits='5' is not one of 4, 8,"):
        expect(lab.problem).to_contain_text(told)
    assert lab.slider.get_attribute("aria-valuetext") == "1"
