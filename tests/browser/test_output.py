"""View 5, output: the probabilities are the softmax of the trace's logits."""

import numpy as np
from playwright.sync_api import expect

from tests.browser.lab import TEXT, Lab, agrees, untrained

WORDS = TEXT.split()
NAMES = ["<pad>", *dict.fromkeys(WORDS)]


def probabilities() -> np.ndarray:
    """[step, name] over the words that the text has."""
    logits = untrained(seed=5)["logits"].double().numpy()[:, : len(NAMES)]
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def shown(lab: Lab) -> list[tuple[str, str]]:
    rows = lab.stage.locator(".next tbody tr").all()
    return [(row.locator("th").inner_text(), row.locator(".weight").inner_text()) for row in rows]


def assert_step(lab: Lab, step: int) -> None:
    expected = probabilities()[step]
    best = np.argsort(-expected)[:10]
    assert [name for name, _ in shown(lab)] == [NAMES[at] for at in best]
    assert all(
        agrees(number, round(expected[at], 6)) for (_, number), at in zip(shown(lab), best, strict=True)
    )
    assert lab.stage.locator(".next h3").inner_text() == f"Read at “{WORDS[step]}”"


def test_every_steps_probabilities_are_the_softmax_of_its_logits(lab: Lab) -> None:
    lab.untrained(view="output", seed=5)
    assert_step(lab, len(WORDS) - 1)
    for step in (0, 7):
        button = lab.stage.locator(f'.steps button[data-step="{step}"]')
        button.click()
        expect(button).to_be_focused()
        assert_step(lab, step)
    assert lab.stage.locator(".steps button").all_inner_texts() == WORDS


def test_the_step_slider_walks_by_arrow_keys(lab: Lab) -> None:
    lab.untrained(view="output", seed=5)
    slider = lab.stage.get_by_role("slider", name="Decoding step")
    slider.focus()
    for pressed, step in [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 9)]:
        slider.press(pressed)
        assert_step(lab, step)
        assert lab.stage.locator(".step output").inner_text() == f"{step + 1} of 10"


def test_bars_are_as_long_as_their_probabilities(lab: Lab) -> None:
    lab.untrained(view="output", seed=5)
    widths = lab.stage.locator(".next .bar span").evaluate_all("(all) => all.map((bar) => bar.offsetWidth)")
    full = lab.stage.locator(".next td.bar").first.evaluate(
        "(cell) => parseFloat(getComputedStyle(cell).width)"
    )
    expected = np.sort(probabilities()[-1])[::-1][:10]
    np.testing.assert_allclose(widths, np.maximum(1, expected * full), atol=1.5)
