"""View 5, output: the probabilities are the softmax of the trace's logits."""

import numpy as np
from playwright.sync_api import expect

from attention_lab.models import load_model
from attention_lab.pages.explore.state import Inputs
from tests.browser.explore_page import TEXT, ExplorePage, agrees, untrained

WORDS = TEXT.split()
NAMES = ["<pad>", *dict.fromkeys(WORDS)]


def probabilities() -> np.ndarray:
    """[step, name] over the words that the text has."""
    logits = untrained(seed=5)["logits"].double().numpy()[:, : len(NAMES)]
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def shown(explore: ExplorePage) -> list[tuple[str, str]]:
    rows = explore.stage.locator(".next tbody tr").all()
    return [(row.locator("th").inner_text(), row.locator(".weight").inner_text()) for row in rows]


def assert_step(explore: ExplorePage, step: int) -> None:
    expected = probabilities()[step]
    best = np.argsort(-expected)[:10]
    assert [name for name, _ in shown(explore)] == [NAMES[at] for at in best]
    assert all(
        agrees(number, round(expected[at], 6)) for (_, number), at in zip(shown(explore), best, strict=True)
    )
    assert explore.stage.locator(".next h3").inner_text() == f"Read at “{WORDS[step]}”"


def test_every_steps_probabilities_are_the_softmax_of_its_logits(explore: ExplorePage) -> None:
    explore.untrained(view="output", seed=5)
    assert_step(explore, len(WORDS) - 1)
    for step in (0, 7):
        button = explore.stage.locator(f'.steps button[data-step="{step}"]')
        button.click()
        expect(button).to_be_focused()
        assert_step(explore, step)
    assert explore.stage.locator(".steps button").all_inner_texts() == WORDS
    slider = explore.stage.get_by_role("slider", name="Decoding step")
    slider.focus()
    for pressed, step in [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 9)]:
        slider.press(pressed)
        assert_step(explore, step)
        assert explore.stage.locator(".step output").inner_text() == f"{step + 1} of 10"
    widths = explore.stage.locator(".next .bar span").evaluate_all(
        "(all) => all.map((bar) => bar.offsetWidth)"
    )
    full = explore.stage.locator(".next td.bar").first.evaluate(
        "(cell) => parseFloat(getComputedStyle(cell).width)"
    )
    expected = np.sort(probabilities()[-1])[::-1][:10]
    np.testing.assert_allclose(widths, np.maximum(1, expected * full), atol=1.5)


def test_it_opens_where_the_answer_is_least_sure_but_at_a_step_that_was_chosen(explore: ExplorePage) -> None:
    lm = load_model("translator")
    chances = lm.trace(lm.read(Inputs().text))["logits"].double().softmax(-1).amax(-1)
    pressed = explore.stage.locator('.steps button[aria-pressed="true"]')
    explore.open(view="lines")
    explore.choose("view", "output")
    expect(pressed).to_have_attribute("data-step", str(int(chances.argmin())))
    last = explore.stage.locator(".steps button").last
    last.click()
    explore.open_link(explore.page.url)
    expect(last).to_have_attribute("aria-pressed", "true")
    explore.open(view="lines", stack="decoder.cross", step=4)
    explore.choose("view", "output")
    expect(pressed).to_have_attribute("data-step", "4")
