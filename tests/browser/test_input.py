"""Sentences of every kind: read, or refused in a sentence while the last good figure stays."""

import pytest
from playwright.sync_api import expect

from tests.browser.explore_page import TEXT, ExplorePage, untrained

ODD_TEXTS = {
    "one token": "alone",
    "emoji": "I 🙂 👩‍👩‍👧 the 🏳️‍🌈 ok",
    "right to left": "החתול ישב על השטיח كلب",
    "markup": "<script>alert(1)</script> <img src=x onerror=alert(2)> <b>bold</b>",
    "markdown": "**bold** [link](http://example.org) $x^2$ `code` :red[x]",
    "quotes": "\"quoted\" 'single' \\ back\\slash \u2028 %s {x}",
    "long word": "a" * 5_000 + " b",
}


@pytest.fixture
def no_dialog(explore: ExplorePage) -> ExplorePage:
    """A dialog, which only a script of the text's could open, fails the test."""
    opened: list[str] = []
    explore.page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    yield explore
    assert opened == []


def test_odd_texts_are_read_as_they_are(no_dialog: ExplorePage) -> None:
    no_dialog.untrained(layer=1, head=2)
    for text in ODD_TEXTS.values():
        assert_reads_text(no_dialog, text)


def assert_reads_text(explore: ExplorePage, text: str) -> None:
    """In every view; the numbers are the engine's, the tokens are whole."""
    with explore.redrawn():
        explore.type(text)
    explore.choose("view", "head")
    trace, last = untrained(text), len(text.split()) - 1
    explore.hover_cell(last, 0)
    explore.assert_reads(trace, "encoder.1.self", 2, last, 0)
    for view in ("lines", "numbers", "output", "grid"):
        explore.choose("view", view)
    explore.choose("view", "lines")
    titles = explore.stage.locator(".tokens.keys button").evaluate_all(
        "(all) => all.map((token) => token.title)"
    )
    assert titles == text.split()
    expect(explore.problem).to_be_hidden()


def test_the_translator_marks_odd_texts_as_unknown(no_dialog: ExplorePage) -> None:
    explore = no_dialog.open()
    with explore.redrawn():
        explore.type("zzz")  # is read by the everyday translator; who goes back stays
    with explore.redrawn():
        explore.problem.get_by_role("button", name="back to “translator”").click()
    for text in ODD_TEXTS.values():
        with explore.redrawn():
            explore.type(text)
        for view in ("head", "numbers", "output", "grid", "lines"):
            explore.choose("view", view)
        expect(explore.stage.locator(".tokens.queries button.unknown").first).to_be_visible()
        assert explore.page.locator("script", has_text="alert(1)").count() == 0
        assert explore.page.locator("a[href*='example.org']").count() == 0


def test_1024_tokens_are_read(explore: ExplorePage) -> None:
    text = " ".join(f"w{at % 700}" for at in range(1_024))
    explore.untrained(view="head", layer=1, head=2)
    with explore.redrawn():
        explore.type(text)
    expect(explore.problem).to_be_hidden()
    expect(explore.stage.locator(".head-view .side")).to_contain_text("of 1024.")
    explore.hover_cell(100, 3)
    explore.assert_reads(untrained(text), "encoder.1.self", 2, 100, 3)
    for view in ("lines", "numbers", "output", "grid"):
        explore.choose("view", view)
        expect(explore.stage.locator(".panel")).to_be_visible()


REFUSED = {
    "": "The text is empty; give at least one word",
    "word " * 1_025: "1,025 words, but this model reads at most 1,024; remove 1",
    "word " * 5_000: "25,000 characters; at most 20,000 are read; remove 5,000",
    "   ": "The text is empty; give at least one word",
}


def test_what_cannot_be_read_is_refused_and_the_last_figure_stays(explore: ExplorePage) -> None:
    explore.untrained(view="head", layer=1, head=2)
    for text, sentence in REFUSED.items():
        explore.type(text)
        expect(explore.problem).to_contain_text(sentence)
        expect(explore.page.get_by_test_id("stException")).to_have_count(0)
        explore.hover_cell(7, 1)
        explore.assert_reads(untrained(TEXT), "encoder.1.self", 2, 7, 1)
    with explore.redrawn():
        explore.type("and then it works again")
    expect(explore.problem).to_be_hidden()
    explore.hover_cell(3, 1)
    explore.assert_reads(untrained("and then it works again"), "encoder.1.self", 2, 3, 1)


def test_the_translator_refuses_more_words_than_it_reads_in_text_and_target(explore: ExplorePage) -> None:
    explore.open()
    explore.type("the cat " * 100)
    expect(explore.problem).to_contain_text(
        "The text has 200 words, but this model reads at most 126; remove 74"
    )
    expect(explore.stage.locator(".notice")).to_contain_text("“it” looks at “animal”")
    explore.open()
    box = explore.control("Target")
    box.fill("le chat " * 100)
    box.press("Enter")
    expect(explore.problem).to_contain_text("200 words, but this model reads at most 126")
    expect(explore.stage.locator(".translation")).to_contain_text("l'animal n'a pas traversé")


def test_a_half_typed_text_outlives_a_look_at_another_page(explore: ExplorePage) -> None:
    page = explore.page
    page.goto("/softmax")
    page.get_by_role("link", name="Explore").click()
    explore.sentence.fill("four five")
    page.go_back()
    expect(explore.sentence).to_have_count(0)
    page.go_forward()
    expect(explore.sentence).to_have_value("four five")
