"""The page on positions: scrubs, experiments, refusals and revealed answers in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.board import BoardPage


@pytest.fixture
def positions(page: Page) -> BoardPage:
    return BoardPage(page, "positions")


def test_dragging_the_base_stretches_the_waves_and_asks_nothing(positions):
    positions.open()
    assert "35,333 positions" in positions.notice
    before = positions.facts()["fastest wave"]
    with positions.quiet():
        positions.scrub(0)
        assert "With base 10 " in positions.notice
    assert positions.facts()["fastest wave"] == before == "6.28 positions"
    assert positions.facts()["slowest wave"] == "54 positions"
    assert float(positions.link()["base"]) == 10
    positions.attempt("base 1,000,000")
    assert "With base 1,000,000 " in positions.notice


def test_one_matrix_shifts_whatever_the_position(positions):
    positions.open(part="shift", start=60)
    matrix = positions.numbers("M_k, made from k")
    for shift in (1, 20):
        with positions.quiet():
            positions.scrub(shift)
        assert positions.cells("turned") == positions.cells("PE(p+k)")
    assert positions.numbers("M_k, made from k") != matrix
    assert "all 100 positions" in positions.notice


def test_the_rotary_score_stays_while_the_hands_turn(positions):
    positions.open(part="rotary")
    first = positions.facts()
    with positions.quiet():
        positions.scrub(60)
    assert positions.facts() == first
    assert "Query at 63, key at 60" in positions.notice
    positions.attempt("10 words apart")
    assert positions.facts()["score"] != first["score"]


def test_the_three_biases(positions):
    positions.open(part="biases")
    bias = positions.numbers("bias (the mask hides later words)")
    assert bias[9][:3] == [-4.5, -4, -3.5]
    assert bias[0][1] == float("-inf")
    positions.attempt("T5's trained buckets")
    assert "learned to prefer" in positions.notice
    positions.attempt("Transformer-XL's four terms")
    expect(positions.panel("scores")).to_be_visible()
    assert "tells keys apart" in positions.notice


def test_a_sentence_of_its_own_in_all_schemes(positions):
    positions.open(part="schemes", text="the dog slept")
    with positions.redrawn():
        sentence = positions.page.get_by_role("textbox", name="Sentence")
        sentence.fill("the sreet was wide")
        sentence.press("Enter")
    expect(positions.problem).to_contain_text("'sreet' is none of the 647 words that this model knows")
    expect(positions.panel("Transformer-XL")).to_be_visible()


def test_who_does_not_notice(positions):
    positions.open(part="order")
    assert "without positions did not notice" in positions.notice
    positions.attempt("read it backwards")
    assert "without positions and with ALiBi did not notice" in positions.notice
    positions.attempt("add the causal mask")
    expect(positions.board.locator(".notice")).to_contain_text("every model noticed")
    assert positions.predict(0, "that one and ALiBi").startswith("Right.")


def test_asking_for_more_than_was_trained(positions):
    positions.open(part="length")
    assert "the seven models lie between" in positions.notice
    positions.attempt("ask for 4× the length")
    assert "learned positions have no answer" in positions.notice
    table = positions.numbers("nats per word (NaN: no answer)")
    assert len(table) == 7
    assert table[1][2] > table[4][2] + 1  # sinusoidal, ALiBi
    assert positions.facts()["learned answers"].startswith("128 words, but positions='learned' end at 32")
    assert "Right." in positions.predict(1, "learned")
    assert positions.link() == {"part": "length", "times": "4"}
